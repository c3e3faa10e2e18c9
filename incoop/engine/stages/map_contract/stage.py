"""A job as a stage: chunks are mapped, runs are contracted, changed keys are reduced.

Contract: what is decided says all that will run. The tree is laid when the runs of all chunks are known, since their
keys say how many shards it has; before that it is only guessed at, to be told.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from incoop.base.checksums import block_hash
from incoop.base.content_ids import content_id
from incoop.base.errors import BadCall, IncoopError
from incoop.contraction.columns.encoding import ENCODING_VERSION
from incoop.contraction.parts.headers import RunHeader, RunRef
from incoop.contraction.parts.packs import BlockLost
from incoop.contraction.parts.part import ChunkRuns, shard_part
from incoop.contraction.tree.combine import CombinerChangesKeys
from incoop.engine.events import DidLay, DidReuse, WillRun
from incoop.engine.failures import NotDeterministic
from incoop.engine.inputs import BlockSource, chunk_inputs
from incoop.engine.output import Output, Sharded, Unreduced
from incoop.engine.record import Record
from incoop.engine.stage import Finished, OutputUnknown, RunOptions, Step
from incoop.engine.stages.map_contract.decision import JobDecision, Recalled
from incoop.engine.stages.map_contract.identity import CONTRACT, MAP, JobIdentity, identify
from incoop.engine.stages.map_contract.leaves import has_leaves
from incoop.engine.stages.map_contract.plan import TreePlan, plan_chunks, run_ids
from incoop.engine.stages.map_contract.record import RefusedCombiner, TreeRecord, Trial, in_rows
from incoop.engine.stages.map_contract.state import JobState, Laid
from incoop.engine.stored import run_of_entry
from incoop.inchdfs.cutting.parallel import SegmentRunner


class MapContract(JobState):
    """One job on its way through a run."""

    #: The number is that of what `TreeRecord` holds.
    kind = "map contract reduce 3"

    @property
    def proves(self) -> bool:
        return self.job.version is None

    @property
    def memoizes(self) -> bool:
        return self.job.memoize

    def identify(self) -> JobIdentity:
        return identify(self.job)

    def look(self, options: RunOptions, segments: SegmentRunner | None) -> int:
        self.chunked = chunk_inputs(
            *(self.job, self._inputs, self._store, options.chunks, options.paranoid, segments),
            will_read=self.attempt.runner.prepare,
            helpers=self.attempt.runner.helpers,
            whole=not has_leaves(self.job),
        )
        return self.chunked.size

    def input_id(self) -> bytes:
        return content_id(self.chunked.rows["id"].tobytes() + self.chunked.mapper_of.tobytes())

    def decide(self, coded: JobIdentity, identity: JobIdentity, before: Record | None) -> JobDecision:
        """(1) Recall the last run; (2) find the runs of chunks; (3) lay the tree, find its nodes and the output."""
        lost = bool(self.attempt.lost)
        self.recalled = Recalled.of(identity, before, lost)  # step (1)
        self._recall_combiner(coded)
        ids = run_ids(identity.map, self.chunked.mapper_of, self.chunked.rows["id"])  # step (2)
        chunks = self.find(plan_chunks(ids, self.recalled.old, self._mapper_of))
        laid = self.lay(chunks)  # step (3)
        self.laid = replace(laid, output=self._find_output(laid.plan) if len(ids) else None)
        plan, shards, steps = laid.plan, laid.shards, self._steps()
        self.decision = JobDecision.of(
            *(self.name, self.recalled, self.chunked, plan, self.laid.output), lost=lost, steps=steps
        )
        reduces = shards if self.job.reducer is not None else 0
        tell = self.attempt.events.tell
        tell(self.decision.as_event(self.chunked, plan))
        tell(WillRun({"map": len(ids), "combine": plan.node_count * shards, "reduce": reduces}))
        tell(DidReuse(MAP, plan.chunks.ids[plan.known[0]]))
        if not steps:  # else the second step says it of the tree that it has then
            tell(DidLay(plan.counts()))
            tell(DidReuse(CONTRACT, plan.known_nodes()))
        return self.decision

    def _recall_combiner(self, coded: JobIdentity) -> None:
        """What is known of the combiner: that it is refused, that it adds no integers up, that it was tried."""
        before, old = self.recalled.before, self.recalled.old
        combiner, reducer = coded.combine.hex(), coded.reduce.hex()
        refused = before.refused if before is not None else None
        if refused is not None and self.job.combiner is not None and refused.combiner == combiner:
            raise CombinerChangesKeys(refused.given, refused.emitted)  # known from an earlier run
        self.narrow = self.narrow or (before is not None and before.narrow == self.recalled.identity.combine.hex())
        if self.trial.reducer != reducer:  # else an attempt of this run has tried it
            self.trial = old.trial if old is not None and old.trial.reducer == reducer else Trial(reducer)

    def _find_output(self, plan: TreePlan) -> RunRef | None:
        """The output, if it is known with all that it rests on."""
        gaps = any(level == 0 or self.job.combiner is not None for level, _, _ in plan.unknown())
        if gaps or self.attempt.lost:
            return None
        (entry,) = self.attempt.memo.lookup([self.output_id(plan)])
        if entry is None:
            return None
        self.tallies.by_reducers = json.loads(entry.inline) if entry.inline else {}
        return run_of_entry(entry)

    def _is_done(self) -> bool:
        """Whether nothing has to run."""
        plan, output = self.laid.plan, self.laid.output
        if not len(plan.chunks.ids):
            return True
        return output is not None or (self.job.reducer is None and plan.all_chunks_known)

    def _steps(self) -> tuple[Step, ...]:
        if self._is_done():
            return ()
        from incoop.engine.stages.map_contract.steps import STEPS

        return tuple(step(self) for step in STEPS)

    def finish(self) -> Finished:
        plan, output = self.laid.plan, self._output()
        counters = self.tallies.in_all(plan.chunks.ids, self.recalled.before)
        stored = [level.ids[level.refs["length"] > 0].tobytes() for level in plan.levels]
        id_ = self.output_id(plan)
        return Finished(
            id=id_,
            output=output,
            keys=int(output.header.rows["keys"].sum()) if isinstance(output, Sharded) else 0,
            counters=counters,
            body=self._record().to_bytes(),
            live=b"".join([*stored, id_ if self.laid.output is not None else b""]),
            root=partial(self._root_hash, self.laid),
        )

    def _record(self) -> TreeRecord:
        identity = self.recalled.identity
        return TreeRecord(
            levels=self.laid.plan.levels,
            encoding=ENCODING_VERSION,
            tree=identity.tree,
            reduce=identity.reduce.hex(),
            shards=self.laid.shards,
            mappers=in_rows(self._mapper_of),
            output=self.laid.output,
            refused=self._refused,
            trial=self.trial,
            narrow=identity.combine.hex() if self.narrow else "",
            map_counters=self.tallies.by_chunk,
            reduce_counters=self.tallies.by_reducers,
        )

    @property
    def _mapper_of(self) -> npt.NDArray[np.int64]:
        """The number of each chunk's mapper: that of the first one whose results are the same."""
        prints = self.recalled.identity.map
        return np.array([prints.index(each) for each in prints], np.int64)[self.chunked.mapper_of]

    def _output(self) -> Output:
        """The parts of the output; a map-only job's are its chunk runs."""
        laid = self.laid
        if laid.output is None:
            refs = [RunRef.of_row(row) for row in laid.plan.chunks.refs]
            return Unreduced(refs, self.attempt.reader())
        return Sharded(RunHeader.load(laid.output, laid.shards, self.attempt.reader()))

    def output_of(self, body: bytes) -> Output:
        record = TreeRecord.from_bytes(body)
        if record.encoding != ENCODING_VERSION:
            raise OutputUnknown("another release of incoop stored it")
        if record.output is None:
            return Unreduced([RunRef.of_row(row) for row in record.levels[0].refs], self.attempt.reader())
        return Sharded(RunHeader.load(record.output, record.shards, self.attempt.reader()))

    def _root_hash(self, laid: Laid) -> bytes:
        """What the root holds, shard by shard; without a combiner there is no root but its chunks."""
        plan, shards = laid.plan, laid.shards
        if self.job.combiner is None or not len(plan.chunks.ids):
            return block_hash(plan.levels[-1].ids.tobytes())
        reader = self.attempt.reader()
        header = RunHeader.load(RunRef.of_row(plan.levels[-1].refs[0]), shards, reader)
        runs = ChunkRuns()
        parts = (shard_part(row, shard, shards, reader, runs) for shard, row in enumerate(header.rows))
        return block_hash(b"".join(part.content() for part in parts))

    def verify(self, share: float) -> tuple[int, int]:
        """Compute a random share of chunks and shards again, from scratch; another result is an error."""
        from incoop.engine.stages.map_contract.contract_step import ContractStep
        from incoop.engine.stages.map_contract.map_step import MapStep
        from incoop.engine.stages.map_contract.verify import NotAsBefore, Verifier

        if not self._is_done():  # by now: also what this run has just computed is verified
            raise NotAsBefore(self.name, self.decision.explanation().why)
        plan = self.laid.plan
        if not len(plan.chunks.ids):
            return 0, 0
        packed = self.attempt.runner.packed(self.functions)
        if packed.handles:
            raise BadCall("verify takes no functions with broadcast variables or accumulators: nobody else has them.")
        verifier = Verifier(share, packed, self.attempt.reader())
        mapping, contracting = MapStep(self), ContractStep(self)
        chosen = verifier.some(len(plan.chunks.ids))
        kept = [RunRef.of_row(plan.chunks.refs[index]) for index in chosen]
        shards = self.job.shard_count if self.job.reducer is not None else 0
        wrong = verifier.chunks(mapping.spec(), mapping.tasks(chosen), kept, shards)
        if wrong is not None:
            (block,) = self.chunked.blocks([chosen[wrong]])
            raise NotDeterministic(self.name, f"the chunk at {block.place_of(0)}")
        output = self._output()
        if not isinstance(output, Sharded):
            return len(chosen), 0
        some = verifier.some(self.laid.shards)
        wrong = verifier.shards(contracting.spec([], update=False), plan, output, some)
        if wrong is not None:
            raise NotDeterministic(self.name, f"the keys of shard {wrong}")
        return len(chosen), len(some)

    def recover_input(self, lost: BlockLost) -> None:
        if isinstance(self._inputs, BlockSource):
            self._inputs.recover(lost)

    def overcome(self, error: IncoopError) -> str | None:
        """A combiner that emits other keys is left out."""
        if not isinstance(error, CombinerChangesKeys):
            return None
        self._refused = RefusedCombiner(identify(self.job).combine.hex(), error.given, error.emitted)
        self.job = replace(self.job, combiner=None)
        return f"running without the combiner: {error}"
