"""Which stages a job has: noted by ways in that make several of one, so that those it has no more are collected.

Contract: a pure decision, from rosters and generations. A stage that committed since its job's roster was noted stays,
whoever has it: another version of the job may be at work beside this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from incoop.base.stage_path import StagePath
from incoop.memo.retention import Candidate

#: The stage that a roster goes by, and what its record begins with; then names follow. Another layout, another number.
STAGE = "stages"
_HEAD = b"stages 1"
_END = b"\0"


def roster_path(job: str) -> StagePath:
    """By which the memo finds a job's roster."""
    return StagePath(job, STAGE)


def record_of(stages: Iterable[str]) -> bytes:
    """A roster, as the record of a generation.

    Example:
        >>> stages_of(record_of(["join", "totals"])) == {"join", "totals"}, stages_of(b"something else")
        (True, None)
    """
    return _END.join([_HEAD, *sorted(stage.encode("utf-8", "surrogatepass") for stage in set(stages))])


def stages_of(record: bytes) -> frozenset[str] | None:
    """The stages that a record names; None where it is no roster."""
    head, *names = record.split(_END)
    return frozenset(each.decode("utf-8", "surrogatepass") for each in names) if head == _HEAD else None


@dataclass(frozen=True, slots=True)
class Roster:
    """What a job's last roster said."""

    stages: frozenset[str]
    #: When it was noted, as generations are.
    when: float


def without_retired(candidates: Sequence[Candidate], rosters: Mapping[str, Roster]) -> list[Candidate]:
    """The generations of stages that their jobs still have, and those that are pinned.

    Example:
        >>> was, now = (Candidate(StagePath("sales", stage).key, 1, 10.0) for stage in ("sort", "join"))
        >>> rosters = {"sales": Roster(frozenset(["join"]), 20.0)}
        >>> without_retired([was, now, Candidate("other", 1, 5.0)], rosters) == [now, Candidate("other", 1, 5.0)]
        True
    """

    def stays(one: Candidate) -> bool:
        path = StagePath.of_key(one.job)
        roster = rosters.get(path.job)
        if one.pinned or roster is None or path.stage in ("", STAGE, *roster.stages):
            return True
        return one.when > roster.when

    return list(filter(stays, candidates))
