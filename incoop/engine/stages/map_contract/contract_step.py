"""The second step of a job: contract the missing nodes, reduce what changed at the root; one task does some shards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from incoop.base.errors import IncoopError
from incoop.code import Observed
from incoop.contraction.parts.packs import BlockLost
from incoop.contraction.tree.node import NodeTask, NotIntegers
from incoop.engine.events import DidExecute, DidLay, DidReuse, WillRun
from incoop.engine.failures import AtKey, JobFailed
from incoop.engine.running.nearby import cores
from incoop.engine.running.work import Nearby, Work
from incoop.engine.stages.map_contract.contract_task import ContractSpec, ReduceFailed, ShardDone, contract_shards
from incoop.engine.stages.map_contract.identity import CONTRACT, JobIdentity
from incoop.engine.stages.map_contract.map_step import FEW_LEAVES
from incoop.engine.stages.map_contract.plan import WIDE
from incoop.engine.stages.map_contract.result_entries import keep_contracted
from incoop.engine.stages.map_contract.state import JobState
from incoop.engine.stages.map_contract.task_groups import FEW_NODES, even_parts, shards_shared_out

Answer = list[ShardDone | Observed] | ReduceFailed | IncoopError


class ContractStep:
    """Runs become a tree, and its root's keys the output."""

    name = CONTRACT

    def __init__(self, stage: JobState) -> None:
        self._stage = stage
        self._nodes: list[NodeTask] = []
        self._missing: list[tuple[int, int]] = []
        self._spec: ContractSpec | None = None
        self._seconds = 0.0

    def work(self) -> Work | None:
        stage = self._stage
        if stage.job.reducer is None or stage.output is not None:
            return None
        self._missing = stage.plan.needed()[1]
        stage.attempt.events.tell(DidLay(stage.plan.counts()))
        stage.attempt.events.tell(DidReuse(self.name, stage.plan.known_nodes()))
        self._nodes = [stage.plan.node_task(level, index) for level, index in self._missing]
        combines = stage.plan.node_count * stage.shards
        stage.attempt.events.tell(WillRun({"combine": combines, "reduce": stage.shards}))
        self._spec = spec = self.spec(self._nodes)
        return Work(
            step=self.name,
            ids=tuple(node.id for node in self._nodes),
            what=f"contract {len(self._nodes)} nodes, reduce",
            function=contract_shards,
            spec=spec,
            share=partial(shards_shared_out, stage.shards, len(self._nodes)),
            bytes=self._size(spec),
            nearby=self._nearby(spec),
            keeps_places=True,
        )

    def _size(self, spec: ContractSpec) -> int:
        """Bytes of input behind what is read: all of it, or of what came since the last output, as a guess."""
        plan, chunked = self._stage.plan, self._stage.chunked
        if spec.old_root is None or self._stage.recalled.old is None:
            return chunked.size
        fresh = ~np.isin(plan.chunks.ids, self._stage.recalled.old.levels[0].ids)
        described = fresh & np.isin(plan.chunks.ids, np.array(list(self._stage.changes), "V16"))
        lengths = chunked.rows["length"].astype(np.int64)
        return int(lengths[fresh & ~described].sum() + lengths[described].sum() // FEW_LEAVES)

    def _nearby(self, spec: ContractSpec) -> Nearby | None:
        job = self._stage.job
        if not job.hints.nearby or len(spec.nodes) > FEW_NODES:
            return None
        # Of an update little is read, but without a combiner it is all values of a key.
        update = job.combiner is not None and spec.old_root is not None
        return Nearby(even_parts(spec.shards, cores()), 0 if update else self._stage.chunked.size, update)

    def spec(self, nodes: list[NodeTask], update: bool = True) -> ContractSpec:
        """What tasks share: these nodes, and the last output where it can be updated."""
        stage, plan = self._stage, self._stage.plan
        # That needs the same reducer, and a tree that compares.
        old = stage.recalled.old if update else None
        if old is not None and (old.shards != stage.shards or old.reduce != stage.recalled.identity.reduce.hex()):
            old = None
        old_root = bytes(old.levels[-1].ids[0]) if old is not None and old.output is not None else None
        flat = stage.job.combiner is None and bool(nodes)
        if flat and nodes[0].old_id is None:
            old_root = None
        others = {plan.root} | ({old_root} if old_root is not None else set())
        refs = plan.refs_for(nodes, others)
        if not flat and old_root not in refs:  # the root of a flat tree is not stored
            old_root = None
        return ContractSpec(
            code=stage.functions,
            shards=stage.shards,
            worker=stage.attempt.memo.worker_config(),
            nodes=tuple(nodes),
            root=plan.root,
            old_root=old_root,
            old_output=old.output if old_root is not None and old is not None else None,
            refs=refs,
            wide=stage.shape == WIDE,
            changes={id_: change for id_, change in stage.changes.items() if id_ in refs},
        )

    def keep(self, answer: Answer) -> None:
        """Headers of nodes go over all shards: nothing can be kept before all are there."""

    def ran(self, answers: Sequence[Answer], seconds: float) -> None:
        self._seconds = seconds

    def rekey(self, identity: JobIdentity, covered: Sequence[Answer]) -> None:
        """Nothing is kept of it."""

    def take(self, answers: Sequence[Answer]) -> None:
        stage = self._stage
        if losses := [answer for answer in answers if isinstance(answer, BlockLost)]:
            raise BlockLost.of_all(losses)
        done: list[ShardDone] = []
        for answer in answers:
            if isinstance(answer, NotIntegers):  # a sum of something else: another tree
                stage.narrow = True
                stage.lay()
                return
            if isinstance(answer, ReduceFailed):
                at = AtKey(answer.key, answer.plain_key)
                raise JobFailed(stage.name, str(at), answer.error, answer.trace, at, answer.cause)
            if isinstance(answer, IncoopError):
                raise answer
            done += [each for each in answer if isinstance(each, ShardDone)]
        done.sort(key=lambda each: each.shard)
        assert self._spec is not None
        stage.tallies.reduced(done, stage.recalled.old if self._spec.old_root is not None else None)
        self._tell(done)
        # Without a combiner the one node is not stored.
        missing = [] if stage.job.combiner is None else self._missing
        stage.output = keep_contracted(
            stage.attempt.keeper, stage.plan, missing, stage.output_id, done, stage.tallies.by_reducers
        )

    def _tell(self, done: Sequence[ShardDone]) -> None:
        """The wall time is divided as the tasks' own time was."""
        contract, reduce = sum(each.contract_seconds for each in done), sum(each.reduce_seconds for each in done)
        share = contract / (contract + reduce) if contract + reduce else 1.0
        self._stage.attempt.events.tell(
            DidExecute(
                self.name,
                tuple(node.id for node in self._nodes),
                {
                    "combine": sum(each.combined for each in done),
                    "reduce": sum(each.reduced_keys > 0 for each in done),
                },
                {"contract": self._seconds * share, "reduce": self._seconds * (1 - share)},
                keys=sum(each.reduced_keys for each in done),
            )
        )
