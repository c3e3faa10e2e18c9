"""The second step of a job: contract the missing nodes, reduce what changed at the root; one task does some shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
        stage, laid = self._stage, self._stage.laid
        if stage.job.reducer is None or laid.output is not None:
            return None
        plan, shards = laid.plan, laid.shards
        self._missing = plan.needed()[1]
        stage.attempt.events.tell(DidLay(plan.counts()))
        stage.attempt.events.tell(DidReuse(self.name, plan.known_nodes()))
        self._nodes = [plan.node_task(level, index) for level, index in self._missing]
        stage.attempt.events.tell(WillRun({"combine": plan.node_count * shards, "reduce": shards}))
        self._spec = spec = self.spec(self._nodes)
        return Work(
            step=self.name,
            ids=tuple(node.id for node in self._nodes),
            what=f"contract {len(self._nodes)} nodes, reduce",
            function=contract_shards,
            spec=spec,
            share=partial(shards_shared_out, shards, len(self._nodes)),
            bytes=self._size(spec),
            nearby=self._nearby(spec),
            keeps_places=True,
        )

    def _size(self, spec: ContractSpec) -> int:
        """Bytes of input behind what is read: all of it, or of what came since the last output, as a guess."""
        laid, chunked = self._stage.laid, self._stage.chunked
        if spec.old_root is None or self._stage.recalled.old is None:
            return chunked.size
        ids = laid.plan.chunks.ids
        fresh = ~np.isin(ids, self._stage.recalled.old.levels[0].ids)
        described = fresh & np.isin(ids, np.array(list(laid.changes), "V16"))
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
        stage, laid = self._stage, self._stage.laid
        # That needs the same reducer, and a tree that compares.
        old = stage.recalled.old if update else None
        if old is not None and (old.shards != laid.shards or old.reduce != stage.recalled.identity.reduce.hex()):
            old = None
        old_root = bytes(old.levels[-1].ids[0]) if old is not None and old.output is not None else None
        flat = stage.job.combiner is None and bool(nodes)
        if flat and nodes[0].old_id is None:
            old_root = None
        others = {laid.plan.root} | ({old_root} if old_root is not None else set())
        refs = laid.plan.refs_for(nodes, others)
        if not flat and old_root not in refs:  # the root of a flat tree is not stored
            old_root = None
        return ContractSpec(
            code=stage.functions,
            shards=laid.shards,
            worker=stage.attempt.memo.worker_config(),
            nodes=tuple(nodes),
            root=laid.plan.root,
            old_root=old_root,
            old_output=old.output if old_root is not None and old is not None else None,
            refs=refs,
            wide=stage.shape == WIDE,
            changes={id_: change for id_, change in laid.changes.items() if id_ in refs},
        )

    def keep(self, answer: Answer) -> None:
        """Headers of nodes go over all shards: nothing can be kept before all are there."""

    def ran(self, answers: Sequence[Answer], seconds: float) -> None:
        self._seconds = seconds

    def rekey(self, identity: JobIdentity, covered: Sequence[Answer]) -> None:
        """Nothing is kept of it."""

    def take(self, answers: Sequence[Answer]) -> None:
        stage, laid = self._stage, self._stage.laid
        if losses := [answer for answer in answers if isinstance(answer, BlockLost)]:
            raise BlockLost.of_all(losses)
        done: list[ShardDone] = []
        for answer in answers:
            if isinstance(answer, NotIntegers):  # a sum of something else: another tree
                stage.narrow = True
                stage.laid = stage.lay(laid.plan, laid.changes)
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
        ids = {} if stage.job.combiner is None else {place: laid.plan.id_at(place) for place in self._missing}
        counted, output_id = stage.tallies.by_reducers, stage.output_id(laid.plan)
        nodes, output = keep_contracted(stage.attempt.keeper, ids, output_id, done, counted)
        stage.laid = replace(laid, plan=laid.plan.learned(nodes), output=output)

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
