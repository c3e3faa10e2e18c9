"""The first step of a job: map the chunks whose runs are missing, each content once; try the combiner on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from incoop.base.errors import IncoopError
from incoop.code import Observed
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.engine.events import DidExecute, DidMap
from incoop.engine.failures import JobFailed, failed_at
from incoop.engine.running.work import Nearby, Work
from incoop.engine.stages.map_contract.identity import MAP, JobIdentity
from incoop.engine.stages.map_contract.map_task import ChunkTask, MapDone, MapFailed, MapSpec, map_group
from incoop.engine.stages.map_contract.plan import run_ids
from incoop.engine.stages.map_contract.result_entries import keep_mapped
from incoop.engine.stages.map_contract.soundness import tried_enough
from incoop.engine.stages.map_contract.state import JobState
from incoop.engine.stages.map_contract.task_groups import shared_out
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.engine.stages.map_contract.write_chunk import KnownBase

#: Of a chunk that takes the place of another, one byte in this many is taken for changed. Real edits change less
#: (bench/bench_days.py); where a chunk is new as a whole, processes map it nearly as fast as Spark does.
FEW_LEAVES = 8

#: Of so many mapped chunks it is told where they are: nobody reads a longer list, and a first run may map a million.
TOLD_PLACES = 1000

Answer = list[MapDone | MapFailed | IncoopError | Observed]


class MapStep:
    """Fresh chunks become runs."""

    name = MAP

    def __init__(self, stage: JobState) -> None:
        self._stage = stage
        self._done = False
        #: Where each missing run stands among the chunks.
        self._indices: dict[bytes, list[int]] = {}
        self._tasks: list[ChunkTask] = []
        self._tries = False

    def work(self) -> Work | None:
        stage = self._stage
        if self._done:
            return None
        self._indices = {}
        ids = stage.laid.plan.chunks.ids
        for index in stage.decision.chunks:
            self._indices.setdefault(bytes(ids[index]), []).append(index)
        self._tries = self._tries_combiner() and not tried_enough(stage.trial.values, stage.trial.times)
        if self._indices:
            self._tasks = self.tasks([indices[0] for indices in self._indices.values()])
            what = f"map {len(self._tasks)} of {len(ids)} chunks"
        elif self._tries and not stage.trial.times:  # the chunks are known, the reducer is new
            self._tasks, what = self.tasks([0]), "try the combiner"
        else:
            return None
        return Work(
            step=self.name,
            ids=tuple(self._indices),
            what=what,
            function=map_group,
            spec=self.spec(self._tries),
            share=partial(_shared_out, self._tasks),
            bytes=self._expected(),
            nearby=self._nearby(),
        )

    def _size(self) -> int:
        return sum(task.block.length for task in self._tasks)

    def _expected(self) -> int:
        """Bytes that will be mapped, as a guess: of a chunk that takes the place of another, some leaves."""
        by_leaf = [not isinstance(each, ChunkMapper) for each in self._stage.functions.mappers]
        return sum(_expected(task) if by_leaf[task.mapper] else task.block.length for task in self._tasks)

    def _nearby(self) -> Nearby | None:
        most = self._stage.job.hints.nearby
        if not most:
            return None
        return Nearby([[task] for task in self._tasks], self._size(), len(self._tasks) <= most)

    def _tries_combiner(self) -> bool:
        """Whether the combiner is one to try."""
        job = self._stage.job
        return job.hints.tries_combiner and not isinstance(job.combiner, LawfulCombiner | None)

    def tasks(self, indices: list[int]) -> list[ChunkTask]:
        """The tasks of the chunks at these places."""
        plan, chunked = self._stage.laid.plan, self._stage.chunked
        return [
            ChunkTask(
                *(bytes(plan.chunks.ids[index]), block, int(chunked.mapper_of[index]), plan.replaced(index)),
                self._base(index),
            )
            for index, block in zip(indices, chunked.blocks(indices), strict=True)
        ]

    def _base(self, index: int) -> KnownBase | None:
        """The chunk that one is known to have most of, if the last run of the job has it."""
        stage = self._stage
        recut = stage.chunked.recut(bytes(stage.chunked.rows["id"][index]))
        if recut is None:
            return None
        (run,) = run_ids(stage.recalled.identity.map, stage.chunked.mapper_of[[index]], np.array([recut.base], "V16"))
        ref = stage.laid.plan.old_run(bytes(run))
        return KnownBase(ref, recut.pieces) if ref is not None else None

    def spec(self, check: bool = False) -> MapSpec:
        job = self._stage.job
        return MapSpec(
            self._stage.functions,
            job.may_have_few_shards,
            self._stage.attempt.memo.worker_config(),
            leaf=job.leaf,
            takes_old=job.hints.takes_old,
            check_combiner=check,
        )

    def keep(self, answer: Answer) -> None:
        if self._indices:
            keep_mapped(self._stage.attempt.keeper, [each for each in answer if isinstance(each, MapDone)])

    def ran(self, answers: Sequence[Answer], seconds: float) -> None:
        stage = self._stage
        if self._tries and not _failures(answers):  # also where ids have to be made anew: it has been tried
            stage.trial = stage.trial.again(sum(each.tried for each in _done(answers)))
        done = _done(answers) if self._indices else []
        for each in done:
            if each.counters:
                stage.tallies.by_chunk[each.id] = each.counters
            if each.stretches:
                chunk = bytes(stage.chunked.rows["id"][self._indices[each.id][0]])
                stage.chunked.learn_stretches(chunk, each.stretches)
        stage.chunked.keep_stretches()
        if self._indices:
            ids = tuple(each.id for each in done)
            blocks = {task.id: task.block for task in self._tasks}
            sizes = tuple(blocks[id_].length for id_ in ids)
            places = tuple(blocks[id_].place() for id_ in ids[:TOLD_PLACES])
            stage.attempt.events.tell(DidMap(ids, sizes, tuple(each.mapped for each in done), places))
            mapped = sum(each.mapped if each.mapped >= 0 else size for each, size in zip(done, sizes, strict=True))
            stage.attempt.events.tell(DidExecute(self.name, ids, {"map": len(done)}, {"map": seconds}, mapped))

    def rekey(self, identity: JobIdentity, covered: Sequence[Answer]) -> None:
        """Store all chunk runs under the new ids, but for those that read something else than these name."""
        stage = self._stage
        old = stage.laid.plan.chunks.ids.tolist()
        new = run_ids(identity.map, stage.chunked.mapper_of, stage.chunked.rows["id"]).tolist()
        ids = dict(zip(old, new, strict=True))
        fresh = set(self._indices)
        stage.attempt.keeper.rekey({id_: other for id_, other in ids.items() if id_ not in fresh})
        if self._indices:
            keep_mapped(stage.attempt.keeper, [each.under(ids[each.id]) for each in _done(covered)])

    def take(self, answers: Sequence[Answer]) -> None:
        for failure in _failures(answers):
            if isinstance(failure, IncoopError):
                raise failure
            place = failed_at(failure.block, failure.record_number, failure.record)
            raise JobFailed(self._stage.name, str(place), failure.error, failure.trace, place, failure.cause)
        self._done = True
        stage, done = self._stage, _done(answers) if self._indices else []
        runs = {(0, index): each.ref for each in done for index in self._indices[each.id]}
        changes = {each.id: each.change for each in done if each.change is not None}
        stage.laid = stage.lay(stage.laid.plan.learned(runs), changes)


def _done(answers: Sequence[Answer]) -> list[MapDone]:
    return [each for answer in answers for each in answer if isinstance(each, MapDone)]


def _failures(answers: Sequence[Answer]) -> list[MapFailed | IncoopError]:
    return [each for answer in answers for each in answer if isinstance(each, MapFailed | IncoopError)]


def _expected(task: ChunkTask) -> int:
    """Bytes of a chunk that will be read, or as a guess mapped."""
    if task.base is not None:
        return task.base.pieces.new_bytes
    return task.block.length // (FEW_LEAVES if task.old else 1)


def _shared_out(tasks: list[ChunkTask], cores: int, clustered: bool) -> list[list[ChunkTask]]:
    return shared_out(tasks, cores)
