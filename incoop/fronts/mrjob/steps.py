"""One step of an mrjob job on the engine: which tasks it has, what they read, and at which grain they are reused.

Contract: the result's pairs, sorted by place, are the lines that mrjob's inline runner gives for the step.

| part of a step | grain |
|---|---|
| mapper without state or `_init` of a step with a reducer | a leaf of the input |
| any other mapper | a chunk of the input, or a block of the step before |
| mapper of a step without reducer that keeps state or has a `_final`; `mapper_raw` | mrjob's own task; a file |
| combiner | the engine's tree; with `combiner_final`, or where that cannot be, the map task |
| reducer | a key |
| reducer with `_init`, `_final`, state, a command, a filter or a protocol of the user's | mrjob's own task |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from incoop.contraction.tree.known_combiners import BatchCombiner, QuickBatchCombiner
from incoop.engine.failures import AtKey, CombinerNotSound, JobFailed
from incoop.engine.report import RunReport
from incoop.engine.stages.map_contract.mapping import RecordsMapper
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.fingerprint import fingerprint
from incoop.fronts.common.combiners import CombinerGivesOtherKeys
from incoop.fronts.mrjob.code import JobCode, Script
from incoop.fronts.mrjob.identity import Source
from incoop.fronts.mrjob.lines import RawLines
from incoop.fronts.mrjob.sorted_lines import SortedLines, sorted_lines
from incoop.fronts.mrjob.statefulness import keeps_state
from incoop.fronts.mrjob.task_files import task_file, write_tasks
from incoop.fronts.mrjob.tasks import (
    LINES,
    RESULT,
    TASK,
    Gather,
    KeyCombiner,
    MapLines,
    MapTask,
    ReduceKey,
    ReduceTask,
)
from incoop.inchdfs.cutting.records import RecordFormat, WholeFile
from incoop.job import DEFAULT_SHARDS, Job
from incoop.job_session import JobSession
from incoop.memo.kept_bytes import KeptBytes
from incoop.result import Result

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class StepInput:
    """What the mappers of a step read."""

    #: LINES of files, the RESULT of the step before, or TASK files.
    reads: str
    #: Paths, or that result.
    source: Any
    #: Variables for each path, where tasks ask for the name of their file.
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepOutput:
    """A step's lines by place, and the reports of the jobs that gave them."""

    result: Result
    reports: list[RunReport]
    #: One pair a task of mrjob's own, in order.
    by_task: bool
    #: The lines in the order of mrjob's part files, as they were last.
    kept: KeptBytes

    def sorted_lines(self) -> SortedLines:
        """Places and lines, in the order of mrjob's part files; not for tasks of mrjob's own, which share a place."""
        return sorted_lines(self.result, self.kept)

    def parts(self, tasks: int) -> Iterable[bytes]:
        """The part files, about as many as mrjob would write for so many reduce tasks."""
        if self.by_task:
            return [lines for _, lines in self.result]
        return self.sorted_lines().cut(tasks)


@dataclass(frozen=True, slots=True)
class MrjobStep:
    """A step, told by the job's own object and by mrjob's description of it."""

    name: str
    number: int
    job: Any
    #: mrjob's description: for each of mapper, combiner and reducer whether it is a script or a command.
    description: Mapping[str, Any]
    code: JobCode
    #: For each role, names and digests of what its command or filter leads to.
    content: Mapping[str, tuple[tuple[str, bytes], ...]]
    source: Source
    sort_values: bool
    #: How many reduce tasks mrjob would aim at.
    tasks: int
    #: The next step's output shows which tasks this one had.
    tasks_show: bool
    scratch: Path
    session: JobSession
    #: Where it is kept which combiners turned out not to be contracted.
    refusals: Path
    note: Note

    def script(self, role: str) -> Script | None:
        described = self.description.get(role)
        if described is None:
            return None
        return Script(self.code, self.number, role, described, self.content.get(role, ()))

    def functions(self, role: str) -> tuple[Any, Any, Any]:
        """The function itself, its `_init` and its `_final`; None for what is not there."""
        step = self.job.steps()[self.number]
        return step[role], step[f"{role}_init"], step[f"{role}_final"]

    def is_plain(self, role: str) -> bool:
        """Whether it is a function of the job file, without a filter before it."""
        described = self.description.get(role, {})
        return described.get("type") == "script" and "pre_filter" not in described

    def has_state(self, role: str) -> bool:
        """Whether what it gives for a record or key may depend on those before it."""
        if not self.is_plain(role):
            return role in self.description
        function, init, final = self.functions(role)
        return final is not None or keeps_state(self.job, function, init)

    def speaks_unasked(self) -> bool:
        """Whether a map task may give lines without having read any."""
        if "mapper" not in self.description:
            return False
        _, init, final = self.functions("mapper")
        return not self.is_plain("mapper") or init is not None or final is not None

    def reads_keys(self, role: str) -> bool:
        """Whether lines that differ before the first tab have different keys: so with mrjob's protocols of pairs."""
        read, _ = self.job.pick_protocols(self.number, role)
        protocol = type(getattr(read, "__self__", None))
        return protocol.__module__ == "mrjob.protocol" and not protocol.__name__.endswith("ValueProtocol")

    def maps_lines(self) -> bool:
        """Whether the mapper may be called with any lines of an input, and gives of each what it always gives."""
        if "mapper" not in self.description or "reducer" not in self.description or not self.is_plain("mapper"):
            return False
        _, init, final = self.functions("mapper")
        aside = self._looks_around() or self.source.prints()
        return init is None and final is None and not self.has_state("mapper") and not aside

    def has_own_tasks(self) -> bool:
        """Whether a step without a reducer has to have the map tasks that mrjob would give it."""
        if "reducer" in self.description or "mapper" not in self.description:
            return False
        return self.tasks_show or (self.is_plain("mapper") and self.has_state("mapper"))

    def reduces_by_key(self) -> bool:
        if self.tasks_show or not self.is_plain("reducer"):
            return False
        _, init, final = self.functions("reducer")
        return init is None and final is None and not self.has_state("reducer") and self.reads_keys("reducer")

    def contracts(self) -> bool:
        """Whether the combiner may be called by the engine's tree, on any keys and as often as it likes."""
        if "combiner" not in self.description or "reducer" not in self.description:
            return False
        if not self.is_plain("combiner"):
            return True
        return self.functions("combiner")[2] is None and self.reads_keys("combiner")

    def run(self, given: StepInput) -> StepOutput:
        """Run the step; once more with the combiner in map tasks when it turns out that the tree cannot have it."""
        if not self.contracts():
            return self._run(given, contract=False)
        refusal = self.refusals / fingerprint(self._batch(given)).hex()
        if refusal.exists():
            return self._run_without_tree(given, refusal.read_text())
        try:
            return self._run(given, contract=True)
        except (CombinerNotSound, CombinerGivesOtherKeys) as unsound:
            why = str(unsound)
        except JobFailed as failed:
            if not isinstance(failed.place, AtKey):
                raise  # a mapper's failure has nothing to do with the combiner
            why = f"after combining combined values, {failed.error}"
        output = self._run_without_tree(given, why)
        refusal.parent.mkdir(parents=True, exist_ok=True)
        refusal.write_text(why)
        return output

    def _run_without_tree(self, given: StepInput, why: str) -> StepOutput:
        self.note(
            f"step {self.number + 1}: the combiner runs in map tasks only, and all values of a changed key are reduced "
            f"again ({why})"
        )
        return self._run(given, contract=False)

    def _batch(self, given: StepInput) -> BatchCombiner:
        """The combiner as the tree calls it."""
        combiner = self.script("combiner")
        assert combiner is not None
        stateless = self.is_plain("combiner") and not self.has_state("combiner") and not self._looks_around()
        stateless = stateless and self.functions("combiner")[1] is None
        kind = QuickBatchCombiner if stateless else BatchCombiner
        return kind(KeyCombiner(combiner, given.reads == RESULT, self.sort_values, stateless))

    def _run(self, given: StepInput, contract: bool) -> StepOutput:
        placed = given.reads == RESULT
        last = "reducer" not in self.description
        map_task = MapTask(
            script=self.script("mapper"),
            reads=given.reads,
            combiner=None if contract else self.script("combiner"),
            sort_values=self.sort_values,
            last=last,
            variables={},
        )
        batch = self._batch(given) if contract else None
        reducer = self.script("reducer")
        by_key = reducer is not None and self.reduces_by_key()
        reduce: Any = None
        if reducer is not None:
            reduce = (
                ReduceKey(reducer, placed, self.sort_values, self._looks_around())
                if by_key
                else Gather(placed, self.sort_values)
            )
        result = self._on_engine(self.name, map_task, given, reduce, batch)
        output = StepOutput(result, [result.report], last and given.reads == TASK, self._kept())
        if reducer is None or by_key:
            return output
        return self._reduce_tasks(reducer, output)

    def _looks_around(self) -> bool:
        return bool(self.code.asked) or self.source.looks_around()

    def _on_engine(self, name: str, task: MapTask, given: StepInput, reducer: Any, combiner: Any) -> Result:
        records: RecordFormat = WholeFile() if given.reads == TASK else RawLines()
        mapper: Any = ChunkMapper(task)
        if task.script is not None and task.combiner is None and given.reads == LINES and self.maps_lines():
            mapper = RecordsMapper(MapLines(task.script))
        inputs = given.source
        if given.variables:
            mapper = {path: ChunkMapper(replace(task, variables=each)) for path, each in given.variables.items()}
            inputs = {path: path for path in given.variables}
        # A next step maps its blocks, so that there must be some.
        job = Job(name, mapper, reducer, combiner, shards=DEFAULT_SHARDS, records=records)
        return self.session.run(job, inputs)

    def _reduce_tasks(self, reducer: Script, gathered: StepOutput) -> StepOutput:
        """Run whole reduce tasks, cut where mrjob would cut them, each in a file of its own."""
        pieces = gathered.sorted_lines().cut(self.tasks)
        paths = write_tasks(self.scratch / "reduce", (task_file({}, piece) for piece in pieces))
        job = Job(self.name, ChunkMapper(ReduceTask(reducer)), stage="reduce tasks", records=WholeFile())
        result = self.session.run(job, paths)
        return StepOutput(result, [*gathered.reports, result.report], True, gathered.kept)

    def _kept(self) -> KeptBytes:
        return self.session.kept_bytes("mrjob-lines", fingerprint(self.name).hex())


def roles_of(description: Mapping[str, Any]) -> list[str]:
    """What a step has of mapper, combiner and reducer."""
    return [role for role in ("mapper", "combiner", "reducer") if role in description]
