"""The output of a run: read lazily, shard by shard, always in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from contraction.encoding import encode
from contraction.keys import normal
from contraction.parts import BlockLost, Part, differing_blocks
from contraction.run import EMPTY, Run
from contraction.update import changed_hashes, rows_with
from incoop.contract_stage import COUNTED
from incoop.memo import BlobStore
from incoop.pipeline import Outcome
from incoop.report import RunReport
from incoop.runs import BlobReader


@dataclass(frozen=True, slots=True)
class Change:
    """One key of the output whose value is not what it was. `old` or `new` is None where there is no such key."""

    key: Any
    old: Any
    new: Any


class Result:
    """(key, value) pairs. Within a shard by key where keys compare, else by their bytes; the same for the same data."""

    def __init__(self, outcome: Outcome, blobs: BlobStore, recover: Callable[[BlockLost], Outcome]) -> None:
        self._outcome = outcome
        self._reader = BlobReader(blobs)
        self._recover = recover

    @property
    def report(self) -> RunReport:
        """What the run did."""
        return self._outcome.report

    @property
    def root(self) -> bytes:
        """Hash of the contraction tree's root: equal for equal input and code, whatever ran before."""
        return self._outcome.root

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for shard in range(self._shards()):
            yield from self._pairs(shard)

    def collect(self) -> list[tuple[Any, Any]]:
        """All pairs, as a list."""
        return list(self)

    def as_dict(self) -> dict[Any, Any]:
        """All pairs, as a dict; of several pairs with one key the last stays."""
        return dict(self)

    def changes(self) -> Iterator[Change]:
        """What is not as it was after the previous run of this job. Only blocks that differ are read."""
        for shard in range(self._shards()):
            old, new = self._differing(shard)
            before, after = _by_key(old), _by_key(new)
            for name in sorted(before.keys() | after.keys()):
                (old_key, olds), (new_key, news) = before.get(name, (None, [])), after.get(name, (None, []))
                if encode(olds) != encode(news):
                    yield Change(new_key if news else old_key, _single(olds), _single(news))

    def _shards(self) -> int:
        rows = self._outcome.output if self._outcome.output is not None else self._outcome.old_output
        return len(rows.rows) if rows is not None else 0

    def _pairs(self, shard: int) -> list[tuple[Any, Any]]:
        if self._outcome.output is None:
            return []
        try:
            pairs = _pairs_of(self._part(self._outcome.output.rows[shard]).whole())
        except BlockLost as lost:
            self._outcome = self._recover(lost)
            return self._pairs(shard)
        return ordered(pairs)

    def _part(self, row: Any) -> Part:
        return Part.load(row, self._shards().bit_length() - 1, self._reader)

    def _differing(self, shard: int) -> tuple[Run, Run]:
        """The entries of old and new output that are not the same."""
        old, new = self._outcome.old_output, self._outcome.output
        if old is None or new is None:
            return (
                self._part(old.rows[shard]).whole() if old is not None else EMPTY,
                self._part(new.rows[shard]).whole() if new is not None else EMPTY,
            )
        if old.rows["content"][shard] == new.rows["content"][shard]:
            return EMPTY, EMPTY
        before, after = differing_blocks(self._part(old.rows[shard]), self._part(new.rows[shard]))
        changed = changed_hashes(before, after)
        return before.take(rows_with(before, changed)), after.take(rows_with(after, changed))


def ordered(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Pairs by key; by the keys' bytes where they do not compare. Pairs of one key keep their order."""
    try:
        return sorted(pairs, key=lambda pair: pair[0])
    except TypeError:
        return sorted(pairs, key=lambda pair: encode(normal(pair[0])))


def _pairs_of(run: Run) -> list[tuple[Any, Any]]:
    return [pair for pair in run.values.to_list() if pair[0] is not COUNTED]


def _by_key(run: Run) -> dict[bytes, tuple[Any, list[Any]]]:
    found: dict[bytes, tuple[Any, list[Any]]] = {}
    for key, value in _pairs_of(run):
        found.setdefault(encode(normal(key)), (key, []))[1].append(value)
    return found


def _single(values: list[Any]) -> Any:
    """A key's value; None for no value, a list for several."""
    return None if not values else values[0] if len(values) == 1 else values
