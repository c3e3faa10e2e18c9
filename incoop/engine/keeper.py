"""Write what ran: an entry after the pack that it points to, the generation last.

Contract: a crash at any moment leaves entries that are whole, and the last generation that was committed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incoop.contraction.parts.headers import RunHeader, RunRef, write_header
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.rows import SHARD_ROW
from incoop.engine.record import Record
from incoop.engine.stages.map_contract.contract_task import ShardDone
from incoop.engine.stages.map_contract.map_task import MapDone
from incoop.engine.stages.map_contract.plan import TreePlan
from incoop.memo import MemoEntry, MemoStore
from incoop.memo.null import NullMemo


@dataclass(frozen=True, slots=True)
class Keeper:
    """Keeps the results of one run."""

    memo: MemoStore | NullMemo
    generation: int

    def mapped(self, answer: Sequence[object]) -> None:
        """Write the entries of a finished Spark task, while others are still running."""
        self.memo.store(
            {each.id: _entry(each.ref, inline=_inline(each.counters)) for each in answer if isinstance(each, MapDone)}
        )

    def contracted(
        self,
        plan: TreePlan,
        places: list[tuple[int, int]],
        output_id: bytes,
        done: list[ShardDone],
        counters: dict[str, int],
    ) -> RunRef:
        """Write the headers of new nodes and of the output, then their entries; tell the plan, return the output."""
        pack = PackBuilder()
        headers = []
        for number in range(len(places) + 1):
            rows = np.frombuffer(b"".join(each.rows[number] for each in done), SHARD_ROW)
            refs = [each.refs[number] for each in done]
            headers.append((RunHeader(rows, tuple(refs)), write_header(rows, refs, pack)))
        name = self.memo.blobs.write(pack.parts)
        entries: dict[bytes, MemoEntry] = {}
        refs_of = []
        ids = [bytes(plan.levels[level].ids[index]) for level, index in places]
        for id_, (header, (digest, offset, length)) in zip([*ids, output_id], headers, strict=True):
            ref = RunRef(name, digest, offset, length)
            refs_of.append(ref)
            counted = _inline(counters) if id_ == output_id else b""
            entries[id_] = _entry(ref, refs=b"".join(sorted(header.packs())), inline=counted)
        self.memo.store(entries)
        for (level, index), ref in zip(places, refs_of, strict=False):
            plan.learn(level, index, ref)
        return refs_of[-1]

    def note(self, id_: bytes, content: bytes) -> None:
        """Write something small."""
        self.memo.store({id_: MemoEntry(inline=content)})

    def rekeyed(self, ids: Mapping[bytes, bytes]) -> None:
        """Write entries that are known by one id under another one, too."""
        entries = self.memo.lookup(list(ids))
        self.memo.store({new: entry for new, entry in zip(ids.values(), entries, strict=True) if entry is not None})

    def commit(self, job: str, record: Record, others: list[bytes]) -> bool:
        """End the generation; its runs and `others` are what must not be collected. Says whether it is recorded."""
        live = b"".join([*(level.ids[level.refs["length"] > 0].tobytes() for level in record.levels), *others])
        return self.memo.commit_generation(job, self.generation, record.to_bytes(), live)


def _entry(ref: RunRef, **fields: Any) -> MemoEntry:
    return MemoEntry(pack=ref.pack, offset=ref.offset, length=ref.length, digest=ref.digest, **fields)


def _inline(counters: dict[str, int]) -> bytes:
    return json.dumps(counters).encode() if counters else b""
