"""Errors of a run: the user's own, with the record that caused them, and those of the job's set-up."""

from __future__ import annotations

from dataclasses import dataclass

from incoop.base.errors import IncoopError
from incoop.engine.blocks import Block


@dataclass(frozen=True, slots=True)
class AtRecord:
    """A mapper raised at this record."""

    #: File and line, or the chunk and the number of the record in it.
    place: str
    #: The record as it shows itself.
    record: str

    def __str__(self) -> str:
        return f"{self.place}, {self.record}"


@dataclass(frozen=True, slots=True)
class AtKey:
    """A combiner or a reducer raised at this key."""

    #: The key as it shows itself; of a combiner's call on a chunk, with some of its values.
    shown: str
    #: The key itself where it is a whole number or a text, which every process can load.
    plain: int | str | bytes | None = None
    #: Whether it was while a chunk was mapped.
    in_chunk: bool = False

    def __str__(self) -> str:
        return f"a key of a chunk, {self.shown}" if self.in_chunk else f"key {self.shown}"


class JobFailed(IncoopError):
    """A user's function raised. Finished tasks are kept: a repaired rerun goes on where this one stopped.

    `where`, `error` and `trace` are for people. Programs look at `place`, and at `cause`: the error itself, where it is
    one of incoop's own; those of users need not survive the way from a worker.
    """

    def __init__(
        self,
        job: str,
        where: str,
        error: str,
        trace: str,
        place: AtRecord | AtKey | None = None,
        cause: IncoopError | None = None,
    ) -> None:
        super().__init__(job, where, error, trace, place, cause)
        self.job, self.where, self.error, self.trace = job, where, error, trace
        self.place, self.cause = place, cause

    def __str__(self) -> str:
        return (
            f"job {self.job!r} failed at {self.where}: {self.error}\n{self.trace.rstrip()}\n"
            "Nothing of the failed task is kept; finished tasks are, so a repaired job goes on from here."
        )


class CombinerNotSound(IncoopError):
    """Reducing combined values gives another result than reducing the values themselves."""

    def __init__(self, key: str, plain: str, combined: str) -> None:
        super().__init__(key, plain, combined)
        self.key, self.plain, self.combined = key, plain, combined

    def __str__(self) -> str:
        return (
            f"the combiner changes the result: for key {self.key} the reducer gives {self.plain} "
            f"on the values themselves and {self.combined} on combined ones. Mend the combiner (its output must be "
            "valid input for itself and for the reducer), or leave it out."
        )


class TooLittleReuse(IncoopError):
    """`strict` was asked for, and less can be reused than it demands."""

    def __init__(self, job: str, reusable: float, demanded: float, why: str) -> None:
        super().__init__(job, reusable, demanded, why)
        self.job, self.reusable, self.demanded, self.why = job, reusable, demanded, why

    def __str__(self) -> str:
        return (
            f"job {self.job!r} could reuse {self.reusable:.1%} of its input; demanded is {self.demanded:.1%} "
            f"({self.why}). Nothing was run; see what would run with explain, or leave strict out."
        )


class ResultLost(IncoopError):
    """A result's stored blocks are gone, and its input is not there any more to compute it again."""

    def __init__(self, job: str, lost: str) -> None:
        super().__init__(job, lost)
        self.job, self.lost = job, lost

    def __str__(self) -> str:
        return (
            f"a part of the result of job {self.job!r} was lost from the store ({self.lost}), and its input has "
            "changed since, so that it cannot be computed again. Run the job again on the input as it is."
        )


class ChangesLost(IncoopError):
    """What the run before gave is not known, so that nothing can be compared with it."""

    def __init__(self, job: str, lost: str) -> None:
        super().__init__(job, lost)
        self.job, self.lost = job, lost

    def __str__(self) -> str:
        return (
            f"what the run of job {self.job!r} before this one gave is not known ({self.lost}), so the changes since "
            "then cannot be told. The result itself is right: take all of it as changed; the next run tells its "
            "changes again."
        )


class NotDeterministic(IncoopError):
    """A task that was run again gave another result than the one that is kept."""

    def __init__(self, job: str, task: str) -> None:
        super().__init__(job, task)
        self.job, self.task = job, task

    def __str__(self) -> str:
        return (
            f"job {self.job!r} gave two results for {self.task}. Its functions probably read a clock, a random number, "
            "a file or a global that changes. Make them depend on their input alone, name files with depends_on, "
            "or run the job with memoize=False."
        )


class NotFollowed(IncoopError):
    """`strict` was asked for, and the functions do something that incoop cannot follow."""

    def __init__(self, job: str, sentences: tuple[str, ...]) -> None:
        super().__init__(job, sentences)
        self.job, self.sentences = job, sentences

    def __str__(self) -> str:
        return (
            f"job {self.job!r} does what cannot be followed, so that a rerun may not give what a run from scratch "
            f"gives: {'; '.join(self.sentences)}. Nothing was stored. Read such things before the job and capture "
            "them, or leave strict out."
        )


def failed_at(block: Block, record_number: int, record: str) -> AtRecord | AtKey:
    """Where a map task failed; a negative number stands for a key that it combined."""
    if record_number < 0:
        return AtKey(record, in_chunk=True)
    return AtRecord(block.place_of(record_number), record)
