"""Run an unmodified mrjob job on the engine: mrjob's own runner, with its steps run by incoop.

Contract: options, configuration files, input paths, side files, protocols, output folders and counters are mrjob's own
doing; only what its inline runner does inside a step is replaced. The output's bytes are those of `-r inline`, its
part files in order. A step whose functions keep something in globals is the inline runner's own, with a note.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mrjob.conf import combine_local_envs
from mrjob.fs.local import _from_file_uri
from mrjob.inline import InlineMRJobRunner
from mrjob.runner import MRJobRunner

from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.code import KeepsState
from incoop.code.errors import named
from incoop.engine.report import RunReport
from incoop.fingerprint.files import folder_digest
from incoop.fronts.mrjob.code import JobCode
from incoop.fronts.mrjob.identity import Source, leads_to, named_files, side_files
from incoop.fronts.mrjob.load import LoadedJob
from incoop.fronts.mrjob.steps import MrjobStep, StepInput, StepOutput, roles_of
from incoop.fronts.mrjob.surroundings import COUNTER_SEPARATOR
from incoop.fronts.mrjob.task_files import raw_tasks, task_file, write_tasks
from incoop.fronts.mrjob.tasks import LINES, RESULT, TASK
from incoop.inchdfs.errors import InputNotFound
from incoop.job_session import JobSession

log = logging.getLogger("incoop")

_PART = re.compile(r"part-\d{5,}")

#: What each kind of step that is no streaming step can be run with.
_ELSEWHERE = {"jar": "a Hadoop cluster", "spark_jar": "spark-submit"}


class IncoopRunner(InlineMRJobRunner):  # type: ignore[misc]
    """mrjob's inline runner, whose steps run on incoop's engine."""

    def __init__(self, session: JobSession, loaded: LoadedJob, job: Any, **options: Any) -> None:
        super().__init__(**_with_local_paths(options))
        self._session, self._loaded, self._job = session, loaded, job
        self._previous: StepOutput | None = None
        self._engine_steps: list[MrjobStep] = []
        self.reports: list[RunReport] = []
        self.notes: list[str] = []

    def _check_step(self, step: Any, step_num: int) -> None:
        if step["type"] != "streaming":
            where = _ELSEWHERE.get(step["type"], "`incoop submit`, if it is put into a script of its own")
            raise BadCall(
                f"step {step_num + 1} is a {step['type']} step, which has no mapper and reducer to memoize; "
                f"run it with {where}, or the whole job with plain mrjob."
            )
        MRJobRunner._check_step(self, step, step_num)

    def _check_input_path(self, path: str) -> None:
        if path != "-" and not self.fs.exists(path):
            raise InputNotFound(path, "no such file or folder")

    def _create_dist_cache_dir(self, step_num: int) -> None:
        for kind in ("file", "archive"):
            for path in self._working_dir_mgr.name_to_path(kind).values():
                local_path(path, percent=False)  # of another file system: refused
        try:
            super()._create_dist_cache_dir(step_num)
        except FileNotFoundError as missing:
            raise BadCall(
                f"the side file {missing.filename} does not exist; it is named in FILES, DIRS or ARCHIVES of the job, "
                "in --files, --dirs or --archives, or in a file option of the job."
            ) from missing

    def _input_paths_for_step(self, step_num: int) -> list[str]:
        # A folder's files by name: the order in which a file system lists them says nothing.
        if step_num:
            return [str(path) for path in _parts_in(Path(self._output_dir_for_step(step_num - 1)))]
        return [_from_file_uri(path) for glob in self._get_input_paths() for path in sorted(self.fs.ls(glob))]

    def _run_streaming_step(self, step: Any, step_num: int) -> None:
        for number in range(self._num_steps()) if step_num == 0 else ():
            self._create_dist_cache_dir(number)
        if step_num == 0:
            self._engine_steps = self._all_steps()
        engine_step = self._engine_steps[step_num]
        kept: KeepsState | None = None
        try:
            output = engine_step.run(self._input(engine_step))
        except KeepsState as error:
            kept = error
        if kept is not None:  # here, since what fails in there is the user's error alone
            self._run_as_mrjob(engine_step, kept)
            return
        self._previous = output
        self.reports += output.reports
        self._count(step_num, output)
        self._log_counters(step_num)
        last = step_num == self._num_steps() - 1
        if last or self._step_output_dir:
            self._write_parts(Path(local_path(self._output_dir_for_step(step_num), percent=False)), output)

    def _run_as_mrjob(self, step: MrjobStep, kept: KeepsState) -> None:
        """Run a step as the inline runner does: in one process, where globals live from one task to the next."""
        if not all(map(step.is_plain, roles_of(step.description))):
            raise kept  # the inline runner has no commands
        changed = named(kept.differs)
        self._note(f"step {step.number + 1}: mrjob's own runner runs this, and nothing is reused ({changed} meanwhile)")
        if self._previous is not None:
            self._write_parts(Path(self._output_dir_for_step(step.number - 1)), self._previous)
        super()._run_streaming_step(step.description, step.number)
        self._previous = None  # the next step reads files

    def _all_steps(self) -> list[MrjobStep]:
        """The steps; worked out backwards, since one whose output shows its tasks asks for those of the one before."""
        steps: list[MrjobStep] = []
        shows = False
        for number, step in reversed(list(enumerate(self._get_steps()))):
            steps.insert(0, self._step(step, number, shows))
            shows = steps[0].has_own_tasks()
        return steps

    def _step(self, step: Any, step_num: int, tasks_show: bool) -> MrjobStep:
        cache = Path(self._dist_cache_dir(step_num)).absolute()
        code = self._code(step_num, cache)
        variables = {**os.environ, **dict(code.variables)}
        roles = roles_of(step)
        return MrjobStep(
            name=f"{self._loaded.path.stem} {self._loaded.job.__name__} step {step_num + 1}",
            number=step_num,
            job=self._job,
            description=step,
            code=code,
            content={role: leads_to(step[role], cache, variables) for role in roles},
            source=Source(self._loaded.modules()),
            sort_values=bool(self._sort_values),
            tasks=self._num_reducers(step_num) * 2,
            tasks_show=tasks_show,
            scratch=cache.parent / "incoop",
            session=self._session,
            refusals=self._session.datasets.folder.parent / "mrjob-combiners",
            note=self._note,
        )

    def _code(self, step_num: int, cache: Path) -> JobCode:
        from incoop.code import light_cloudpickle as cloudpickle

        asked = _as_variables({**self._jobconf_for_step(step_num)}) | self._cmdenv()
        simulated = _as_variables(self._simulate_jobconf_for_step("mapper", step_num, 0))
        combined = combine_local_envs(os.environ, simulated, asked)
        return JobCode(
            job=self._loaded.job,
            arguments=tuple(self._mr_job_extra_args()),
            variables=tuple(sorted((k, v) for k, v in combined.items() if os.environ.get(k) != v)),
            asked=tuple(sorted(asked.items())),
            cache=str(cache),
            files=(
                *side_files(cache, Path(self._script_path or self._loaded.path).name),
                *named_files(self._loaded.path, cache),
            ),
            import_from=(str(self._loaded.path.parent.absolute()),),
            pickled=cloudpickle.dumps(self._loaded.job),
        )

    def _input(self, step: MrjobStep) -> StepInput:
        """What the step's mappers read, and how it is cut into tasks."""
        if self._previous is not None:
            return self._input_from(self._previous, step)
        paths = self._input_paths_for_step(step.number)
        if self._uses_input_manifest() and step.number == 0:
            named = Path(paths[0]).read_text().splitlines()
            digests = {path: folder_digest(Path(path)).hex() for path in named}
            return StepInput(TASK, raw_tasks(step.scratch / "raw", named, digests))
        empty = not any(Path(path).stat().st_size for path in paths)
        if step.has_own_tasks() or step.source.names_input_range() or (empty and step.speaks_unasked()):
            return self._mrjobs_own_tasks(step, paths)
        if not step.source.names_input_file():
            return StepInput(LINES, paths)
        variables = {path: _as_variables(_of_file({"file": path})) for path in dict.fromkeys(paths)}
        if len(variables) < len(paths):
            return self._mrjobs_own_tasks(step, paths)  # a file that is read twice has one name
        return StepInput(LINES, paths, variables)

    def _input_from(self, previous: StepOutput, step: MrjobStep) -> StepInput:
        """The result of the step before; as a file where a mapper has to see its lines in their order."""
        if step.has_own_tasks():
            folder = step.scratch / "parts"
            self._write_parts(folder, previous)
            return self._mrjobs_own_tasks(step, [str(path) for path in sorted(folder.iterdir())])
        needs_order = "mapper" in step.description and step.has_state("mapper")
        empty = not any(lines for _, lines in previous.result)
        if not needs_order and not (empty and step.speaks_unasked()):
            return StepInput(RESULT, previous.result)
        if empty:
            return StepInput(TASK, write_tasks(step.scratch / "map", [task_file({})]))
        path = step.scratch / "lines"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(previous.sorted_lines().lines)
        return StepInput(LINES, [str(path)])

    def _mrjobs_own_tasks(self, step: MrjobStep, paths: list[str]) -> StepInput:
        """The input cut as the inline runner cuts it, for jobs whose output shows where that is."""
        splits = self._split_mapper_input(paths, step.number)
        named = step.source.names_input_file() or step.source.names_input_range()

        def contents() -> Iterator[bytes]:
            for number, split in enumerate(splits):
                lines = Path(self._task_input_path("mapper", step.number, number)).read_bytes()
                yield task_file({"variables": _as_variables(_of_file(split))} if named else {}, lines)

        return StepInput(TASK, write_tasks(step.scratch / "map", contents()))

    def _count(self, step_num: int, output: StepOutput) -> None:
        """The engine's counters in the groups that mrjob shows."""
        counters = self._counters[step_num]
        for report in output.reports:
            for name, amount in report.counters.items():
                group, separator, own = name.partition(COUNTER_SEPARATOR)
                if separator:
                    of_group = counters.setdefault(group, {})
                    of_group[own] = of_group.get(own, 0) + amount

    def _write_parts(self, folder: Path, output: StepOutput) -> None:
        """Part files, about as many as mrjob would write; those of an earlier run that are left over go."""
        folder.mkdir(parents=True, exist_ok=True)
        names = set()
        for number, lines in enumerate(output.parts(self._num_reducers(0) * 2)):
            name = f"part-{number:05d}"
            names.add(name)
            (folder / name).write_bytes(lines)
        for path in folder.iterdir():
            if _PART.fullmatch(path.name) and path.name not in names:
                path.unlink()

    def cat_output(self) -> Iterator[bytes]:
        """The part files in order, where mrjob takes them as the file system lists them."""
        for path in _parts_in(Path(self.get_output_dir())):
            with path.open("rb") as file:
                while piece := file.read(1 << 20):
                    yield piece

    def _log_cause_of_error(self, ex: Exception) -> None:
        """The error itself says where it was."""

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        log.warning(sentence)


def _parts_in(folder: Path) -> list[Path]:
    """The part files of a step, in order."""
    return [path for path in sorted(folder.iterdir()) if _PART.fullmatch(path.name)]


def _with_local_paths(options: dict[str, Any]) -> dict[str, Any]:
    """mrjob's options with the paths of inputs and outputs as this machine knows them; others are refused."""
    found = dict(options)
    for name in ("output_dir", "step_output_dir"):
        if found.get(name):
            found[name] = local_path(found[name], percent=False)
    inputs = found.get("input_paths") or ()
    found["input_paths"] = [path if path == "-" else local_path(path, percent=False) for path in inputs]
    return found


def _as_variables(jobconf: dict[str, Any]) -> dict[str, str]:
    return {name.replace(".", "_"): str(value) for name, value in jobconf.items()}


def _of_file(split: dict[str, Any]) -> dict[str, str]:
    """What Hadoop tells a map task of the file it reads, under its old and new names."""
    told = {"file": f"file://{split['file']}"} | {k: str(split[k]) for k in ("start", "length") if k in split}
    return {f"{prefix}.input.{k}": v for k, v in told.items() for prefix in ("mapreduce.map", "map")}


def made_job(loaded: LoadedJob) -> Any:
    """A job object with the arguments in `sys.argv`; ends the process as its `run()` would when they are wrong."""
    job = loaded.job()
    if job.options.runner not in (None, "inline", "local"):
        log.warning("-r %s: the job runs on incoop all the same; that runner's options do nothing", job.options.runner)
    if not job.steps():
        raise BadCall(f"{loaded.job.__name__} in {loaded.path} has no steps: define a mapper or a reducer, or steps().")
    return job


def run_job(session: JobSession, loaded: LoadedJob, job: Any) -> IncoopRunner:
    """Run a job as its `run()` would; gives the runner with its reports."""
    job._runner_class = lambda: IncoopRunner
    runner = IncoopRunner(session, loaded, job, **job._runner_kwargs())
    job.make_runner = lambda: runner
    mrjobs_log = logging.getLogger("mrjob")
    mrjobs_log.propagate = False  # it has a handler of its own
    try:
        job.run_job()
    finally:
        mrjobs_log.propagate = True
    return runner
