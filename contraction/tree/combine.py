"""Combine runs: one run in which every key that several of them hold has gone through the combiner.

Contract: a key that occurs in one run only passes through as bytes, without a call. Combining is associative exactly
when the user's combiner is; `combine` calls it with values in the order of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.base.errors import USERS_ERRORS, IncoopError
from incoop.contraction.columns.column import INTEGER, Column, concat, starts_of
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.keys import has_ties
from incoop.contraction.columns.normal import normal
from incoop.contraction.columns.run import EMPTY, Run, merge
from incoop.contraction.tree.folds import Fold, fold_groups, recognise
from incoop.contraction.tree.known_combiners import BatchCombiner

UserFunction = Callable[[Any, Iterable[Any]], Iterable[tuple[Any, Any]]]


class CombinerChangesKeys(IncoopError):
    """A combiner gave a pair whose key is not the one it was called with."""

    def __init__(self, given: str, emitted: str) -> None:
        super().__init__(given, emitted)
        self.given, self.emitted = given, emitted

    def __str__(self) -> str:
        return (
            f"the combiner was called with key {self.given} and emitted key {self.emitted}. Values of other keys "
            "cannot be contracted; emit the key that was given, or leave the combiner out."
        )


class CombinerError(Exception):
    """The user's combiner raised at this key."""

    def __init__(self, key: Any) -> None:
        super().__init__(key)
        self.key = key


@dataclass(slots=True)
class Combiner:
    """A user's combiner (or none), and how often it was called."""

    function: UserFunction | None
    fold: Fold | None = None
    calls: int = 0

    @classmethod
    def of(cls, function: UserFunction | None) -> Combiner:
        return cls(function, recognise(function))

    def combine(self, runs: Sequence[Run]) -> Run:
        """One run out of several, their values in the order of `runs`."""
        merged, shared = merge(runs)
        if self.function is None or not shared.any():
            return merged
        rows = np.flatnonzero(shared)
        if self.fold is not None and (folded := self._folded(merged, shared)) is not None:
            self.calls += len(rows)
            return folded
        self.calls += len(rows)
        together = self._called(merged.take(rows))
        if len(rows) == len(merged):
            return together
        return _interleaved(merged.take(np.flatnonzero(~shared)), together)

    def _folded(self, merged: Run, shared: npt.NDArray[np.bool_]) -> Run | None:
        """The fold of every key; a fold of one value is that value."""
        assert self.fold is not None
        # A key of one run alone is not combined: with several values it may not be folded along with the others.
        if merged.values.kind != INTEGER or merged.firsts is None or (np.diff(merged.firsts)[~shared] != 1).any():
            return None
        assert merged.values.numbers is not None
        numbers = fold_groups(self.fold, merged.values.numbers, merged.firsts)
        if numbers is None:
            return None
        return Run(merged.hashes, merged.keys, Column(INTEGER, len(numbers), numbers=numbers))

    def _called(self, merged: Run) -> Run:
        """The combiner's own answer for every key."""
        values: list[Any] = []
        counts: list[int] = []
        for emitted in all_combined(self.function, merged.groups()):
            values += emitted
            counts.append(len(emitted))
        sizes = np.array(counts, np.int64)
        if (sizes == 1).all():
            return Run(merged.hashes, merged.keys, Column.of(values))
        kept = np.flatnonzero(sizes)  # a combiner may drop a key
        run = Run(merged.hashes, merged.keys, Column.of(values), starts_of(sizes))
        return run.take(kept) if len(kept) else EMPTY


def all_combined(function: UserFunction | None, groups: Iterable[tuple[Any, list[Any]]]) -> Iterable[list[Any]]:
    """Call a combiner for many keys: its values for each of them, in their order."""
    if not isinstance(function, BatchCombiner):
        return (combined_values(function, key, values) for key, values in groups)
    given = list(groups)
    emitted: list[list[Any]] = [[] for _ in given]
    for places in _with_each_key_once([key for key, _ in given]):
        for place, values in zip(places, _called_once(function, [given[place] for place in places]), strict=True):
            emitted[place] = values
    return emitted


def _with_each_key_once(keys: list[Any]) -> list[list[int]]:
    """Places of keys, divided so that none is there twice; in one piece where none is."""
    seen: dict[Any, int] = {}
    found: list[list[int]] = []
    for place, key in enumerate(keys):
        before = seen.get(key, 0)
        seen[key] = before + 1
        if before == len(found):
            found.append([])
        found[before].append(place)
    return found


def _called_once(function: BatchCombiner, given: list[tuple[Any, list[Any]]]) -> Iterable[list[Any]]:
    """The values of keys, each of which is there once, in their order."""
    values_of: dict[Any, list[Any]] = {key: [] for key, _ in given}
    try:
        for key, value in function.function(given):
            if key not in values_of:
                raise CombinerChangesKeys(f"{given[0][0]!r:.200} (first of {len(given)})", f"{key!r:.200}")
            values_of[key].append(value)
    except IncoopError:
        raise
    except USERS_ERRORS as error:
        raise CombinerError(given[0][0]) from error
    return values_of.values()


def combined_values(function: UserFunction | None, key: Any, values: list[Any]) -> list[Any]:
    """Call a combiner for one key; its pairs must have that key."""
    assert function is not None
    emitted = []
    try:
        for out_key, value in function(key, values):
            if out_key is not key and out_key != key and encode(normal(out_key)) != encode(normal(key)):
                raise CombinerChangesKeys(repr(key)[:200], repr(out_key)[:200])
            emitted.append(value)
    except IncoopError:
        raise
    except USERS_ERRORS as error:
        raise CombinerError(key) from error
    return emitted


def _interleaved(one: Run, other: Run) -> Run:
    """Two runs without a common key as one; equal hashes of different keys are left to `merge`."""
    hashes = np.concatenate([one.hashes, other.hashes])
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    if one.firsts is not None or other.firsts is not None or has_ties(hashes):
        return merge([one, other])[0]
    return Run(hashes, concat([one.keys, other.keys]).take(order), concat([one.values, other.values]).take(order))
