"""What one run of a job leaves for the next: the tree it built, level by level, and where its runs are.

Contract: `from_bytes(to_bytes())` is the identity. The record is signed by the memo store; a record of another format
is ignored, and everything is found again by task id.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.parts.rows import REF_ROW

#: Bumped whenever the layout or the meaning of ids changes.
RECORD_FORMAT = 1

_HEAD = struct.Struct("<II")  # format, bytes of the JSON part

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


@dataclass(slots=True)
class Record:
    """A generation's tree and facts."""

    levels: list[Level]
    #: Everything small: fingerprints by part, totals, the output's reference.
    facts: dict[str, Any]

    def to_bytes(self) -> bytes:
        facts = self.facts | {"levels": [[len(level.ids), len(level.ends)] for level in self.levels]}
        head = json.dumps(facts, separators=(",", ":")).encode()
        columns = [
            np.ascontiguousarray(column).tobytes()
            for level in self.levels
            for column in (level.ids, level.refs, level.ends)
        ]
        return b"".join([_HEAD.pack(RECORD_FORMAT, len(head)), head, *columns])

    @classmethod
    def from_bytes(cls, data: bytes) -> Record | None:
        """Read a record; None when another release wrote it."""
        version, size = _HEAD.unpack_from(data)
        if version != RECORD_FORMAT:
            return None
        at = _HEAD.size + size
        facts = json.loads(data[_HEAD.size : at])
        levels = []
        for count, end_count in facts.pop("levels"):
            ids = np.frombuffer(data, "V16", count, at)
            at += 16 * count
            refs = np.frombuffer(data, REF_ROW, count, at)
            at += REF_ROW.itemsize * count
            ends = np.frombuffer(data, "<i8", end_count, at)
            at += 8 * end_count
            levels.append(Level(ids, refs, ends))
        return cls(levels, facts)
