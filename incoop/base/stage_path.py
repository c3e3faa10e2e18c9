"""What the runs of a stage go by: the user's job, and which of the stages behind it.

Contract: paths that differ have keys that differ, whatever users call their jobs.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Between job and stage of a key; no job's name holds it (job.py).
SEPARATOR = "\0"


@dataclass(frozen=True, slots=True)
class StagePath:
    """A job, and one of its stages where a way in has made several of it.

    Example:
        >>> path = StagePath("word count", "combine")
        >>> str(path), StagePath.of_key(path.key) == path
        ('word count (combine)', True)
        >>> StagePath("word count").key
        'word count'
    """

    job: str
    stage: str = ""

    @property
    def key(self) -> str:
        """By which the memo finds its generations."""
        return f"{self.job}{SEPARATOR}{self.stage}" if self.stage else self.job

    @classmethod
    def of_key(cls, key: str) -> StagePath:
        job, _, stage = key.partition(SEPARATOR)
        return cls(job, stage)

    def __str__(self) -> str:
        return f"{self.job} ({self.stage})" if self.stage else self.job
