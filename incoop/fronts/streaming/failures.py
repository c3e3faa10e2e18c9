"""A command that failed, in the words of a Streaming job: its partition or its piece of the input, and what it said."""

from __future__ import annotations

from incoop.base.errors import IncoopError
from incoop.engine.failures import AtKey, AtRecord, CombinerNotSound, JobFailed
from incoop.fronts.common.combiners import CombinerGivesOtherKeys


class StreamingFailed(IncoopError):
    """A command of the job failed."""

    def __init__(self, where: str, error: str) -> None:
        super().__init__(where, error)
        self.where, self.error = where, error

    def __str__(self) -> str:
        return (
            f"the job failed at {self.where}: {self.error}\n"
            "Nothing of the failed task is kept; finished tasks are, so a repaired job goes on from here."
        )


def told(failed: JobFailed, where: str) -> IncoopError:
    """The engine's error without a traceback of incoop's own: the command's words are what helps."""
    if isinstance(failed.cause, CombinerGivesOtherKeys | CombinerNotSound):
        return failed.cause
    return StreamingFailed(where, failed.error if failed.cause is None else str(failed.cause))


def place_in_job(failed: JobFailed, reducers: int) -> str:
    """Where in the user's job a task of the engine's failed: lines of the input, or a partition."""
    place = failed.place
    if isinstance(place, AtKey) and isinstance(place.plain, int):
        return f"partition {place.plain % max(1, reducers)}"
    return place.place if isinstance(place, AtRecord) else failed.where


def shown_partition(failed: JobFailed) -> str:
    """Where a partition that was a chunk failed: such a record shows itself by its number."""
    return failed.place.record if isinstance(failed.place, AtRecord) else failed.where
