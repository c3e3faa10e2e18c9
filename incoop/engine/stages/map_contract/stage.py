"""A job as a stage: chunks are mapped, runs are contracted, changed keys are reduced.

Contract: what is decided says all that will run. The tree is laid when the runs of all chunks are known, since their
keys say how many shards it has; before that it is only guessed at, to be told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from incoop.base.checksums import block_hash
from incoop.base.errors import BadCall, IncoopError
from incoop.contraction.columns.encoding import ENCODING_VERSION
from incoop.contraction.parts.headers import RunHeader, RunRef
from incoop.contraction.parts.packs import BlockLost
from incoop.contraction.parts.part import ChunkRuns, shard_part
from incoop.contraction.tree.combine import CombinerChangesKeys
from incoop.engine.events import DidReuse, WillRun
from incoop.engine.explain import Explanation
from incoop.engine.failures import NotDeterministic, place_of
from incoop.engine.inputs import BlockSource, chunk_inputs
from incoop.engine.output import Mapped, Output, Sharded
from incoop.engine.stage import Finished, OutputUnknown, RunOptions, Step
from incoop.engine.stages.map_contract.explain import why_it_runs
from incoop.engine.stages.map_contract.identity import MAP, Identity, identify
from incoop.engine.stages.map_contract.plan import (
    TreePlan,
    plan_chunks,
    run_ids,
)
from incoop.engine.stages.map_contract.record import RefusedCombiner, TreeRecord, Trial
from incoop.engine.stages.map_contract.state import JobState
from incoop.engine.stored import run_of_entry
from incoop.inchdfs.cutting.parallel import SegmentRunner

if TYPE_CHECKING:
    from incoop.engine.stages.map_contract.contract_step import ContractStep
    from incoop.engine.stages.map_contract.map_step import MapStep


class MapContract(JobState):
    """One job on its way through a run."""

    #: The number is that of what `TreeRecord` holds.
    kind = "map contract reduce 2"

    @property
    def proves(self) -> bool:
        return self.job.version is None

    @property
    def memoizes(self) -> bool:
        return self.job.memoize

    def identify(self) -> Identity:
        return identify(self.job)

    def look(self, options: RunOptions, segments: SegmentRunner | None) -> int:
        self.chunked = chunk_inputs(
            *(self.job, self._inputs, self._store, options.chunks, options.paranoid, segments),
            will_read=self.attempt.runner.prepare,
        )
        return self.chunked.size

    def recall(self, coded: Identity, identity: Identity, body: bytes | None) -> None:
        self.identity = identity
        self.before = before = TreeRecord.from_bytes(body) if body is not None else None
        combiner, reducer = coded.combine.hex(), coded.reduce.hex()
        refused = before.refused if before is not None else None
        if refused is not None and self.job.combiner is not None and refused.combiner == combiner:
            raise CombinerChangesKeys(refused.given, refused.emitted)  # known from an earlier run
        comparable = before is not None and not self.attempt.lost and before.tree == identity.tree
        self.old = before if comparable else None
        self.narrow = self.narrow or (before is not None and before.narrow == identity.combine.hex())
        if self.trial.reducer != reducer:  # else an attempt of this run has tried it
            known = self.old is not None and self.old.trial.reducer == reducer
            self.trial = self.old.trial if known and self.old is not None else Trial(reducer)

    def decide(self) -> None:
        """(1) Find the runs of chunks; (2) lay the tree, find its nodes and the output."""
        ids = run_ids(self.identity.map, self.chunked.mapper_of, self.chunked.rows["id"])
        self.plan = plan_chunks(ids, self.old)
        self._find()
        self.lay()
        self.output = self._find_output() if len(ids) else None
        nodes = sum(len(level.ids) for level in self.plan.levels[1:])
        reduces = self.shards if self.job.reducer is not None else 0
        tell = self.attempt.events.tell
        tell(WillRun({"map": len(ids), "combine": nodes * self.shards, "reduce": reduces}))
        tell(DidReuse(MAP, self.plan.chunks.ids[self.plan.known[0]]))

    def _find_output(self) -> RunRef | None:
        """The output, if it is known with all that it rests on."""
        gaps = any(level == 0 or self.job.combiner is not None for level, _, _ in self.plan.unknown())
        if gaps or self.attempt.lost:
            return None
        (entry,) = self.attempt.memo.lookup([self.output_id])
        if entry is None:
            return None
        self.tallies.by_reducers = json.loads(entry.inline) if entry.inline else {}
        return run_of_entry(entry)

    @property
    def done(self) -> bool:
        """Whether nothing has to run."""
        if not len(self.plan.chunks.ids):
            return True
        return self.output is not None or (self.job.reducer is None and self.plan.all_chunks_known)

    def explain(self, parts: Mapping[str, str] | None) -> Explanation:
        known = self.output is not None
        chunks, nodes = ([], []) if known else self.plan.needed()
        return Explanation(
            job=self.name,
            input_bytes=self.chunked.size,
            chunks=len(self.plan.chunks.ids),
            fresh_chunks=len(chunks),
            fresh_bytes=int(self.chunked.rows["length"][np.array(chunks, np.intp)].sum(dtype=np.int64)),
            fresh_nodes=len(nodes),
            nodes=sum(len(level.ids) for level in self.plan.levels[1:]),
            why=why_it_runs(self.plan, self.before, parts, self.identity, known, bool(self.attempt.lost)),
        )

    @property
    def steps(self) -> Sequence[Step]:
        return () if self.done else self._steps()

    def _steps(self) -> tuple[MapStep, ContractStep]:
        # With all that tasks need: a run that reuses everything does not wait for it.
        from incoop.engine.stages.map_contract.contract_step import ContractStep
        from incoop.engine.stages.map_contract.map_step import MapStep

        return MapStep(self), ContractStep(self)

    def finish(self) -> Finished:
        output = self._output(self.output)
        counters = self.tallies.in_all(self.plan.chunks.ids, self.before)
        stored = [level.ids[level.refs["length"] > 0].tobytes() for level in self.plan.levels]
        return Finished(
            id=self.output_id,
            output=output,
            keys=int(output.header.rows["keys"].sum()) if isinstance(output, Sharded) else 0,
            counters=counters,
            body=self._record().to_bytes(),
            live=b"".join([*stored, self.output_id if self.output is not None else b""]),
            root=partial(self._root_hash, self.plan),
        )

    def _record(self) -> TreeRecord:
        return TreeRecord(
            levels=self.plan.levels,
            encoding=ENCODING_VERSION,
            tree=self.identity.tree,
            reduce=self.identity.reduce.hex(),
            shards=self.shards,
            output=self.output,
            refused=self._refused,
            trial=self.trial,
            narrow=self.identity.combine.hex() if self.narrow else "",
            map_counters=self.tallies.by_chunk,
            reduce_counters=self.tallies.by_reducers,
        )

    def _output(self, reduced: RunRef | None) -> Output:
        """The parts of the output; a map-only job's are its chunk runs."""
        if reduced is None:
            return Mapped([RunRef.of_row(row) for row in self.plan.chunks.refs])
        return Sharded(RunHeader.load(reduced, self.shards, self.attempt.reader()))

    def output_of(self, body: bytes) -> Output:
        record = TreeRecord.from_bytes(body)
        if record.encoding != ENCODING_VERSION:
            raise OutputUnknown("another release of incoop stored it")
        if record.output is None:
            return Mapped([RunRef.of_row(row) for row in record.levels[0].refs])
        return Sharded(RunHeader.load(record.output, record.shards, self.attempt.reader()))

    def _root_hash(self, plan: TreePlan) -> bytes:
        """What the root holds, shard by shard; without a combiner there is no root but its chunks."""
        if self.job.combiner is None or not len(plan.chunks.ids):
            return block_hash(plan.levels[-1].ids.tobytes())
        reader = self.attempt.reader()
        header = RunHeader.load(RunRef.of_row(plan.levels[-1].refs[0]), self.shards, reader)
        runs = ChunkRuns()
        parts = (shard_part(row, shard, self.shards, reader, runs) for shard, row in enumerate(header.rows))
        return block_hash(b"".join(part.content() for part in parts))

    def verify(self, share: float) -> tuple[int, int]:
        """Compute a random share of chunks and shards again, from scratch; another result is an error."""
        from incoop.engine.stages.map_contract.verify import NotAsBefore, Verifier

        if not self.done:
            raise NotAsBefore(self.name)
        if not len(self.plan.chunks.ids):
            return 0, 0
        packed = self.attempt.runner.packed(self.functions)
        if packed.handles:
            raise BadCall("verify takes no functions with broadcast variables or accumulators: nobody else has them.")
        verifier = Verifier(share, packed, self.attempt.reader())
        mapping, contracting = self._steps()
        chosen = verifier.some(len(self.plan.chunks.ids))
        kept = [RunRef.of_row(self.plan.chunks.refs[index]) for index in chosen]
        shards = self.job.shard_count if self.job.reducer is not None else 0
        wrong = verifier.chunks(mapping.spec(), mapping.tasks(chosen), kept, shards)
        if wrong is not None:
            (where,) = self.chunked.locate([chosen[wrong]])
            raise NotDeterministic(self.name, f"the chunk at {place_of(where, 0)}")
        output = self._output(self.output)
        if not isinstance(output, Sharded):
            return len(chosen), 0
        some = verifier.some(self.shards)
        wrong = verifier.shards(contracting.spec([], update=False), self.plan, output, some)
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
