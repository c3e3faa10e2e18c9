"""Write what map and contract tasks gave: headers and entries, each after the pack that it points to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from incoop.contraction.parts.headers import RunHeader, RunRef, write_header
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.rows import SHARD_ROW
from incoop.engine.keeper import Keeper
from incoop.engine.stages.map_contract.contract_task import ShardDone
from incoop.engine.stages.map_contract.map_task import MapDone
from incoop.engine.stages.map_contract.plan import Place
from incoop.engine.stored import entry_of_run
from incoop.memo import MemoEntry


def keep_mapped(keeper: Keeper, done: Sequence[MapDone]) -> None:
    """Write the entries of mapped chunks."""
    keeper.store({each.id: entry_of_run(each.ref, refs=each.refs, inline=_inline(each.counters)) for each in done})


def keep_contracted(
    keeper: Keeper,
    nodes: Mapping[Place, bytes],
    output_id: bytes,
    done: Sequence[ShardDone],
    counters: Mapping[str, int],
) -> tuple[dict[Place, RunRef], RunRef]:
    """Write the headers of new nodes and of the output, then their entries; return where each is."""
    pack = PackBuilder()
    headers = []
    for number in range(len(nodes) + 1):
        rows = np.frombuffer(b"".join(each.rows[number] for each in done), SHARD_ROW)
        refs = [each.refs[number] for each in done]
        headers.append((RunHeader(rows, tuple(refs)), write_header(rows, refs, pack)))
    name = keeper.memo.blobs.write(pack.parts)
    entries: dict[bytes, MemoEntry] = {}
    refs_of = []
    for id_, (header, (digest, offset, length)) in zip([*nodes.values(), output_id], headers, strict=True):
        ref = RunRef(name, digest, offset, length)
        refs_of.append(ref)
        counted = _inline(counters) if id_ == output_id else b""
        entries[id_] = entry_of_run(ref, refs=b"".join(sorted(header.packs())), inline=counted)
    keeper.store(entries)
    *of_nodes, output = refs_of
    return dict(zip(nodes, of_nodes, strict=True)), output


def _inline(counters: Mapping[str, int]) -> bytes:
    return json.dumps(dict(counters)).encode() if counters else b""
