"""Leaves: content-defined pieces of a chunk whose map results are kept one by one.

Contract: a chunk in which one record changed maps one leaf again and takes the others from what the chunk before it
kept. A leaf's result depends on its bytes and the job's code alone, so a chunk's run is the same whether its leaves
were mapped or taken.

All leaves of a chunk are one compressed region of its pack: it is read only when the chunk changed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import zstandard

from contraction.columns import Column
from contraction.wire import read_column, write_column
from inchdfs.records import RecordFormat
from inchdfs.settings import ChunkSettings
from inchdfs.splitter import Splitter

#: Leaves are cut in chunks that hold at least this many; smaller chunks are mapped as a whole.
_LEAVES_IN_A_CHUNK = 4

_COUNT = struct.Struct("<I")
_LEAF = struct.Struct("<16sII")  # id, bytes of its columns, bytes of its counters

#: zstd's fast level halves leaves of words at a cost of about 2 % of mapping them.
_ZSTD_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Leaf:
    """What mapping one leaf gave: keys in order of first occurrence, with their values, and what was counted."""

    id: bytes
    columns: bytes
    counters: dict[str, int]

    @classmethod
    def of_values(cls, id_: bytes, single: dict[Any, Any], counters: dict[str, int]) -> Leaf:
        """A leaf whose values were added up: each key has one, an integer."""
        return cls(id_, _packed(Column.of(list(single)), Column.of(list(single.values())), None), counters)

    @classmethod
    def of_groups(cls, id_: bytes, groups: dict[Any, list[Any]], counters: dict[str, int]) -> Leaf:
        """A leaf whose values went through the combiner, if there is one: a key may have several."""
        counts = [len(values) for values in groups.values()]
        values = Column.of([value for each in groups.values() for value in each])
        return cls(id_, _packed(Column.of(list(groups)), values, counts), counters)

    @property
    def summed(self) -> bool:
        """Whether its values were added up on the way, rather than given to the combiner."""
        return self.columns[0] == 0

    def values(self) -> Iterator[tuple[Any, Any]]:
        """Each key with its one value."""
        keys, values, _ = self._unpacked()
        return zip(keys, values, strict=True)

    def groups(self) -> Iterator[tuple[Any, list[Any]]]:
        """Each key with its values."""
        keys, values, counts = self._unpacked()
        at = 0
        for number, key in enumerate(keys):
            count = counts[number] if counts is not None else 1
            yield key, values[at : at + count]
            at += count

    def _unpacked(self) -> tuple[list[Any], list[Any], list[int] | None]:
        keys, at = read_column(self.columns, 1)
        values, at = read_column(self.columns, at)
        counts = read_column(self.columns, at)[0].to_list() if self.columns[0] else None
        return keys.to_list(), values.to_list(), counts


def _packed(keys: Column, values: Column, counts: list[int] | None) -> bytes:
    out = [b"\0" if counts is None else b"\1"]
    write_column(keys, out)
    write_column(values, out)
    if counts is not None:
        write_column(Column.of(counts), out)
    return b"".join(out)


def write_leaves(leaves: list[Leaf]) -> bytes:
    """The region of a chunk's leaves."""
    parts = [_COUNT.pack(len(leaves))]
    for leaf in leaves:
        counted = json.dumps(leaf.counters).encode() if leaf.counters else b""
        parts += [_LEAF.pack(leaf.id, len(leaf.columns), len(counted)), leaf.columns, counted]
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(b"".join(parts))


def read_leaves(region: bytes) -> Iterable[Leaf]:
    """The leaves of a region. The bytes must have been verified."""
    data = zstandard.ZstdDecompressor().decompress(region)
    (count,) = _COUNT.unpack_from(data)
    at = _COUNT.size
    for _ in range(count):
        id_, size, counted = _LEAF.unpack_from(data, at)
        at += _LEAF.size
        columns, counters = data[at : at + size], data[at + size : at + size + counted]
        yield Leaf(id_, columns, json.loads(counters) if counters else {})
        at += size + counted


def leaf_splitter(size: int | None, chunk: int, records: RecordFormat) -> Splitter | None:
    """What cuts a chunk of so many bytes into leaves of about `size`; None when it is too small, or it is not wanted.

    FastCDC, since leaves are cut once for every chunk that is mapped and Rabin would cost a tenth of mapping.
    """
    if size is None or chunk < size * _LEAVES_IN_A_CHUNK:
        return None
    return Splitter(ChunkSettings(average=size, chunker="fastcdc"), records)
