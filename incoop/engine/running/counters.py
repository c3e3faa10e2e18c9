"""Counters that a user's functions increment; summed in the report, and replayed for tasks that are reused.

Contract: of what was counted, a few samples are kept: for each counter the texts with the smallest hashes. So which
ones they are, and how often each of them occurred, follows from all that was counted, however it was added up and
whatever went since. A sample travels as a counter of its own, whose name says of which one it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from zlib import crc32

from incoop.base.errors import BadCall

#: Different texts that are kept of what one counter counted: enough to see what is wrong, few enough to print.
SAMPLES = 5

#: Characters that are kept of a sample: a line of an access log has some 250.
SAMPLE_LENGTH = 200

_SAMPLE = "\0sample\0"

#: One for the process, which threads of the user's functions share.
_current: ContextVar[Counter[str]] = ContextVar("incoop counters", default=Counter())  # noqa: B039


def counter(name: str, amount: int = 1, *, sample: str | None = None) -> None:
    """Count something in a mapper, combiner or reducer. The report shows a few of the samples that a mapper gave.

    Example:
        >>> counter("bad lines")
        >>> take_counts()
        {'bad lines': 1}
    """
    if type(name) is not str or not isinstance(amount, int):
        raise BadCall(f"counter takes a text and a whole number, not {name!r:.80} and {amount!r:.80}.")
    current = _current.get()
    current[name] += amount
    if sample is not None:
        if not isinstance(sample, str):
            raise BadCall(f"counter takes a text as sample, not {sample!r:.80}.")
        shown = sample if len(sample) <= SAMPLE_LENGTH else f"{sample[:SAMPLE_LENGTH]}…"
        current[f"{_SAMPLE}{name}\0{shown}"] += amount


def take_counts() -> dict[str, int]:
    """What was counted since the last call."""
    current = _current.get()
    if not current:
        return {}
    counts = _few_samples({name: count for name, count in current.items() if count})
    current.clear()
    return counts


def added_counts(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What was counted in all, with a few of all samples.

    Example:
        >>> added_counts([{"lines": 1}, {"lines": 2, "words": 5}])
        {'lines': 3, 'words': 5}
    """
    total: dict[str, int] = {}
    for counts in several:
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return _few_samples(total)


def _few_samples(counts: dict[str, int]) -> dict[str, int]:
    """Counts with no more samples than are kept of each counter."""
    sampled = [name for name in counts if name.startswith(_SAMPLE)]
    if len(sampled) <= SAMPLES:
        return counts
    seen: Counter[str] = Counter()
    for name in sorted(sampled, key=_rank):
        of, _ = _parts(name)
        seen[of] += 1
        if seen[of] > SAMPLES:
            del counts[name]
    return counts


def _rank(name: str) -> tuple[int, str]:
    return crc32(name.encode("utf-8", "surrogatepass")), name


def _parts(name: str) -> tuple[str, str]:
    """The counter that a sample is of, and its text."""
    of, _, text = name.removeprefix(_SAMPLE).partition("\0")
    return of, text


def told_apart(counts: Mapping[str, int]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Counters; and for each one that has samples, these with how often each of them occurred."""
    if not counts:  # as after most calls of a reducer
        return {}, {}
    counters = {name: count for name, count in counts.items() if not name.startswith(_SAMPLE)}
    samples: dict[str, dict[str, int]] = {}
    for name in sorted((name for name in counts if name.startswith(_SAMPLE)), key=_rank):
        of, text = _parts(name)
        samples.setdefault(of, {})[text] = counts[name]
    return counters, samples


@contextmanager
def counting_apart() -> Iterator[None]:
    """Count by itself what this thread counts."""
    token = _current.set(Counter())
    try:
        yield
    finally:
        _current.reset(token)


class Counted:
    """The key of a pair that holds what a reducer call counted; never shown to the user."""

    def __reduce__(self) -> str:
        return "COUNTED"


COUNTED = Counted()
