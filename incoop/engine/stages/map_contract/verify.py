"""The last line of defence: compute a share of a run's results again, from scratch, and compare with what is kept.

Contract: chunks are mapped and shards contracted and reduced in a process of its own, which gets the functions as
workers do and finds nothing in the memo. What differs is an error that names it; what is kept is not changed.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from incoop.base.errors import IncoopError
from incoop.code import Shipment
from incoop.contraction.columns.encoding import encode
from incoop.contraction.parts.headers import RunHeader, RunRef, read_run
from incoop.contraction.tree.node import NodeTask
from incoop.engine.output import Output, OutputBlock, Sharded, Unreduced
from incoop.engine.running.fresh_process import run_in_fresh_process
from incoop.engine.stages.map_contract.contract_task import ContractSpec, ShardDone, contract_shards
from incoop.engine.stages.map_contract.map_task import ChunkTask, MapDone, MapSpec, map_group
from incoop.engine.stages.map_contract.plan import TreePlan
from incoop.engine.stored import BlobReader


class NotAsBefore(IncoopError):
    """There is no result of the job's code and input as they are now that could be verified."""

    def __init__(self, job: str, why: str) -> None:
        super().__init__(job, why)
        self.job, self.why = job, why

    def __str__(self) -> str:
        return (
            f"the input or the code of job {self.job!r} changed since its last run ({self.why}). "
            "Run it again, then verify."
        )


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies one run."""

    share: float
    code: Shipment
    reader: BlobReader

    def some(self, count: int) -> list[int]:
        """Numbers below `count`: the share of them, at least one, by chance."""
        return sorted(random.sample(range(count), min(count, math.ceil(count * self.share))))

    def chunks(self, spec: MapSpec, tasks: Sequence[ChunkTask], kept: Sequence[RunRef], shards: int) -> int | None:
        """The number of the first of these tasks that comes out otherwise than what is kept; None where all agree."""
        spec = replace(spec, code=self.code, check_combiner=False)
        alone = [replace(task, old=(), base=None) for task in tasks]  # nothing of a leaf is taken from what is kept
        (answers,) = run_in_fresh_process(partial(map_group, spec), [alone])
        again = {each.id: each.ref for each in answers if isinstance(each, MapDone)}
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        for number, (task, ref) in enumerate(zip(tasks, kept, strict=True)):
            if task.id not in again or self._pairs_of(ref, shards) != self._pairs_of(again[task.id], shards):
                return number
        return None

    def _pairs_of(self, ref: RunRef, shards: int) -> Counter[bytes]:
        """What a chunk's run holds."""
        if not shards:
            return _counted(Unreduced([ref], self.reader), 0, self.reader)
        return Counter({read_run(ref, self.reader).content(): 1})

    def shards(self, spec: ContractSpec, plan: TreePlan, output: Sharded, chosen: Sequence[int]) -> int | None:
        """The first of these shards whose output comes out otherwise than what is kept; None where all agree."""
        nodes = [NodeTask(task.id, task.children) for task in _all_nodes(plan)]
        spec = replace(
            spec,
            code=self.code,
            nodes=tuple(nodes),
            old_root=None,
            old_output=None,
            refs=plan.refs_for(nodes, {plan.root}),
            changes={},
        )
        (answer,) = run_in_fresh_process(partial(contract_shards, spec), [list(chosen)])
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, list)
        rows = output.header.rows.copy()
        for each in answer:
            if isinstance(each, ShardDone):
                rows[each.shard] = _row(each.rows[-1], rows.dtype)
        again = Sharded(RunHeader(rows, output.header.refs))
        for shard in chosen:
            if _counted(output, shard, self.reader) != _counted(again, shard, self.reader):
                return shard
        return None


def _all_nodes(plan: TreePlan) -> list[NodeTask]:
    return [
        plan.node_task(level, node)
        for level in range(1, len(plan.levels))
        for node in range(len(plan.levels[level].ids))
    ]


def _row(data: bytes, kind: Any) -> Any:
    import numpy as np

    return np.frombuffer(data, kind)[0]


def _counted(output: Output, part: int, reader: BlobReader) -> Counter[bytes]:
    """The pairs of a part of an output, whatever their order and the form in which they are stored."""
    blocks: list[OutputBlock] = output.blocks(part, reader)
    return Counter(encode(pair) for block in blocks for pair in block.pairs(reader))
