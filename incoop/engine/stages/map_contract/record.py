"""What a run of a job leaves for the next: the tree it built, level by level, where its runs are, and what was learned.

Contract: `from_bytes(to_bytes())` is the identity.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.rows import REF_ROW

_HEAD = struct.Struct("<I")  # bytes of the JSON part

Ids = npt.NDArray[Any]


@dataclass(slots=True)
class Level:
    """One level of the tree: chunk runs at the bottom, one root at the top."""

    ids: Ids
    refs: npt.NDArray[Any]
    #: The end index of each node's children in the level below; empty for the bottom.
    ends: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def children(self, node: int) -> slice:
        """Where a node's children are in the level below."""
        return slice(int(self.ends[node - 1]) if node else 0, int(self.ends[node]))


@dataclass(frozen=True, slots=True)
class Trial:
    """How often the combiner was tried, and on how much."""

    #: The print of the reducer that it was tried with.
    reducer: str = ""
    #: Values of keys with several.
    values: int = 0
    times: int = 0

    def again(self, values: int) -> Trial:
        return Trial(self.reducer, self.values + values, self.times + 1)


@dataclass(frozen=True, slots=True)
class RefusedCombiner:
    """A combiner that emits other keys than it was given, so that nothing can be contracted with it."""

    #: Its print.
    combiner: str
    #: A key that it was given, and one that it emitted.
    given: str
    emitted: str


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """The tree of a run, and what its stage wants to know of it."""

    levels: list[Level]
    #: The version of stored values.
    encoding: int
    #: Prints of all that shapes the tree, and of the reducer.
    tree: str
    reduce: str
    shards: int
    #: Which mapper each chunk's run is of, as pairs of its number and how many chunks follow each other.
    mappers: tuple[tuple[int, int], ...] = ()
    #: Where the output is; None for a map-only job, or an empty input.
    output: RunRef | None = None
    refused: RefusedCombiner | None = None
    trial: Trial = Trial()
    #: The print of a combiner that is known not to add up integers; empty for none.
    narrow: str = ""
    #: What each chunk's mapper counted, by run id; what all reducer calls behind the output counted.
    map_counters: dict[bytes, dict[str, int]] = field(default_factory=dict)
    reduce_counters: dict[str, int] = field(default_factory=dict)

    def chunks_alone(self) -> TreeRecord:
        """The same without nodes: for a tree whose nodes are cut otherwise."""
        return TreeRecord(self.levels[:1], self.encoding, self.tree, self.reduce, self.shards, self.mappers)

    @property
    def mapper_of(self) -> npt.NDArray[np.int64]:
        """Which mapper each chunk's run is of."""
        which, counts = np.array(self.mappers, np.int64).reshape(-1, 2).T
        return np.repeat(which, counts)

    def to_bytes(self) -> bytes:
        head = json.dumps(
            {
                "levels": [[len(level.ids), len(level.ends)] for level in self.levels],
                "encoding": self.encoding,
                "tree": self.tree,
                "reduce": self.reduce,
                "shards": self.shards,
                "mappers": self.mappers,
                "output": self.output.to_fact() if self.output is not None else None,
                "refused": _values(self.refused) if self.refused is not None else None,
                "trial": _values(self.trial),
                "narrow": self.narrow,
                "map_counters": {id_.hex(): counts for id_, counts in self.map_counters.items()},
                "reduce_counters": self.reduce_counters,
            },
            separators=(",", ":"),
        ).encode()
        columns = [
            np.ascontiguousarray(column).tobytes()
            for level in self.levels
            for column in (level.ids, level.refs, level.ends)
        ]
        return b"".join([_HEAD.pack(len(head)), head, *columns])

    @classmethod
    def from_bytes(cls, data: bytes) -> TreeRecord:
        (size,) = _HEAD.unpack_from(data)
        at = _HEAD.size + size
        head = json.loads(data[_HEAD.size : at])
        levels = []
        for count, end_count in head.pop("levels"):
            ids = np.frombuffer(data, "V16", count, at)
            at += 16 * count
            refs = np.frombuffer(data, REF_ROW, count, at)
            at += REF_ROW.itemsize * count
            ends = np.frombuffer(data, "<i8", end_count, at)
            at += 8 * end_count
            levels.append(Level(ids, refs, ends))
        output, refused = head.pop("output"), head.pop("refused")
        return cls(
            levels=levels,
            mappers=tuple((which, count) for which, count in head.pop("mappers")),
            output=RunRef.of_fact(output) if output is not None else None,
            refused=RefusedCombiner(*refused) if refused is not None else None,
            trial=Trial(*head.pop("trial")),
            map_counters={bytes.fromhex(id_): counts for id_, counts in head.pop("map_counters").items()},
            **head,
        )


def in_rows(mapper_of: npt.NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Numbers of mappers as `TreeRecord` holds them.

    Example:
        >>> in_rows(np.array([0, 0, 0, 1]))
        ((0, 3), (1, 1))
    """
    begins = np.flatnonzero(np.diff(mapper_of, prepend=-1))
    counts = np.diff(begins, append=len(mapper_of))
    return tuple(zip(mapper_of[begins].tolist(), counts.tolist(), strict=True))


def _values(record: Trial | RefusedCombiner) -> list[Any]:
    return [getattr(record, name) for name in record.__slots__]
