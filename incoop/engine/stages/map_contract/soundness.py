"""Try a combiner on a sample: reducing combined values must give what reducing the values gives.

Contract: R(values) = R(what combining made of them), in every way in which a tree may combine: all at once, in halves,
halves and then together, neighbours in random steps, one value alone. The engine keeps the order of values, so a
combiner may depend on it. Floats may differ by the rounding of what was fed in. Functions get copies: a trial
leaves nothing behind.

A sample shows what is wrong on a sample: a combiner that errs on values that are not in it, or only on more of them
than `MOST_VALUES`, passes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from incoop.base.errors import USERS_ERRORS, IncoopError
from incoop.contraction.columns.column import Column
from incoop.contraction.tree.combine import CombinerError, all_combined
from incoop.engine.failures import CombinerNotSound
from incoop.engine.stages.map_contract.rounding import alike, noise_of, shaken
from incoop.job import Mapper, Reducer

#: Records that are mapped for the sample, at least where there are as many.
SAMPLE = 1000

#: Keys that are tried: half of them those with most values.
KEYS = 16

#: While fewer keys have several values, more records are mapped, up to so many: a job's keys may come back seldom.
_LONGEST_SAMPLE = 8 * SAMPLE

#: Pairs, and seconds, after which no more records are mapped: a record may give any number, or take any time.
_MOST_PAIRS = 100_000
_MOST_SECONDS = 1.0

#: Values of a key that are tried: more than a leaf or a node of the tree usually has, at a cost of some milliseconds.
MOST_VALUES = 200

#: Trees that combine neighbours at random, and the steps that each has.
_RANDOM_TREES = 3
_STEPS = 5

#: How often the reducer is given values that moved by their rounding, to see how far that moves what it gives; each
#: time once more with all of them moved the other way, which turns the sign of a sum that is all rounding.
_SHAKES = 4

#: Values with which a combiner counts as tried; with fewer, the next run tries it again on what is new to it, a few
#: times: an input may begin small.
_ENOUGH_VALUES = 64
_MOST_TRIALS = 5

#: Records of a chunk, each with its mapper.
Records = Iterable[tuple[Mapper, Any]]

#: Where a step combines: from a value up to another, of so many.
Step = Callable[[int, random.Random], tuple[int, int]]


def _all(count: int, _: random.Random) -> tuple[int, int]:
    return 0, count


def _first_half(count: int, _: random.Random) -> tuple[int, int]:
    return 0, (count + 1) // 2


def _but_the_first(count: int, _: random.Random) -> tuple[int, int]:
    return min(1, count), count


def _somewhere(count: int, rng: random.Random) -> tuple[int, int]:
    if count < 2:
        return 0, count
    low = rng.randrange(count - 1)
    return low, rng.randrange(low + 2, count + 1)


#: Ways to combine: after the first half of some values has become one, what is behind the first is the other half.
_WAYS: tuple[tuple[Step, ...], ...] = (
    (_all,),
    (_first_half, _but_the_first),
    (_first_half, _but_the_first, _all),
    *((_somewhere,) * _STEPS + (_all,) * (number % 2) for number in range(_RANDOM_TREES)),
)


@dataclass(frozen=True, slots=True)
class _Group:
    """A key of the sample with its values, and what the reducer gives for them."""

    key: Any
    values: Column
    plain: list[Any]

    def difference(self, combined: list[Any], reducer: Reducer) -> CombinerNotSound | None:
        """What is wrong where the reducer gives this for combined values."""
        if alike(self.plain, combined):
            return None
        noise = noise_of(self.values.to_list())
        if alike(self.plain, combined, noise) or (noise.floats and self._rounds_so_far(combined, reducer)):
            return None
        return CombinerNotSound(_shown(self.key), _shown(self.plain), _shown(combined))

    def _rounds_so_far(self, combined: list[Any], reducer: Reducer) -> bool:
        """Whether the rounding of the values moves the reducer's result as far: a root of nearly 0, a sign, a rank."""
        share = len(self.values) * 2.0**-52
        found: list[list[Any]] = []
        for number in range(2 * _SHAKES):
            moved = shaken(self.values.to_list(), random.Random(number // 2), -share if number % 2 else share)
            try:
                found.append(list(reducer(self.key, moved)))
            except USERS_ERRORS:
                return True  # it fails when values round
        shape, numbers = _apart(self.plain)
        others = [_apart(each) for each in [*found, combined]]
        if not all(alike(shape, other) and len(numbers) == len(moved) for other, moved in others[:-1]):
            return True  # rounding makes it give something else altogether
        if not alike(shape, others[-1][0]) or len(others[-1][1]) != len(numbers):
            return False
        reached = [max(abs(moved[at] - number) for _, moved in others[:-1]) for at, number in enumerate(numbers)]
        return all(
            alike(number, mine) or abs(number - mine) <= 4 * reach
            for number, mine, reach in zip(numbers, others[-1][1], reached, strict=True)
        )


def _apart(value: Any) -> tuple[Any, list[float]]:
    """A result without its floats, and these."""
    if isinstance(value, float):
        return None, [value]
    if type(value) in (list, tuple):
        parts = [_apart(each) for each in value]
        return [shape for shape, _ in parts], [number for _, numbers in parts for number in numbers]
    if type(value) is dict:
        return _apart([*value, *value.values()])
    return value, []


def check_combiner(sample: Iterable[Records], combiner: Reducer, reducer: Reducer) -> int:
    """Raise CombinerNotSound for a key whose result the combiner changes; return how many values it was tried on.

    The sample is chunks, of which more than one are mapped only where keys come back seldom. One on which the functions
    themselves fail is left to the run, which reports it with its record; so is a combiner that changes keys, which is
    left out.
    """
    try:
        several, single = _groups(sample, reducer)
        _try_single_values(single, combiner, reducer)
        for way in _WAYS:
            _try_way(way, several, combiner, reducer)
    except CombinerNotSound:
        raise
    except (IncoopError, CombinerError):
        return 0
    return sum(len(group.values) for group in several)


def tried_enough(values: int, trials: int) -> bool:
    """Whether a combiner that was tried so often, on so many values, need not be tried again."""
    return values >= _ENOUGH_VALUES or trials >= _MOST_TRIALS


class _LeftToTheRun(IncoopError):
    """The sample cannot be mapped."""


def _groups(sample: Iterable[Records], reducer: Reducer) -> tuple[list[_Group], list[_Group]]:
    """Keys with several values, and some with one."""
    found: dict[Any, list[Any]] = {}
    repeated: set[Any] = set()
    pairs = number = 0
    began = time.perf_counter()
    try:
        for records in sample:
            for mapper, record in records:
                number += 1
                for key, value in mapper(None, record):
                    values = found.setdefault(key, [])
                    values.append(value)
                    pairs += 1
                    if len(values) == 2 and len(repeated) < KEYS:
                        repeated.add(key)
                enough = number >= (SAMPLE if len(repeated) >= KEYS else _LONGEST_SAMPLE)
                if enough or pairs >= _MOST_PAIRS or time.perf_counter() - began > _MOST_SECONDS:
                    break
            else:
                if len(repeated) < KEYS:
                    continue
            break
    except USERS_ERRORS as error:
        raise _LeftToTheRun from error
    several = [key for key, values in found.items() if len(values) > 1]
    most = sorted(several, key=lambda key: -len(found[key]))[: KEYS // 2]
    chosen = dict.fromkeys([*most, *several][: KEYS + len(most)])
    single = [key for key, values in found.items() if len(values) == 1][: KEYS // 4]
    return (
        [group for key in list(chosen)[:KEYS] if (group := _group(key, found[key], reducer)) is not None],
        [group for key in single if (group := _group(key, found[key], reducer)) is not None],
    )


def _group(key: Any, values: list[Any], reducer: Reducer) -> _Group | None:
    column = Column.of(values[:MOST_VALUES])
    try:
        return _Group(key, column, list(reducer(key, column.to_list())))
    except USERS_ERRORS:  # the run says where
        return None


def _try_single_values(groups: Sequence[_Group], combiner: Reducer, reducer: Reducer) -> None:
    """One value alone, which the engine passes on as it is; a combiner that fails on it is never given one."""
    try:
        _try_way((_all,), groups, combiner, reducer)
    except CombinerError:
        return


def _try_way(way: Sequence[Step], groups: Sequence[_Group], combiner: Reducer, reducer: Reducer) -> None:
    """Combine some values of every key, step by step, in one call a step for all keys, then reduce what is left."""
    rng = random.Random(len(groups))
    left = [group.values.to_list() for group in groups]
    for number, step in enumerate(way):
        bounds = [step(len(values), rng) for values in left]
        given = [(group.key, values[low:high]) for group, values, (low, high) in zip(groups, left, bounds, strict=True)]
        worth = [at for at, (_, values) in enumerate(given) if values]
        try:
            for at, combined in zip(worth, all_combined(combiner, [given[at] for at in worth]), strict=True):
                low, high = bounds[at]
                left[at][low:high] = combined
        except CombinerError as failed:
            if not number:
                raise
            raise _unfit(groups, failed.key, "combining combined values", failed.__cause__) from failed
    for group, values in zip(groups, left, strict=True):
        try:
            combined = list(reducer(group.key, values)) if values else []
        except USERS_ERRORS as error:
            raise _unfit([group], group.key, "reducing combined values", error) from error
        if (found := group.difference(combined, reducer)) is not None:
            raise found


def _unfit(groups: Sequence[_Group], key: Any, what: str, error: BaseException | None) -> CombinerNotSound:
    plain = next((group.plain for group in groups if group.key is key), groups[0].plain)
    return CombinerNotSound(_shown(key), _shown(plain), f"an error when {what}: {error!r:.150}")


def _shown(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception as error:
        return f"a {type(value).__name__} whose repr fails ({error})"
