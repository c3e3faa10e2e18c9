"""One run of a job: chunk, map, contract, reduce, each only where something changed.

Contract: the output is the one a run on an empty store gives. A memo entry is written after its pack; a generation is
committed last. A block that turns out lost is computed again, and said.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from incoop import inchdfs
from incoop.base.checksums import block_hash
from incoop.base.errors import BadCall, IncoopError
from incoop.code import CONTRACT, MAP, CodeDiffers, KeepsState, KnownReads, Observed, OtherWorkerNeeded
from incoop.code.amendments import amendable
from incoop.contraction.columns.encoding import ENCODING_VERSION
from incoop.contraction.parts.headers import RunHeader, RunRef, StoredDelta, all_small
from incoop.contraction.parts.packs import BlockLost
from incoop.contraction.parts.part import Part
from incoop.contraction.tree.combine import CombinerChangesKeys
from incoop.contraction.tree.folds import Fold, recognise
from incoop.contraction.tree.known_combiners import BatchCombiner, LawfulCombiner
from incoop.contraction.tree.node import NodeTask, NotIntegers
from incoop.engine.explain import OnlyExplained, explain
from incoop.engine.failures import (
    AtKey,
    JobFailed,
    NotDeterministic,
    NotFollowed,
    ResultLost,
    TooLittleReuse,
    failed_at,
    place_of,
)
from incoop.engine.identity import Identity, functions_of, identify
from incoop.engine.inputs import BlockSource, ChunkedInput, chunk_inputs
from incoop.engine.keeper import Keeper
from incoop.engine.output import Mapped, Output, Sharded
from incoop.engine.record import Ids, Record
from incoop.engine.report import RunReport
from incoop.engine.running.spark import Spark
from incoop.engine.running.stage_runner import MapAnswer, StageRunner
from incoop.engine.stages.map_contract.contract_task import ContractSpec, ReduceFailed, ShardDone
from incoop.engine.stages.map_contract.map_task import ChunkTask, MapDone, MapFailed, MapSpec
from incoop.engine.stages.map_contract.plan import BATCHES, FLAT, NONE, TREE, WIDE, TreePlan, plan_tree, run_ids
from incoop.engine.stages.map_contract.soundness import tried_enough
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.engine.stored import BlobReader, run_of_entry
from incoop.engine.tallies import Tallies
from incoop.engine.verify import NotAsBefore, OnlyVerified, Origin, Verifier
from incoop.job import Job
from incoop.memo import MemoStore
from incoop.memo.null import NullMemo

log = logging.getLogger("incoop")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a caller may ask of one run."""

    #: Sizes of chunks; None chooses by the input's size.
    chunks: inchdfs.ChunkSettings | None = None
    #: Verify by content that files whose size and times did not move did not change.
    paranoid: bool = False
    #: Say what would run, and do not run it.
    explain: bool = False
    #: Refuse to run when less than this share of the input can be reused.
    strict: float | None = None
    #: Share of the reused chunks to map again and compare.
    verify: float = 0.0
    #: Verify what is kept of the last run, and run nothing else.
    only_verify: bool = False
    #: How the run can be asked for again, from a shell.
    origin: Origin | None = None
    #: Whether workers get the values of module variables that the program set; PySpark's do not.
    amends: bool = True


@dataclass(slots=True)
class Outcome:
    """What a run leaves for its Result."""

    output: Output
    #: The output of the run before, if there was one.
    old_output: Output | None
    report: RunReport
    #: What names the input and the code: equal for equal ones.
    id: bytes
    #: Reads the hash of what the tree's root holds, whatever ran before.
    root: Callable[[], bytes]
    #: Why it is not known what the run before gave; empty where it is.
    changes_lost: str = ""


class _ReadsMore(Exception):
    """Functions were found to read more than was known, so that ids have to name it: begin again."""


@dataclass(slots=True)
class JobRun:
    """One run on its way through the stages."""

    job: Job
    inputs: Any
    store: inchdfs.DatasetStore
    memo: MemoStore | NullMemo
    spark: Spark
    options: RunOptions
    #: Packs that turned out damaged or gone.
    lost: set[bytes] = field(default_factory=set)
    report: RunReport = field(init=False)
    _runner: StageRunner = field(init=False)
    _tallies: Tallies = field(default_factory=Tallies)
    #: How chunks mapped in this run differ from those they were made from.
    _deltas: dict[bytes, StoredDelta] = field(default_factory=dict)
    #: The print of a combiner that emits other keys, with one it was given and one it emitted.
    _refused: list[str] | None = None
    #: Whether the values of a sum were found not to be integers.
    _narrow: bool = False
    #: Shards of the tree, as far as it is known.
    _shards: int = 0
    #: Parts of the code that workers do not get by importing its modules, so that their values are sent.
    _amended: set[str] = field(default_factory=set)
    #: What the functions read besides their input, as far as it is known.
    _reads: KnownReads = field(default_factory=KnownReads)
    #: What an attempt that found out more about that has mapped: chunks, bytes and seconds.
    _carried: tuple[int, int, float] = (0, 0, 0.0)
    #: Why other workers were asked for; twice for the same reason would be for nothing.
    _moved: set[str] = field(default_factory=set)
    #: The print of the reducer that the combiner was tried with, on how many values, and how often.
    _trial: list[Any] = field(default_factory=lambda: ["", 0, 0])

    def __post_init__(self) -> None:
        self._begin([])

    def _begin(self, warnings: list[str]) -> None:
        self.report = RunReport(self.job.name, warnings=warnings)
        self._runner = StageRunner(
            self.spark, self.report, self.job.version is None, self.job.memoize, frozenset(self._amended)
        )
        # Other machines have folders of their own, and caches in them.
        self._runner.folder = str(Path.cwd()) if self.options.amends and not self.spark.clustered else ""
        self._runner.arguments = tuple(sys.argv) if self.options.amends else None

    def execute(self) -> Outcome:
        """Run, and note what is given."""
        notes = self.memo.delivered
        noted = notes.noted(self.job.name) if notes is not None else None
        outcome = self._execute()
        if notes is None:
            outcome.changes_lost = "it keeps nothing: memoize is False"
            return outcome
        if (now := notes.noted(self.job.name)) != noted:
            outcome.changes_lost = "another run of the job ended while this one ran"
        if now != outcome.id:
            notes.note(self.job.name, outcome.id)
        return outcome

    def _execute(self) -> Outcome:
        """Run; once more when a stored block is found lost on the way, or the combiner cannot be contracted."""
        while True:
            try:
                return self._attempt()
            except BlockLost as lost:
                if lost.pack in self.lost:
                    raise
                self.lost |= {lost.pack, *lost.also}
                if isinstance(self.inputs, BlockSource):
                    self.inputs.recover(lost)
                self._again(f"a stored result is damaged and is computed again ({lost})")
            except _ReadsMore:
                self._begin(self.report.warnings)
            except OtherWorkerNeeded as needed:
                self._move(needed, needed.module)
            except KeepsState:
                self.spark.workplaces.renew()  # the workers' modules are not as they were
                raise
            except CodeDiffers as differs:
                self._amend(differs)
            except CombinerChangesKeys as changes:
                self._refused = [identify(self.job).combine.hex(), changes.given, changes.emitted]
                self.job = replace(self.job, combiner=None)
                self._again(f"running without the combiner: {changes}")

    def recover(self, lost: BlockLost, id_: bytes) -> Outcome:
        """Run again for a result that was lost after the run; the input must still be what it was."""
        self.lost.add(lost.pack)
        self._again(f"a stored result is damaged and is computed again ({lost})")
        outcome = self._execute()
        if outcome.id != id_:
            raise ResultLost(self.job.name, str(lost))
        return outcome

    def _move(self, error: IncoopError, why: str) -> None:
        """Go on in other workers, once for a reason."""
        if why in self._moved:
            raise error
        self._moved.add(why)
        self.spark.workplaces.renew()
        self._begin(self.report.warnings)

    def _amend(self, differs: CodeDiffers) -> None:
        """Go on with the values that workers were found not to have, if there are such."""
        # What cannot be sent may come with what can: a function that was put into a module's list.
        more = {part for part in differs.differs if amendable(part)} - self._amended
        if not self.options.amends or not more:
            # Perhaps only this worker is not as it should be, by something that ran in it before.
            self._move(differs, "differs")
            return
        self._amended |= more
        self._begin(self.report.warnings)

    def _again(self, why: str) -> None:
        log.warning("%s: %s", self.job.name, why)
        self._begin([*self.report.warnings, why])

    def _attempt(self) -> Outcome:
        started = time.perf_counter()
        identity = identify(self.job)
        self.report.warnings += [each for each in identity.impurities if each not in self.report.warnings]
        if identity.impurities and self.options.strict is not None:
            raise NotFollowed(self.job.name, tuple(identity.impurities))
        chunked = chunk_inputs(
            self.job, self.inputs, self.store, self.options.chunks, self.options.paranoid, self.spark.segments()
        )
        self.report.input_bytes = chunked.size
        self.report.seconds["chunk"] = time.perf_counter() - started
        self.report.generation = self.memo.begin_generation(self.job.name)
        try:
            outcome = self._stages(identity, chunked)
        except BaseException:
            self.memo.abort_generation(self.job.name, self.report.generation)
            raise
        self.report.seconds["total"] = time.perf_counter() - started
        return outcome

    def _stages(self, identity: Identity, chunked: ChunkedInput) -> Outcome:
        before = self._last_record()
        self._recall_reads(identity, before)
        coded, identity = identity, self._reading(identity)
        refused = before.facts.get("refused") if before is not None else None
        self._runner.places = before.facts.get("places") if before is not None else None
        if before is not None and self.options.amends:
            there = {f"variable {read.name}" for read in self._reads.names()} | identity.parts.keys()
            self._amended |= set(before.facts.get("amended", ())) & there
            self._runner.amended = frozenset(self._amended)
        if refused and self.job.combiner is not None and refused[0] == coded.combine.hex():
            raise CombinerChangesKeys(*refused[1:])  # known from an earlier run
        comparable = before is not None and not self.lost and before.facts["tree"] == identity.tree
        old = before if comparable else None
        ids = run_ids(identity.map, chunked.mapper_of, chunked.rows["id"])
        self._narrow = before is not None and before.facts.get("narrow") == identity.combine.hex()
        self._shards = old.facts["shards"] if old is not None else self.job.shard_count
        trial = old.facts.get("trial") if old is not None else None
        if self._trial[0] != coded.reduce.hex():  # else an attempt of this run has tried it
            self._trial = trial if trial and trial[0] == coded.reduce.hex() else [coded.reduce.hex(), 0, 0]
        lay = partial(self._lay, ids, chunked.rows["tail"], identity, old)
        plan = lay()
        self.report.map.tasks = len(ids)
        self.report.map.executed, self.report.fresh_bytes, self.report.seconds["map"] = self._carried
        output_id = _output_id(identity, plan)
        known = self._consult_memo(plan, output_id) if len(ids) else None
        if len(ids) and plan.known[0].all() and self._has_other_shards(plan):
            plan = lay().over(plan)
            output_id = _output_id(identity, plan)
            known = self._consult_memo(plan, output_id)
        self._count_tasks(plan)
        self._ask_before_running(plan, chunked, known is not None, before, identity)
        if self.options.only_verify:
            if (len(ids) and not plan.known[0].all()) or (known is None and self.job.reducer is not None):
                raise NotAsBefore(self.job.name)
            raise OnlyVerified(self._verify(plan, chunked, identity, self._output(plan, known)) if len(ids) else (0, 0))
        if len(ids) and known is None:
            self._map(plan, chunked, coded, check=self._tries_combiner and not tried_enough(*self._trial[1:]))
            if self.job.reducer is not None:
                if self._has_other_shards(plan):
                    plan = lay().over(plan)
                try:
                    known = self._contract(plan, identity, old)
                except NotIntegers:
                    self._narrow = True
                    plan = lay().over(plan)
                    known = self._contract(plan, identity, old)
                output_id = _output_id(identity, plan)
        output = self._output(plan, known)
        if self.options.verify and len(ids):
            self._verify(plan, chunked, identity, output)
        self.report.counters = self._tallies.in_all(ids, before)
        old_output, changes_lost = self._old_output(before)
        record = Record(plan.levels, self._facts(identity, known) | {"gives": output_id.hex()})
        others = [*([output_id] if known else []), *self._keep_reads(coded)]
        kept = self._keeper.commit(self.job.name, record, others)
        self._warn_of_losses(kept)
        return Outcome(output, old_output, self.report, output_id, partial(self._root_hash, plan), changes_lost)

    def _warn_of_losses(self, kept: bool) -> None:
        """Say what of this run could not be kept, or what of earlier ones could not be used."""
        found = self.memo.losses()
        if not kept and self.memo.delivered is not None:
            found.append("this run is not recorded: it may be computed again, and the next one cannot tell its changes")
        self.report.warnings += [each for each in found if each not in self.report.warnings]

    def _recall_reads(self, coded: Identity, before: Record | None) -> None:
        """What this code is known to read, under whatever name it ran; and what the job read when it had other code."""
        (entry,) = self.memo.lookup([coded.reads_id])
        if entry is not None and entry.inline:
            self._reads.recall(json.loads(entry.inline))
        elif before is not None:
            self._reads.recall(before.facts.get("reads", ()))

    def _keep_reads(self, coded: Identity) -> list[bytes]:
        """Keep what the code reads for others that run it; gives the id of the entry, if there is one."""
        if not self._reads.names():
            return []
        self._keeper.note(coded.reads_id, json.dumps(self._reads.as_fact()).encode())
        return [coded.reads_id]

    def _reading(self, identity: Identity) -> Identity:
        """The identity with what the functions are known to read, as it is now."""
        self._reads.look()
        self._runner.read = self._reads.parts()
        return identity.within(self._reads.digest(MAP), self._reads.digest(CONTRACT), self._runner.read)

    def _lay(self, ids: Ids, tails: npt.NDArray[np.uint64], identity: Identity, old: Record | None) -> TreePlan:
        """Lay the tree, in its shape and with its shards as far as they are known."""
        if old is not None and old.facts["shards"] != self._shards:
            old = Record(old.levels[:1], old.facts)  # chunks are as they were, nodes are cut otherwise
        seed = identity.combine + self._shards.to_bytes(2, "little")
        return plan_tree(ids, tails, seed, old, self._shape)

    @property
    def _shape(self) -> str:
        """The kind of tree that the job has."""
        if self.job.reducer is None:
            return NONE
        if self.job.combiner is None:
            return FLAT
        if isinstance(self.job.combiner, BatchCombiner):
            return BATCHES
        return WIDE if recognise(self.job.combiner) is Fold.SUM and not self._narrow else TREE

    def _has_other_shards(self, plan: TreePlan) -> bool:
        """Whether the chunk runs, all of them known, ask for another number of shards; which then counts."""
        before, self._shards = self._shards, self.job.shards_for(all_small(plan.levels[0].refs))
        return before != self._shards

    @property
    def _keeper(self) -> Keeper:
        return Keeper(self.memo, self.report.generation)

    def _output(self, plan: TreePlan, reduced: RunRef | None) -> Output:
        """The parts of the output; a map-only job's are its chunk runs."""
        if reduced is None:
            return Mapped([RunRef.of_row(row) for row in plan.levels[0].refs])
        header = RunHeader.load(reduced, self._shards, self._reader())
        self.report.keys_total = int(header.rows["keys"].sum())
        return Sharded(header)

    def _ask_before_running(
        self, plan: TreePlan, chunked: ChunkedInput, done: bool, before: Record | None, identity: Identity
    ) -> None:
        """Stop here when only an explanation is wanted, or too little can be reused."""
        if not self.options.explain and self.options.strict is None:
            return
        explanation = explain(self.job.name, plan, chunked, done, before, identity, bool(self.lost))
        if self.options.explain:
            raise OnlyExplained(explanation)
        assert self.options.strict is not None
        if explanation.reusable < self.options.strict:
            raise TooLittleReuse(self.job.name, explanation.reusable, self.options.strict, explanation.why)

    def _reader(self) -> BlobReader:
        return BlobReader(self.memo.blobs)

    def _last_record(self) -> Record | None:
        generation = self.memo.last_generation(self.job.name)
        return Record.from_bytes(generation.record) if generation is not None else None

    def _old_output(self, before: Record | None) -> tuple[Output | None, str]:
        """The output of the run before, for `changes`; or why it is not known. Neither for a first run."""
        notes = self.memo.delivered
        noted = notes.noted(self.job.name) if notes is not None else None
        if before is None and noted is None:
            return None, ""
        if before is None or noted is None or before.facts.get("gives") != noted.hex():
            return None, "its record was lost, or could not be written"
        if before.facts["encoding"] != ENCODING_VERSION:
            return None, "another release of incoop stored it"
        if before.facts["output"] is None:
            return Mapped([RunRef.of_row(row) for row in before.levels[0].refs]), ""
        try:
            ref = RunRef.of_fact(before.facts["output"])
            return Sharded(RunHeader.load(ref, before.facts["shards"], self._reader())), ""
        except BlockLost as lost:
            return None, str(lost)

    def _consult_memo(self, plan: TreePlan, output_id: bytes) -> RunRef | None:
        """Ask the memo once for all that the last generation does not hold, and for the output."""
        unknown = plan.unknown()
        # After a loss more may be lost: packs that are gone or too short are found here, before anything runs on them.
        ids = [*(id_ for _, _, id_ in unknown), output_id]
        *entries, output = self.memo.lookup(ids, probe_packs=bool(self.lost))
        for (level, index, id_), entry in zip(unknown, entries, strict=True):
            # After a loss only chunk runs are trusted: they refer to no other pack than their own.
            if entry is not None and entry.pack not in self.lost and not (self.lost and level):
                plan.learn(level, index, run_of_entry(entry))
                if level == 0 and entry.inline:
                    self._tallies.by_chunk[id_] = json.loads(entry.inline)
        gaps = any(level == 0 or self.job.combiner is not None for level, _, _ in plan.unknown())
        if output is None or self.lost or gaps:
            return None
        self._tallies.by_reducers = json.loads(output.inline) if output.inline else {}
        return run_of_entry(output)

    def _map(self, plan: TreePlan, chunked: ChunkedInput, coded: Identity, check: bool) -> None:
        """Map the chunks that a missing node misses, each content once; try the combiner on them, if it is to be."""
        started = self._runner.now()
        places: dict[bytes, list[int]] = {}
        for index in plan.needed()[0]:
            places.setdefault(bytes(plan.levels[0].ids[index]), []).append(index)
        check = check and self.job.combiner is not None and not isinstance(self.job.combiner, LawfulCombiner)
        if not places:
            if check and not self._trial[2]:  # the chunks are known, the reducer is new
                self._tried(
                    self._runner.map(self._map_spec(check), self._chunk_tasks(plan, chunked, [0]), "try the combiner")
                )
            return
        tasks = self._chunk_tasks(plan, chunked, [indices[0] for indices in places.values()])
        what = f"map {len(tasks)} of {len(plan.levels[0].ids)} chunks"
        answers = self._runner.map(self._map_spec(check), tasks, what, self._keep_mapped)
        done = [each for answer in answers for each in answer if isinstance(each, MapDone)]
        for each in done:
            for index in places[each.id]:
                plan.learn(0, index, each.ref)
            if each.counters:
                self._tallies.by_chunk[each.id] = each.counters
            if each.delta is not None:
                self._deltas[each.id] = each.delta
        self.report.map.executed += len(done)
        self.report.fresh_bytes += sum(task.where.length for task in tasks)
        self.report.seconds["map"] += self._runner.now() - started
        if check:
            self._tried(answers)
        if self._learn(MAP, answers):
            self._rekey(plan, chunked, coded, answers)
        self._raise_failures(answers)

    def _keep_mapped(self, answer: MapAnswer) -> None:
        """Store what a task gave as soon as it is there, if its id names all that it read."""
        if self._is_covered(answer):
            self._keeper.mapped(answer)

    def _is_covered(self, answer: MapAnswer) -> bool:
        return all(self._reads.covers(MAP, each) for each in answer if isinstance(each, Observed))

    def _learn(self, stage: str, answers: Sequence[Any]) -> bool:
        """Take in what tasks read; whether that is more than was known."""
        lists = [answer for answer in answers if isinstance(answer, list)]
        observed = [each for answer in lists for each in answer if isinstance(each, Observed)]
        told = sorted({sentence for each in observed for sentence in each.untracked} - set(self.report.warnings))
        self.report.warnings += told
        if told and self.options.strict is not None:
            raise NotFollowed(self.job.name, tuple(told))
        if all(self._reads.covers(stage, each) for each in observed):
            return False
        if not all(digest for each in observed for digest in each.reads.values()):
            self.spark.workplaces.renew()  # a worker may hold what it read before that was written again
        amended = self._reads.learn(stage, observed)
        if amended and not self.options.amends:
            raise CodeDiffers(tuple(sorted(amended)))
        self._amended |= amended
        return True

    def _rekey(self, plan: TreePlan, chunked: ChunkedInput, coded: Identity, answers: list[MapAnswer]) -> None:
        """Store all chunk runs under ids that name what is read, and begin again with those."""
        old = plan.levels[0].ids.tolist()
        self._carried = (self.report.map.executed, self.report.fresh_bytes, self.report.seconds["map"])
        identity = self._reading(coded)
        ids = dict(zip(old, run_ids(identity.map, chunked.mapper_of, chunked.rows["id"]).tolist(), strict=True))
        # What was read otherwise than it is now is not what the new ids name, either: it is mapped again.
        done = [each for answer in answers for each in answer if isinstance(each, MapDone)]
        right = [each for answer in answers if self._is_covered(answer) for each in answer if isinstance(each, MapDone)]
        self._keeper.rekeyed({id_: new for id_, new in ids.items() if id_ not in {each.id for each in done}})
        self._keeper.mapped([replace(each, id=ids[each.id]) for each in right])
        raise _ReadsMore

    @property
    def _tries_combiner(self) -> bool:
        """Whether the combiner is one to try."""
        functions = functions_of(self.job)
        if functions.combiner is None or isinstance(functions.combiner, LawfulCombiner):
            return False
        return any(not isinstance(each, ChunkMapper) or each.tries_combiner for each in functions.mappers)

    def _tried(self, answers: list[MapAnswer]) -> None:
        """Note what map tasks tried the combiner on."""
        self._raise_failures(answers)
        self._trial[1] += sum(each.tried for answer in answers for each in answer if isinstance(each, MapDone))
        self._trial[2] += 1

    def _chunk_tasks(self, plan: TreePlan, chunked: ChunkedInput, indices: list[int]) -> list[ChunkTask]:
        return [
            ChunkTask(bytes(plan.levels[0].ids[index]), where, int(chunked.mapper_of[index]), plan.replaced(index))
            for index, where in zip(indices, chunked.locate(indices), strict=True)
        ]

    def _map_spec(self, check: bool = False) -> MapSpec:
        return MapSpec(
            functions_of(self.job),
            self.job.shard_count,
            self.job.may_have_few_shards,
            self.memo.worker_config(),
            leaf=self.job.leaf,
            check_combiner=check,
        )

    def _raise_failures(self, answers: list[MapAnswer]) -> None:
        for answer in answers:
            for each in answer:
                if isinstance(each, MapFailed):
                    place = failed_at(each.where, each.record_number, each.record)
                    raise JobFailed(self.job.name, str(place), each.error, each.trace, place, each.cause)
                if isinstance(each, IncoopError):
                    raise each

    def _verify(self, plan: TreePlan, chunked: ChunkedInput, identity: Identity, output: Output) -> tuple[int, int]:
        """Compute a random share of what is kept again, from scratch; another result means that something is wrong.

        Gives how many chunks and shards were computed.
        """
        packed = self._runner.packed(functions_of(self.job))
        if packed.handles:
            raise BadCall("verify takes no functions with broadcast variables or accumulators: nobody else has them.")
        verifier = Verifier(self.options.verify, packed, self._reader())
        chosen = verifier.some(len(plan.levels[0].ids))
        tasks = self._chunk_tasks(plan, chunked, chosen)
        kept = [RunRef.of_row(plan.levels[0].refs[index]) for index in chosen]
        shards = self.job.shard_count if self.job.reducer is not None else 0
        wrong = verifier.chunks(self._map_spec(), tasks, kept, shards)
        if wrong is not None:
            (where,) = chunked.locate([chosen[wrong]])
            raise NotDeterministic(self.job.name, f"the chunk at {place_of(where, 0)}")
        if not isinstance(output, Sharded):
            return len(chosen), 0
        some = verifier.some(self._shards)
        wrong = verifier.shards(self._contract_spec(plan, identity, None, []), plan, output, some)
        if wrong is not None:
            raise NotDeterministic(self.job.name, f"the keys of shard {wrong}")
        return len(chosen), len(some)

    def _contract(self, plan: TreePlan, identity: Identity, old: Record | None) -> RunRef:
        """Contract the missing nodes and reduce what changed at the root; one Spark task does some shards."""
        started = self._runner.now()
        self._count_tasks(plan)
        if old is not None and old.facts["shards"] != self._shards:
            old = None
        places = plan.needed()[1]
        nodes = [plan.node_task(level, index) for level, index in places]
        flat = self.job.combiner is None and bool(nodes)
        spec = self._contract_spec(plan, identity, old, nodes)
        old_root = spec.old_root
        answers = self._runner.contract(spec)
        done: list[ShardDone] = []
        if losses := [answer for answer in answers if isinstance(answer, BlockLost)]:
            raise BlockLost.of_all(losses)
        for answer in answers:
            if isinstance(answer, ReduceFailed):
                at = AtKey(answer.key, answer.plain_key)
                raise JobFailed(self.job.name, str(at), answer.error, answer.trace, at, answer.cause)
            if isinstance(answer, IncoopError):
                raise answer
            done += [each for each in answer if isinstance(each, ShardDone)]
        if self._learn(CONTRACT, answers):
            raise _ReadsMore
        done.sort(key=lambda each: each.shard)
        self._tallies.reduced(done, old if old_root is not None else None)
        self.report.contracted(done, self._runner.now() - started)
        return self._keeper.contracted(
            plan, [] if flat else places, _output_id(identity, plan), done, self._tallies.by_reducers
        )

    def _contract_spec(
        self, plan: TreePlan, identity: Identity, old: Record | None, nodes: list[NodeTask]
    ) -> ContractSpec:
        """What contract tasks share: these nodes, and the last output where it can be updated."""
        # That needs the same reducer, and a tree that compares.
        follows = old is not None and old.facts["reduce"] == identity.reduce.hex() and old.facts["output"] is not None
        old_root = bytes(old.levels[-1].ids[0]) if follows and old is not None else None
        flat = self.job.combiner is None and bool(nodes)
        if flat and nodes[0].old_id is None:
            old_root = None
        others = {plan.root} | ({old_root} if old_root is not None else set())
        refs = plan.refs_for(nodes, others)
        if not flat and old_root not in refs:  # the root of a flat tree is not stored
            old_root = None
        return ContractSpec(
            code=functions_of(self.job),
            shards=self._shards,
            worker=self.memo.worker_config(),
            nodes=tuple(nodes),
            root=plan.root,
            old_root=old_root,
            old_output=RunRef.of_fact(old.facts["output"]) if old_root is not None and old is not None else None,
            refs=refs,
            wide=self._shape == WIDE,
            deltas={id_: delta for id_, delta in self._deltas.items() if id_ in refs},
        )

    def _count_tasks(self, plan: TreePlan) -> None:
        self.report.combine.tasks = sum(len(level.ids) for level in plan.levels[1:]) * self._shards
        self.report.reduce.tasks = self._shards if self.job.reducer is not None else 0

    def _root_hash(self, plan: TreePlan) -> bytes:
        """What the root holds, shard by shard; without a combiner there is no root but its chunks."""
        if self.job.combiner is None or not len(plan.levels[0].ids):
            return block_hash(plan.levels[-1].ids.tobytes())
        reader = self._reader()
        header = RunHeader.load(RunRef.of_row(plan.levels[-1].refs[0]), self._shards, reader)
        parts = (Part.of_shard(row, shard, self._shards, reader, {}) for shard, row in enumerate(header.rows))
        return block_hash(b"".join(part.content() for part in parts))

    def _facts(self, identity: Identity, output: RunRef | None) -> dict[str, Any]:
        return {
            "encoding": ENCODING_VERSION,
            "tree": identity.tree,
            "reduce": identity.reduce.hex(),
            "parts": identity.parts,
            "shards": self._shards,
            "output": output.to_fact() if output else None,
            "refused": self._refused,
            "trial": self._trial,
            "narrow": identity.combine.hex() if self._narrow else None,
            **self._tallies.facts(),
            "places": self._runner.places,
            "amended": sorted(self._amended),
            "reads": self._reads.as_fact(),
            "origin": asdict(self.options.origin) if self.options.origin is not None else None,
        }


def _output_id(identity: Identity, plan: TreePlan) -> bytes:
    return xxhash.xxh3_128_digest(identity.reduce + plan.levels[-1].ids.tobytes())
