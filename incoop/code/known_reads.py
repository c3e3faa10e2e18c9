"""What a job's functions are known to read, step by step of its stage, and whether that is all they read.

Contract: a result may be stored under an id only if all that its tasks read is in the id: known before, and the same on
the driver as where it was read. Which names are known is a hint from earlier runs and never trusted: a name that is
missing is found again when it is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from incoop.base.errors import IncoopError
from incoop.code.reads import VARIABLE, Context, Observed, Read


class ReadDiffers(IncoopError):
    """A file that functions read is not the same on the driver and in a worker, or changes while it is read."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return (
            f"the job's functions read the {self.name}, which changed while they ran, or is not the same in a worker "
            "as here. Nothing that depends on it was stored. Run again when it is at rest; on a cluster it has to be "
            "the same on every machine."
        )


class KnownReads:
    """The names that are known to be read, and digests of what they led to when last looked at."""

    def __init__(self) -> None:
        self._names: defaultdict[str, set[Read]] = defaultdict(set)
        self._contexts: dict[str, Context] = {}
        #: Names that did not come out the same once; twice is an error.
        self._unsteady: set[Read] = set()

    def recall(self, fact: Iterable[Sequence[str]]) -> None:
        """Take in what an earlier run knew."""
        for step, kind, name in fact:
            self._names[step].add(Read(kind, name))

    def as_fact(self) -> list[list[str]]:
        """For the next run."""
        return [[step, read.kind, read.name] for step, reads in sorted(self._names.items()) for read in sorted(reads)]

    def names(self) -> set[Read]:
        """All that is known to be read."""
        return set[Read]().union(*self._names.values())

    def look(self) -> None:
        """Look at what all names lead to now."""
        self._contexts = {step: Context.of(reads) for step, reads in self._names.items()}

    def digest(self, step: str) -> bytes:
        """Equal when all that the step is known to read is; empty where nothing is."""
        return self._contexts.get(step, Context()).digest()

    def parts(self) -> dict[str, bytes]:
        """What is read as parts of the code, to say later what changed."""
        return {str(read): digest for context in self._contexts.values() for read, digest in context.reads.items()}

    def covers(self, step: str, observed: Observed) -> bool:
        return self._contexts.get(step, Context()).covers(observed)

    def learn(self, step: str, observed: Iterable[Observed]) -> set[str]:
        """Take in what was read and is not covered; gives the variables that workers have otherwise than the driver."""
        amended: set[str] = set()
        unsteady = set(self._unsteady)
        for each in observed:
            for read, digest in each.reads.items():
                here = Context.of([read]).reads[read]
                if digest and digest == here:
                    self._names[step].add(read)
                elif read.kind == VARIABLE:
                    self._names[step].add(read)
                    amended.add(f"variable {read.name}")
                elif read in unsteady:
                    raise ReadDiffers(str(read))
                else:
                    self._unsteady.add(read)
        return amended
