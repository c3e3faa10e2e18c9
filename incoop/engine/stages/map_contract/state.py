"""What the steps of a job work on in one attempt: a tree as far as it is known, a value that each step gives anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from incoop import inchdfs
from incoop.base.content_ids import content_id
from incoop.base.stage_path import StagePath
from incoop.code import Functions
from incoop.contraction.parts.headers import RunRef, StoredChange
from incoop.contraction.tree.folds import Fold, recognise
from incoop.contraction.tree.known_combiners import BatchCombiner
from incoop.contraction.tree.shape import boundaries
from incoop.engine.inputs import ChunkedInput
from incoop.engine.stage import Attempt
from incoop.engine.stages.map_contract.decision import JobDecision, Recalled
from incoop.engine.stages.map_contract.identity import functions_of
from incoop.engine.stages.map_contract.plan import BATCHES, FLAT, NONE, TREE, WIDE, Place, TreePlan, lay_nodes
from incoop.engine.stages.map_contract.record import RefusedCombiner, Trial
from incoop.engine.stages.map_contract.tallies import Tallies
from incoop.engine.stored import run_of_entry
from incoop.job import Job


@dataclass(frozen=True, slots=True)
class Laid:
    """A tree over the runs of all chunks, as far as it is known: decided, then mapped, then contracted.

    Each step is given one, and gives another.
    """

    plan: TreePlan
    #: Shards of the tree, as far as they are known.
    shards: int
    #: How chunks mapped in this attempt differ from those they were made from.
    changes: Mapping[bytes, StoredChange] = field(default_factory=dict)
    #: None while it is not there.
    output: RunRef | None = None


class JobState:
    """One job, in a run of it."""

    # What an attempt is given, looks at, recalls and decides: each is set once, in this order.
    attempt: Attempt
    chunked: ChunkedInput
    recalled: Recalled
    decision: JobDecision
    #: What was decided, and then what the last step made of it.
    laid: Laid

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
        self.__dict__.pop("functions", None)

    def lay(self, chunks: TreePlan, changes: Mapping[bytes, StoredChange] | None = None) -> Laid:
        """Lay a tree over the chunk runs of a plan, with its shards as far as they are known, and find its nodes."""
        old, identity = self.recalled.old, self.recalled.identity
        if len(chunks.chunks.ids) and chunks.all_chunks_known:
            shards = self.job.shards_for(bool(chunks.chunks.refs["few"].all()))
        else:
            shards = old.shards if old is not None else self.job.shard_count
        if old is not None and old.shards != shards:
            old = old.chunks_alone()  # chunks are as they were, nodes are cut otherwise
        seed = identity.combine + shards.to_bytes(2, "little")
        ends = boundaries(self.chunked.rows["tail"], self.chunked.rows["head"])
        plan = lay_nodes(chunks, ends, seed, old, self.shape)
        return Laid(self.find(plan), shards, changes or {})

    def find(self, plan: TreePlan) -> TreePlan:
        """The plan with what the memo has of all that the last generation does not hold."""
        unknown = plan.unknown()
        lost = self.attempt.lost
        if lost:  # only chunk runs are trusted then: they refer to few other packs than their own
            unknown = [each for each in unknown if each[0] == 0]
        # After a loss more may be lost: packs that are gone or too short are found here, before anything runs on them.
        entries = self.attempt.memo.lookup([id_ for _, _, id_ in unknown], probe_packs=bool(lost))
        found: dict[Place, RunRef] = {}
        for (level, index, id_), entry in zip(unknown, entries, strict=True):
            if entry is not None and not lost.intersection(entry.packs()):
                found[level, index] = run_of_entry(entry)
                if level == 0 and entry.inline:
                    self.tallies.by_chunk[id_] = json.loads(entry.inline)
        return plan.learned(found)

    def output_id(self, plan: TreePlan) -> bytes:
        return content_id(self.recalled.identity.reduce + plan.levels[-1].ids.tobytes())

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
