"""What the steps of a job work on in one attempt: its plan, and what is known of its tree."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from incoop import inchdfs
from incoop.base.content_ids import content_id
from incoop.base.stage_path import StagePath
from incoop.code import Functions
from incoop.contraction.parts.headers import RunRef, StoredChange
from incoop.contraction.tree.folds import Fold, recognise
from incoop.contraction.tree.known_combiners import BatchCombiner
from incoop.engine.inputs import ChunkedInput
from incoop.engine.stage import Attempt
from incoop.engine.stages.map_contract.decision import JobDecision, Recalled
from incoop.engine.stages.map_contract.identity import functions_of
from incoop.engine.stages.map_contract.plan import BATCHES, FLAT, NONE, TREE, WIDE, TreePlan, lay_nodes
from incoop.engine.stages.map_contract.record import RefusedCombiner, Trial
from incoop.engine.stages.map_contract.tallies import Tallies
from incoop.engine.stored import run_of_entry
from incoop.job import Job


class JobState:
    """One job, in a run of it."""

    # What an attempt is given, looks at, recalls and decides: each is set once, in this order.
    attempt: Attempt
    chunked: ChunkedInput
    recalled: Recalled
    decision: JobDecision
    # What the steps make of it.
    plan: TreePlan
    #: Shards of the tree, as far as they are known.
    shards: int
    output: RunRef | None

    def __init__(self, job: Job, inputs: Any, store: inchdfs.DatasetStore) -> None:
        self.job, self._inputs, self._store = job, inputs, store
        # What one attempt learned stays for the next.
        self.trial = Trial()
        self._refused: RefusedCombiner | None = None
        #: Whether the values of a sum were found not to be integers.
        self.narrow = False

    @property
    def path(self) -> StagePath:
        return self.job.path

    @property
    def name(self) -> str:
        """For people."""
        return str(self.path)

    @cached_property
    def functions(self) -> Functions:
        return functions_of(self.job)

    def begin(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.tallies = Tallies()
        #: How chunks mapped in this attempt differ from those they were made from.
        self.changes: dict[bytes, StoredChange] = {}
        self.output = None
        self.__dict__.pop("functions", None)

    def lay(self) -> None:
        """Lay the tree over the chunk runs, with its shards as far as they are known, and find its nodes."""
        old, identity = self.recalled.old, self.recalled.identity
        if len(self.plan.chunks.ids) and self.plan.all_chunks_known:
            self.shards = self.job.shards_for(bool(self.plan.chunks.refs["few"].all()))
        else:
            self.shards = old.shards if old is not None else self.job.shard_count
        if old is not None and old.shards != self.shards:
            old = old.chunks_alone()  # chunks are as they were, nodes are cut otherwise
        seed = identity.combine + self.shards.to_bytes(2, "little")
        self.plan = lay_nodes(self.plan, self.chunked.rows["tail"], seed, old, self.shape)
        self._find()

    def _find(self) -> None:
        """Ask the memo for what the last generation does not hold."""
        unknown = self.plan.unknown()
        lost = self.attempt.lost
        if lost:  # only chunk runs are trusted then: they refer to few other packs than their own
            unknown = [each for each in unknown if each[0] == 0]
        # After a loss more may be lost: packs that are gone or too short are found here, before anything runs on them.
        entries = self.attempt.memo.lookup([id_ for _, _, id_ in unknown], probe_packs=bool(lost))
        for (level, index, id_), entry in zip(unknown, entries, strict=True):
            if entry is not None and not lost.intersection(entry.packs()):
                self.plan.learn(level, index, run_of_entry(entry))
                if level == 0 and entry.inline:
                    self.tallies.by_chunk[id_] = json.loads(entry.inline)

    @property
    def output_id(self) -> bytes:
        return content_id(self.recalled.identity.reduce + self.plan.levels[-1].ids.tobytes())

    @property
    def shape(self) -> str:
        """The kind of tree that the job has."""
        if self.job.reducer is None:
            return NONE
        if self.job.combiner is None:
            return FLAT
        if isinstance(self.job.combiner, BatchCombiner):
            return BATCHES
        return WIDE if recognise(self.job.combiner) is Fold.SUM and not self.narrow else TREE
