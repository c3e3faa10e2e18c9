"""Map a chunk whose pairs are the result: those of its leaves, in input order, of which the chunks before hold most.

Contract: what is described reads as what mapping the whole chunk gives. Nothing of a leaf that one of the old chunks
has is mapped, and its pairs are neither read nor written, unless layers have become too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incoop.base.errors import USERS_ERRORS
from incoop.contraction.columns.column import Column, Ints, concat, starts_of
from incoop.contraction.columns.run import group_rows
from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.in_order import GivenByLeaf, InOrder, Layer, all_given, pairs_of_leaves
from incoop.contraction.parts.packs import BlockLost, PackBuilder, Reader
from incoop.engine.running.counters import added_counts, take_counts
from incoop.engine.stages.map_contract.chunk_sources import ChunkSource
from incoop.engine.stages.map_contract.leaf_table import Counts, LeafIds
from incoop.engine.stages.map_contract.leaves import Cutting, Leaves
from incoop.engine.stages.map_contract.mapping import (
    Pairs,
    Piece,
    PiecesMapper,
    RecordsMapper,
    UserError,
    collect,
    pairs_of,
)
from incoop.engine.stages.map_contract.patching import worth_patching
from incoop.engine.stages.map_contract.write_chunk import KnownBase, WrittenChunk
from incoop.job import Mapper

#: Layers that a chunk's pairs lie in, at most; with more they are written as one. An update reads a little of each, and
#: whoever reads the pairs all of it. By a chunk's own id up to twice as many, so that not all are written on one day.
_MOST_LAYERS = 16

#: Layers that hold this many times the leaves that the chunk has are written as one, too.
_MOST_DEAD = 2

#: With more of its leaves than this in old chunks, no more of these are looked at.
_SURELY_ENOUGH = 7 / 8

#: What stands for a leaf in a chunk that has none.
_NO_LEAF = LeafIds.of([bytes(16)], [0])


@dataclass(frozen=True, slots=True)
class _Mapped:
    """What the mapper gave for some leaves, and how many pairs each gave."""

    pairs: Column
    given: GivenByLeaf


@dataclass(frozen=True, slots=True)
class _Known:
    """What old chunks hold: leaves, numbered through all layers."""

    layers: tuple[Layer, ...]
    given: GivenByLeaf

    def found(self, leaves: LeafIds) -> Ints:
        """For each leaf, which of these it is; -1 for none."""
        place = {id_: number for number, id_ in enumerate(self.given.ids.tolist())}
        return np.array([place.get(id_, -1) for id_ in leaves.ids.tolist()], np.int64)


@dataclass(frozen=True, slots=True)
class MapOnly:
    """One chunk to map and write, that takes the place of `old` ones, or has most of `base`."""

    source: ChunkSource
    #: Its id, and its bytes as the input counts them.
    chunk: bytes
    length: int
    old: Sequence[RunRef]
    base: KnownBase | None
    reader: Reader
    pack: PackBuilder

    def write(self) -> tuple[WrittenChunk, bytes]:
        """What was written; and the chunk's stretches as rows, if all of it was read."""
        cutting = self.source.cutting
        if self.base is not None and cutting is not None:
            written = self._by_recut(self.base, cutting)
            if written is not None:
                return written, b""
        leaves = cutting.cut() if cutting is not None else None
        if cutting is None or leaves is None:
            return self._whole(self.source.whole, _NO_LEAF), b""
        written = self._by_old(leaves)
        return written or self._whole(leaves.decoded(), leaves.cut), cutting.stretches()

    def _whole(self, pieces: Sequence[Piece], leaves: LeafIds) -> WrittenChunk:
        return _write_whole(_mapped(self.source.mapper, pieces, leaves), self.pack)

    def _by_recut(self, base: KnownBase, cutting: Cutting) -> WrittenChunk | None:
        """By the chunk that it is known to have most of: of its bytes only the others are read."""
        with suppress(BlockLost):
            stored = InOrder.load(base.ref, self.reader)
            given = stored.given(self.reader)
            leaves = cutting.recut(base.pieces, LeafIds(given.ids[stored.order], given.lengths[stored.order]))
            return self._described(leaves, _Known(stored.layers, given)) if leaves is not None else None
        return None

    def _by_old(self, leaves: Leaves) -> WrittenChunk | None:
        """By what is there of the chunks at its place."""
        known = _known(leaves.cut, self.old, self.reader)
        if known is not None:
            with suppress(BlockLost):
                return self._described(leaves, known)
        return None

    def _described(self, leaves: Leaves, known: _Known) -> WrittenChunk | None:
        """Write a chunk by the layers of others; None where they have too little of it.

        (1) Leaves that came are mapped; what they gave is a layer of its own.
        (2) Layers of which nothing is left are left out.
        (3) Of too many layers one is made.
        """
        found = known.found(leaves.cut)
        if not worth_patching(float(np.mean(found >= 0))):
            return None
        came = np.flatnonzero(found < 0)  # step (1)
        pieces = [leaves.piece(leaf) for leaf in came.tolist()]
        try:
            new = _mapped(self.source.mapper, pieces, leaves.cut.take(came))
        except UserError:
            return None  # it fails again when the whole chunk is mapped, and then the record can be named
        order = found.copy()
        order[came] = len(known.given) + np.arange(len(came))
        here = all_given([known.given, new.given]).take(order)
        layers, left = _without_dead(known.layers, order)  # step (2)
        if _too_many(layers, len(left), self.chunk):  # step (3)
            written = _write_whole(_Mapped(_together(known, found, new, self.reader), here), self.pack)
        else:
            own = [Layer.add(new.given, new.pairs, self.pack)] if len(came) else []
            written = _written(InOrder(here.content(), (*layers, *own), left), here, self.pack)
        # Pairs have other lengths encoded than stored: what counts is which share of the block they are.
        return replace(written, mapped=-(-int(new.given.lengths.sum()) * self.length // int(leaves.ends[-1])))


def _known(leaves: LeafIds, old: Sequence[RunRef], reader: Reader) -> _Known | None:
    """What old chunks have of these leaves, one or several: where chunks end may have changed."""
    layers: dict[Layer, GivenByLeaf] = {}
    wanted, had = set(leaves.ids.tolist()), set[bytes]()
    for ref in old:
        with suppress(BlockLost):
            own = {layer: layer.read_given(reader) for layer in InOrder.load(ref, reader).layers}
            ids = {id_ for given in own.values() for id_ in given.ids.tolist()} & wanted
            if not ids <= had:
                layers |= own
                had |= ids
        if len(had) > _SURELY_ENOUGH * len(wanted):
            break
    return _Known(tuple(layers), all_given([*layers.values()])) if layers else None


def _without_dead(layers: Sequence[Layer], order: Ints) -> tuple[list[Layer], Ints]:
    """The layers that some of the leaves are in, and the leaves by number among those and what comes behind them."""
    sizes = np.array([layer.leaves for layer in layers], np.int64)
    of_leaf = np.repeat(np.arange(len(layers)), sizes)
    alive = np.bincount(of_leaf[order[order < len(of_leaf)]], minlength=len(layers)) > 0
    gone_before = starts_of(np.where(alive, 0, sizes))
    less = np.append(gone_before[of_leaf], gone_before[-1])[np.minimum(order, len(of_leaf))]
    return [layer for layer, lives in zip(layers, alive.tolist(), strict=True) if lives], order - less


def _too_many(layers: Sequence[Layer], leaves: int, chunk: bytes) -> bool:
    """Whether a chunk of so many leaves, which has layers of others and one of its own, should be written as one."""
    most = _MOST_LAYERS + chunk[0] * _MOST_LAYERS // 256
    return len(layers) >= most or sum(layer.leaves for layer in layers) > _MOST_DEAD * leaves


def _together(known: _Known, found: Ints, new: _Mapped, reader: Reader) -> Column:
    """The pairs of all leaves: of those that are known, and of those that are not, which are new."""
    old, is_old = found[found >= 0], found >= 0
    stored = pairs_of_leaves(known.layers, old, known.given.sizes, reader)
    sizes = np.concatenate([known.given.sizes[old], new.given.sizes])
    place = np.empty(len(found), np.int64)
    place[is_old], place[~is_old] = np.arange(len(old)), np.arange(len(old), len(found))
    return concat([stored, new.pairs]).take(group_rows(starts_of(sizes)[place], sizes[place]))


def _write_whole(mapped: _Mapped, pack: PackBuilder) -> WrittenChunk:
    layer = Layer.add(mapped.given, mapped.pairs, pack)
    return _written(InOrder(mapped.given.content(), (layer,), np.arange(layer.leaves)), mapped.given, pack)


def _written(pairs: InOrder, here: GivenByLeaf, pack: PackBuilder) -> WrittenChunk:
    counted = added_counts(here.counters) if any(here.counters) else {}
    return WrittenChunk(pairs.write(pack), counted, refs=pairs.packs)


def _mapped(mapper: Mapper, pieces: Sequence[Piece], leaves: LeafIds) -> _Mapped:
    """Map leaves, or what has none as one piece."""
    at_once = isinstance(mapper, PiecesMapper)
    pairs, sizes, counters = _map_pieces(mapper, pieces) if at_once else _map_records(mapper, pieces)
    column = Column.of(pairs)
    given = GivenByLeaf.of(leaves.ids, leaves.lengths, np.array(sizes, np.int64), column, counters)
    return _Mapped(column, given)


_Given = tuple[list[tuple[Any, Any]], list[int], list[Counts]]


def _map_records(mapper: Mapper, pieces: Sequence[Piece]) -> _Given:
    """The mapper's pairs as they come: keys are not told apart, so that each is shown as it was given."""
    pairs: list[tuple[Any, Any]] = []
    sizes: list[int] = []
    counters: list[Counts] = []
    number, record = -1, None
    try:
        for piece in pieces:
            before = len(pairs)
            if isinstance(mapper, RecordsMapper):
                records = piece.records()
                number += 1
                for key, value in mapper.function(records):
                    pairs.append((key, value))
                number += len(records) - 1
            else:
                for record in piece.records():
                    number += 1
                    for key, value in mapper(None, record):
                        pairs.append((key, value))
            sizes.append(len(pairs) - before)
            counters.append(take_counts())
    except USERS_ERRORS as error:
        raise UserError(number, record) from error
    return pairs, sizes, counters


def _map_pieces(mapper: Mapper, pieces: Sequence[Piece]) -> _Given:
    groups: list[Pairs] = []
    made = collect(mapper, pieces, groups.append)
    assert made is not None
    groups.append(made)
    pairs = [pair for group in groups for pair in pairs_of(group)]
    sizes = [size for group in groups for size in group.sizes.tolist()]
    return pairs, sizes, [counts for group in groups for counts in group.counters]
