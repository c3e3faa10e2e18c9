"""Write what a chunk gave: as a base with its leaves, or as what differs from the chunk whose place it takes.

Contract: both read as the same run. What differs costs what changed, to find and to write; whoever had the old chunk
is told the change itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.contraction.parts.headers import Region, RunRef, StoredChange, read_run, write_header
from incoop.contraction.parts.packs import BlockLost, PackBuilder, Reader
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import SHARD_ROW, as_row
from incoop.contraction.parts.write import SMALL_RUN, write_part
from incoop.contraction.tree.combine import Combiner
from incoop.engine.stages.map_contract.chunk_leaves import StoredLeaves
from incoop.engine.stages.map_contract.grouping import Mapped
from incoop.engine.stages.map_contract.leaf_table import LeafIds, LeafTable
from incoop.engine.stages.map_contract.leaves import LARGEST_TABLE, Cutting, Leaves
from incoop.engine.stages.map_contract.patching import Described, described, worth_patching
from incoop.inchdfs.cutting.stretches import RecutPieces
from incoop.job import Mapper

#: With more of its leaves than this in one old chunk, no other is looked at.
_SURELY_NEAREST = 1 / 2


@dataclass(frozen=True, slots=True)
class KnownBase:
    """The chunk whose place another takes, and what that has of it."""

    #: Where its run is.
    ref: RunRef
    pieces: RecutPieces


@dataclass(frozen=True, slots=True)
class WrittenChunk:
    """A chunk's results in the pack that is being built."""

    header: Region
    counters: dict[str, int]
    #: Whether the run has few keys.
    few: bool = False
    #: Other packs that it refers to.
    refs: bytes = b""
    #: The digest of the header of the chunk that it was made from, how it differs, and whether that is a Delta.
    base: bytes = b""
    change: Region | None = None
    summed: bool = False
    #: Bytes of the leaves that were mapped; -1 for all of the chunk.
    mapped: int = -1

    def ref(self, pack: bytes, may_be_few: bool) -> RunRef:
        """Where it is, once the pack has a name; `may_be_few` if its tree may have few shards."""
        return RunRef(pack, *self.header, self.few and may_be_few)

    def stored_change(self, pack: bytes) -> StoredChange | None:
        return StoredChange(self.base, RunRef(pack, *self.change), self.summed) if self.change is not None else None


def write_mapped(mapped: Mapped, combiner: Combiner, size: int | None, pack: PackBuilder) -> WrittenChunk:
    """Write a chunk as a base. A table that is larger than `size`, the chunk's bytes, is not kept."""
    row = mapped.runs.write(combiner, pack)
    table = mapped.table
    if table is not None and size is not None and len(table.to_bytes()) > size * LARGEST_TABLE:
        table = None
    return WrittenChunk(_write_base(row, table, pack), mapped.counters, _is_few(row))


def _write_base(row: tuple[Any, ...], table: LeafTable | None, pack: PackBuilder) -> Region:
    rows = np.array([row], SHARD_ROW)
    if table is None:
        return write_header(rows, [b""], pack)
    return write_header(rows, [b""], pack, pack.add_region(table.to_bytes()), pack.add_region(table.leaves.to_bytes()))


def _is_few(row: tuple[Any, ...]) -> bool:
    return bool(as_row(row)["keys"] < SMALL_RUN)


def write_by_nearest(
    mapper: Mapper,
    leaves: Leaves,
    combiner: Combiner,
    old: Sequence[RunRef],
    chunk: bytes,
    reader: Reader,
    pack: PackBuilder,
) -> WrittenChunk | None:
    """Map and write a chunk by one of the `old` ones, whose place it takes; `chunk` is its id.

    None where none serves, or what is stored of it is lost.
    """
    with suppress(BlockLost):
        found = _nearest(leaves, old, reader)
        if found is None:
            return None
        stored, grouped = found
        before = read_run(stored.ref, reader)
        made = described(mapper, leaves, grouped, combiner, before, stored)
        if made is not None:
            return _write_described(made, before, chunk, pack)
    return None


def write_by_recut(
    mapper: Mapper,
    recut: KnownBase,
    cutting: Cutting,
    combiner: Combiner,
    chunk: bytes,
    reader: Reader,
    pack: PackBuilder,
) -> WrittenChunk | None:
    """The same for a chunk of which it is known what it has of an old one: of its bytes only the others are read."""
    with suppress(BlockLost):
        stored = StoredLeaves(recut.ref, reader)
        leaves = cutting.recut(recut.pieces, stored.leaves)
        if leaves is None or leaves.kept is None or not worth_patching(float(np.mean(leaves.kept >= 0))):
            return None
        before = read_run(stored.ref, reader)
        made = described(mapper, leaves, False, combiner, before, stored)
        if made is not None:
            return _write_described(made, before, chunk, pack)
    return None


def _nearest(leaves: Leaves, old: Sequence[RunRef], reader: Reader) -> tuple[StoredLeaves, bool] | None:
    """The old chunk with the most of these leaves, and whether it is kept by group."""
    best: tuple[float, StoredLeaves, bool] | None = None
    for ref in old:
        with suppress(BlockLost):
            stored = StoredLeaves(ref, reader)
            known = set(stored.leaves.ids.tolist())
            share, grouped = _share(leaves.cut, known), False
            if known and not share:
                share, grouped = _share(leaves.cut_by_group, known), True
            if worth_patching(share) and (best is None or share > best[0]):
                best = share, stored, grouped
            if share > _SURELY_NEAREST:
                break
    return best[1:] if best is not None else None


def _share(leaves: LeafIds, known: set[bytes]) -> float:
    return sum(id_ in known for id_ in leaves.ids.tolist()) / len(leaves)


def _write_described(made: Described, old: Part, chunk: bytes, pack: PackBuilder) -> WrittenChunk:
    patch = made.patch()
    refs = b""
    if patch.too_large(chunk):
        run, table = made.folded(old)
        row = write_part(run, 0, pack, whole=True)
        header = _write_base(row, table, pack)
    else:
        row, packs = rewrite_part(old, made.changed, made.fresh, made.held, pack)
        if packs:
            refs = b"".join(sorted({*packs, patch.base.pack}))
            header = write_header(np.array([row], SHARD_ROW), [refs], pack, pack.add_region(patch.to_bytes()))
        else:  # it was written anew
            header = _write_base(row, made.folded(old)[1], pack)
    change = made.delta.to_run().to_bytes() if made.delta is not None else made.change.to_bytes()
    return WrittenChunk(
        *(header, made.counters(), _is_few(row), refs, made.stored.ref.digest, pack.add_region(change)),
        summed=made.delta is not None,
        mapped=made.mapped_bytes,
    )
