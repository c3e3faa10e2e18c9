"""Which generations to keep: a pure decision.

Contract: no Redis, files or clock inside. A pinned generation is always kept. Of the others, the last N of each job
stay, unless they are too old; then, newest first, as many as fit the limits on bytes and entries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keep:
    """What a collection keeps. Limits hold together: whatever one of them drops is dropped."""

    #: Newest generations of each job.
    last: int = 1
    #: Bytes of packs and entries in all.
    max_bytes: int | None = None
    #: Seconds since the commit.
    max_age: float | None = None
    #: Memo entries in all.
    max_entries: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One committed generation."""

    job: str
    number: int
    when: float
    pinned: bool = False


#: Gives what a generation adds to those measured before it: (bytes, entries).
Measure = Callable[[Candidate], tuple[int, int]]


def choose(
    candidates: Sequence[Candidate], keep: Keep, now: float, measure: Measure, base: tuple[int, int] = (0, 0)
) -> list[Candidate]:
    """The generations to keep. `base` is what stays anyway (bytes, entries), for running sessions.

    Example:
        >>> runs = [Candidate("count", 1, 10.0), Candidate("count", 2, 20.0), Candidate("join", 1, 5.0)]
        >>> [(one.job, one.number) for one in choose(runs, Keep(last=1), 30.0, lambda _: (0, 0))]
        [('count', 2), ('join', 1)]
    """
    newest_first = sorted(candidates, key=lambda one: (one.when, one.number), reverse=True)
    kept = [one for one in newest_first if one.pinned]
    total_bytes, total_entries = base
    for one in kept:
        more_bytes, more_entries = measure(one)
        total_bytes, total_entries = total_bytes + more_bytes, total_entries + more_entries

    seen: dict[str, int] = defaultdict(int)
    for one in sorted(candidates, key=lambda one: one.number, reverse=True):
        seen[one.job] += 1
        if seen[one.job] > keep.last:
            newest_first.remove(one)
    limited = keep.max_bytes is not None or keep.max_entries is not None
    for one in newest_first:
        if one.pinned or (keep.max_age is not None and now - one.when > keep.max_age):
            continue
        more_bytes, more_entries = measure(one) if limited else (0, 0)
        total_bytes, total_entries = total_bytes + more_bytes, total_entries + more_entries
        if keep.max_bytes is not None and total_bytes > keep.max_bytes:
            break
        if keep.max_entries is not None and total_entries > keep.max_entries:
            break
        kept.append(one)
    return kept
