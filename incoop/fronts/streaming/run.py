"""Hadoop Streaming: jobs whose mapper, combiner and reducer are commands.

Contract: the output is what the same commands give from scratch, whatever is reused. A chunk of about 1.25 MiB is
mapped in one process and is the grain of what is mapped again; combined lines are updated bucket by bucket; a reducer
may keep state from key to key, so that it runs again for all of its partition when a line of it changed.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import xxhash

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.contraction.tree.batches import BatchCombiner, ChunkMapper
from incoop.engine.failures import JobFailed
from incoop.engine.report import RunReport
from incoop.fronts.common.combiners import CombinerGivesOtherKeys
from incoop.fronts.common.reports import added_up
from incoop.fronts.streaming.combine import (
    CombineChunk,
    CombineStage,
    LineCombiner,
    passed_on,
)
from incoop.fronts.streaming.failures import place_in_job, shown_partition, told
from incoop.fronts.streaming.map import MapOnlyStage, MapStage, WholeChunks
from incoop.fronts.streaming.options import Options
from incoop.fronts.streaming.part_files import refuse_existing, write_in_order, write_partitions
from incoop.fronts.streaming.partitions import REDUCE_SHARDS, tree_shards
from incoop.fronts.streaming.programs import Program, ProgramBuilder, caller_environment
from incoop.fronts.streaming.properties import is_placement, variable_of
from incoop.fronts.streaming.reduce import AGGREGATE, Partitions, ReduceBuckets, ReduceStage
from incoop.fronts.streaming.seen_reads import observed
from incoop.fronts.streaming.settings import Settings, command_or_none, input_paths
from incoop.fronts.streaming.shipped_files import ShippedFile, without_clashes
from incoop.fronts.streaming.trial import Trial, sample_blocks
from incoop.inchdfs.files.sources import expand
from incoop.job import Job
from incoop.result import Result
from incoop.session import Session

#: Chunks large enough that starting a process (10 to 50 ms for an interpreter) is little beside mapping them, and even,
#: so that an edit does not happen to fall into one that is several times as large.
CHUNKS = inchdfs.ChunkSettings(average=5 << 18, maximum=3 << 19)

#: So many partitions are reduced by threads of this process: more are worth a Spark job.
_REDUCED_NEARBY = 4

#: How a mapper's text shows that it wants to know its input file: both names of the variable end so.
_INPUT_FILE = b"map_input_file"

#: Programs larger than this are not searched for it: they are interpreters, not scripts.
_SEARCHED = 1 << 20


def run_streaming(session: Session, options: Options) -> RunReport:
    """Run a job and write its output; the report says what was reused, `options.notes` what had no effect."""
    if options.output is None:
        raise BadCall("no output is named: -output FOLDER.")
    output = Path(local_path(options.output, percent=False)).absolute()
    refuse_existing(output)
    for folder in options.inputs:
        if Path(folder).is_dir() and output.is_relative_to(Path(folder).absolute()):
            options.note(f"the output lies in the input {folder}: the next run on that reads it, too.")
    store = session.datasets.folder.parent.absolute()
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="streaming-", dir=store, ignore_cleanup_errors=True) as staging:
        job = StreamingJob(options, Path(staging))
        try:
            return job.run(session, output)
        except CombinerGivesOtherKeys as other:
            job.leave_combiner_out()
            report = job.run(session, output)
            report.warnings.append(f"running without the combiner: {other}")
            return report
        finally:
            observed(job.states)  # also of a job that failed: finished tasks are kept


class StreamingJob:
    """A job with its commands found and its files in place."""

    def __init__(self, options: Options, staging: Path) -> None:
        self.options = options
        self.settings = Settings.of(options)
        self.inputs = input_paths(options)
        builder = _builder(options, self.settings, staging)
        mapper, combiner, reducer = self._commands()
        wanted = {"mapper": mapper, "combiner": combiner, "reducer": reducer}
        words = {
            role: builder.words(role, text) for role, text in wanted.items() if text is not None and text != AGGREGATE
        }
        builder.stage()
        programs = {role: builder.build(role, str(wanted[role]), words) for role in words}
        builder.make_executable(list(programs.values()))
        for note in builder.notes:
            options.note(note)
        #: Where programs note what they read.
        self.states = {Path(each.offered.notes) for each in programs.values() if each.offered.notes}
        self.mapper = programs.get("mapper")
        self.combiner: Program | str | None = programs.get("combiner", AGGREGATE if combiner == AGGREGATE else None)
        self.reducer: Program | str | None = programs.get("reducer", AGGREGATE if reducer == AGGREGATE else None)
        self.name = options.properties.get("mapreduce.job.name") or self._default_name(mapper, combiner, reducer)
        self.names_input = self._wants_input_file(builder)

    def _commands(self) -> tuple[str | None, str | None, str | None]:
        options = self.options
        mapper = command_or_none("mapper", options.mapper)
        if not self.settings.reducers:
            if options.combiner is not None:
                options.note("-combiner has no effect without reducers.")
            return mapper, None, None
        reducer = command_or_none("reducer", options.reducer)
        if reducer is not None and reducer.lower() == AGGREGATE:
            return mapper, AGGREGATE, AGGREGATE
        return mapper, command_or_none("combiner", options.combiner), reducer

    def _default_name(self, *commands: str | None) -> str:
        """Found again by the next run: commands and inputs say which job it is, the output's name often has a date."""
        identity = repr((commands, self.options.inputs, self.settings.reducers))
        shown = " | ".join(command for command in commands if command)[:60]
        return f"streaming {shown or 'identity'} {xxhash.xxh3_64_hexdigest(identity.encode())[:8]}"

    def leave_combiner_out(self) -> None:
        self.combiner = None

    def run(self, session: Session, output: Path) -> RunReport:
        """Run the job's stages and write the output."""
        started = time.perf_counter()
        settings = self.settings
        try:
            if not settings.reducers:
                result = session.run(self._map_only_job(), self._inputs())
                write_in_order(output, (text for _, text in result))
                return result.report
            result, report = self._reduced(session)
        except JobFailed as failed:
            raise told(failed, place_in_job(failed, settings.reducers)) from None
        write_partitions(output, result, settings.reducers, self.options.lazy_output)
        report.reduce.tasks, report.reduce.executed = settings.reducers, report.keys_reduced
        report.seconds["total"] = time.perf_counter() - started
        return report

    def _reduced(self, session: Session) -> tuple[Result, RunReport]:
        settings = self.settings
        reduce = ReduceStage(
            self.reducer,
            settings.reducers,
            settings.order,
            settings.input_separator,
            settings.reduce_printed,
            settings.output_separator,
            settings.trailing,
        )
        if self.combiner is None:
            job = Job(self.name, self._mappers(None), reduce, shards=REDUCE_SHARDS, records=WholeChunks())
            result = session.run(job, self._inputs())
            return result, result.report
        combine = LineCombiner(self.combiner, settings.order, settings.input_separator, settings.combine_printed)
        combining = Job(
            f"{self.name} (combine)",
            self._mappers(CombineChunk(combine, settings.partitioner)),
            passed_on,
            BatchCombiner(CombineStage(combine, settings.partitioner), nearby=True),
            shards=tree_shards(settings.reducers),
            records=WholeChunks(),
        )
        if settings.tries_combiner and isinstance(self.combiner, Program):
            self._try_combiner(session, combine, reduce)
        combined = session.run(combining, self._inputs())
        reducing = Job(self.name, ChunkMapper(ReduceBuckets(reduce), nearby=_REDUCED_NEARBY))
        try:
            result = session.run(reducing, Partitions(combined, settings.partitioner))
        except JobFailed as failed:
            raise told(failed, shown_partition(failed)) from None
        return result, _together(combined.report, result.report)

    def _try_combiner(self, session: Session, combine: LineCombiner, reduce: ReduceStage) -> None:
        """Raise UnsoundCombiner if the combiner changes the result of a sample; asked once for each set of commands."""
        trial = Trial(self._map_stage(None), combine, reduce)
        sample = sample_blocks(session.datasets, self.inputs)
        session.run(Job(f"{self.name} (trial)", ChunkMapper(trial, nearby=1)), sample)

    def _map_stage(self, combine: CombineChunk | None) -> MapStage:
        settings = self.settings
        separator = settings.key_value_separator
        return MapStage(self.mapper, settings.order, settings.partitioner, combine, key_value_separator=separator)

    def _mappers(self, combine: CombineChunk | None) -> Any:
        stage = self._map_stage(combine)

        def mapper(input_file: str | None) -> ChunkMapper:
            own = replace(stage, input_file=input_file)
            return ChunkMapper(own, tries_combiner=False, takes_old=combine is not None, nearby=1)

        return {name: mapper(name) for name in self._files()} if self.names_input else mapper(None)

    def _map_only_job(self) -> Job:
        settings = self.settings
        stages = self._mappers(None)

        def only(mapper: ChunkMapper) -> ChunkMapper:
            assert isinstance(mapper.function, MapStage)
            rule = settings.order.rule
            stage = MapOnlyStage(mapper.function, rule, settings.output_separator, settings.trailing)
            return ChunkMapper(stage, nearby=mapper.nearby)

        mapper = {name: only(each) for name, each in stages.items()} if isinstance(stages, Mapping) else only(stages)
        return Job(self.name, mapper, records=WholeChunks())

    def _inputs(self) -> Any:
        return {name: [path] for name, path in self._files().items()} if self.names_input else self.inputs

    def _files(self) -> dict[str, str]:
        """Every input file by the URI that Hadoop would name it by."""
        paths = [str(file.path.absolute()) for file in expand(self.inputs)]
        return {f"file:{path}": path for path in paths}

    def _wants_input_file(self, builder: ProgramBuilder) -> bool:
        """Whether mappers are given their input file's name: as asked for, else when their text mentions it."""
        wanted = self.settings.input_file
        if wanted is None:
            wanted = self.mapper is not None and _mentions_input_file(self.mapper, builder)
        if wanted and any(path.startswith("inchdfs:") for path in self.inputs):
            raise BadCall(
                "the mapper asks for its input file's name, which a stored dataset does not give; name files, or say "
                "-D incoop.input.file.name=false."
            )
        return wanted


def _mentions_input_file(mapper: Program, builder: ProgramBuilder) -> bool:
    if _INPUT_FILE in mapper.text.encode():
        return True
    paths = [builder.staging / link for link in mapper.offered.links]
    paths += [Path(word) for word in mapper.offered.argv if Path(word).is_absolute()]
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return any(
        file.is_file() and file.stat().st_size <= _SEARCHED and _INPUT_FILE in file.read_bytes() for file in files
    )


def _builder(options: Options, settings: Settings, staging: Path) -> ProgramBuilder:
    places, meaningful = caller_environment()
    counted = {
        variable_of(name): value
        for properties in (options.given_properties, options.properties)
        for name, value in properties.items()
        if not is_placement(name)
    }
    run_id = f"{time.strftime('%Y%m%d%H%M%S')}_{os.getpid()}"
    offered = {
        **{variable_of(name): value for name, value in {**options.given_properties, **options.properties}.items()},
        "mapreduce_job_id": f"job_{run_id}",
        "mapred_job_id": f"job_{run_id}",
        "mapreduce_job_name": options.properties.get("mapreduce.job.name", "streamjob"),
        "mapreduce_job_user_name": places.get("USER", ""),
        "mapreduce_input_fileinputformat_inputdir": ",".join(options.inputs),
        "mapreduce_output_fileoutputformat_outputdir": options.output or "",
        **places,
    }
    shipments = [
        *(ShippedFile.parse(text) for text in options.files),
        *(ShippedFile.parse(text, archive=True) for text in options.archives),
    ]
    reducers = str(settings.reducers)
    return ProgramBuilder(
        without_clashes(shipments),
        staging,
        staging.parent / "streaming-reads",
        {
            **counted,
            "mapreduce_job_reduces": reducers,
            "mapred_reduce_tasks": reducers,
            **meaningful,
            **options.environment,
        },
        offered,
        settings.depends_on,
        settings.exit_code_counts,
        settings.timeout,
        options.verbose,
    )


def _together(combined: RunReport, reduced: RunReport) -> RunReport:
    """The report of two jobs that are one to the user: what the second maps are the partitions that are reduced."""
    whole = added_up(reduced.job, [combined, reduced])
    whole.generation = reduced.generation
    whole.map, whole.combine = combined.map, combined.combine
    whole.keys_total, whole.keys_reduced = reduced.map.tasks, reduced.map.executed
    whole.seconds = {
        **combined.seconds,
        "spark": whole.seconds["spark"],
        "reduce": combined.seconds["reduce"] + reduced.seconds["total"],
    }
    return whole
