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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from incoop import inchdfs
from incoop.base.atomic import make_private_folder
from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.contraction.tree.known_combiners import BatchCombiner
from incoop.engine.failures import JobFailed
from incoop.engine.report import RunReport, StageCount
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.fronts.common.combiners import CombinerGivesOtherKeys
from incoop.fronts.common.reports import added_up
from incoop.fronts.streaming.combine import CombineChunk, CombineStage, LineCombiner, passed_on
from incoop.fronts.streaming.failures import place_in_job, shown_partition, told
from incoop.fronts.streaming.job_commands import JobCommands
from incoop.fronts.streaming.map import MapOnlyStage, MapStage, WholeChunks
from incoop.fronts.streaming.options import Options
from incoop.fronts.streaming.part_files import refuse_existing, write_in_order, write_partitions
from incoop.fronts.streaming.partitions import REDUCE_SHARDS, tree_shards
from incoop.fronts.streaming.program import Program
from incoop.fronts.streaming.reduce import Partitions, ReduceBuckets, ReduceStage
from incoop.fronts.streaming.seen_reads import observed
from incoop.fronts.streaming.settings import Settings, input_paths
from incoop.fronts.streaming.task_folders import clear_task_folders
from incoop.fronts.streaming.trial import TrialStage, sample_blocks
from incoop.inchdfs.files.sources import expand
from incoop.job import Hints, Job
from incoop.job_session import JobSession
from incoop.result import Result

#: Chunks large enough that starting a process (10 to 50 ms for an interpreter) is little beside mapping them, and even,
#: so that an edit does not happen to fall into one that is several times as large.
CHUNKS = inchdfs.ChunkSettings(average=5 << 18, maximum=3 << 19)

#: So many partitions are reduced by threads of this process: more are worth a Spark job.
_REDUCED_NEARBY = 4

#: Of jobs whose functions start the user's commands: a chunk is mapped beside a thread of this process.
_COMMANDS = Hints(nearby=1)


def run_streaming(session: JobSession, options: Options) -> RunReport:
    """Run a job and write its output; the report says what was reused, `options.notes` what had no effect."""
    if options.output is None:
        raise BadCall("no output is named: -output FOLDER.")
    output = Path(local_path(options.output, percent=False)).absolute()
    refuse_existing(output)
    for folder in options.inputs:
        if Path(folder).is_dir() and output.is_relative_to(Path(folder).absolute()):
            options.note(f"the output lies in the input {folder}: the next run on that reads it, too.")
    store = session.datasets.folder.parent.absolute()
    make_private_folder(store)
    clear_task_folders()
    prefix = f"streaming-{os.getpid()}-"  # by which the next command knows what a killed one left
    with tempfile.TemporaryDirectory(prefix=prefix, dir=store, ignore_cleanup_errors=True) as staging:
        job = StreamingJob.of(options, Path(staging))
        try:
            return job.run(session, output)
        except CombinerGivesOtherKeys as other:
            report = job.without_combiner().run(session, output)
            return replace(report, warnings=[*report.warnings, f"running without the combiner: {other}"])
        finally:
            observed(job.commands.states)  # also of a job that failed: finished tasks are kept


@dataclass(frozen=True, slots=True)
class StreamingJob:
    """A job as jobs of the engine."""

    options: Options
    settings: Settings
    inputs: list[str]
    commands: JobCommands

    @classmethod
    def of(cls, options: Options, staging: Path) -> StreamingJob:
        """The job that options ask for, its files in place."""
        settings, inputs = Settings.of(options), input_paths(options)
        return cls(options, settings, inputs, JobCommands.found(options, settings, inputs, staging))

    def without_combiner(self) -> StreamingJob:
        return replace(self, commands=replace(self.commands, combiner=None))

    def run(self, session: JobSession, output: Path) -> RunReport:
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
        return replace(
            report,
            reduce=StageCount(settings.reducers, report.keys_reduced),
            seconds={**report.seconds, "total": time.perf_counter() - started},
        )

    def _reduced(self, session: JobSession) -> tuple[Result, RunReport]:
        settings, commands = self.settings, self.commands
        reduce = ReduceStage(
            commands.reducer,
            settings.reducers,
            settings.order,
            settings.input_separator,
            settings.reduce_printed,
            settings.output_separator,
            settings.trailing,
        )
        if commands.combiner is None:
            job = Job(
                *(commands.name, self._mappers(None), reduce),
                shards=REDUCE_SHARDS,
                records=WholeChunks(),
                hints=_COMMANDS,
            )
            result = session.run(job, self._inputs())
            return result, result.report
        combine = LineCombiner(commands.combiner, settings.order, settings.input_separator, settings.combine_printed)
        combining = Job(
            commands.name,
            self._mappers(CombineChunk(combine, settings.partitioner)),
            passed_on,
            BatchCombiner(CombineStage(combine, settings.partitioner)),
            shards=tree_shards(settings.reducers),
            records=WholeChunks(),
            stage="combine",
            hints=Hints(nearby=1, tries_combiner=False, takes_old=True),
        )
        if settings.tries_combiner and isinstance(commands.combiner, Program):
            self._try_combiner(session, combine, reduce)
        combined = session.run(combining, self._inputs())
        reducing = Job(commands.name, ChunkMapper(ReduceBuckets(reduce)), hints=Hints(nearby=_REDUCED_NEARBY))
        try:
            result = session.run(reducing, Partitions(combined, settings.partitioner))
        except JobFailed as failed:
            raise told(failed, shown_partition(failed)) from None
        return result, _together(combined.report, result.report)

    def _try_combiner(self, session: JobSession, combine: LineCombiner, reduce: ReduceStage) -> None:
        """Raise UnsoundCombiner if the combiner changes the result of a sample; asked once for each set of commands."""
        trial = TrialStage(self._map_stage(None), combine, reduce)
        sample = sample_blocks(session.datasets, self.inputs)
        session.run(Job(self.commands.name, ChunkMapper(trial), stage="trial", hints=_COMMANDS), sample)

    def _map_stage(self, combine: CombineChunk | None) -> MapStage:
        settings = self.settings
        separator = settings.key_value_separator
        return MapStage(
            self.commands.mapper, settings.order, settings.partitioner, combine, key_value_separator=separator
        )

    def _mappers(self, combine: CombineChunk | None) -> Any:
        stage = self._map_stage(combine)

        def mapper(input_file: str | None) -> ChunkMapper:
            own = replace(stage, input_file=input_file)
            return ChunkMapper(own)

        return {name: mapper(name) for name in self._files()} if self.commands.names_input else mapper(None)

    def _map_only_job(self) -> Job:
        settings = self.settings
        stages = self._mappers(None)

        def only(mapper: ChunkMapper) -> ChunkMapper:
            assert isinstance(mapper.function, MapStage)
            rule = settings.order.rule
            stage = MapOnlyStage(mapper.function, rule, settings.output_separator, settings.trailing)
            return ChunkMapper(stage)

        mapper = {name: only(each) for name, each in stages.items()} if isinstance(stages, Mapping) else only(stages)
        return Job(self.commands.name, mapper, records=WholeChunks(), hints=_COMMANDS)

    def _inputs(self) -> Any:
        return {name: [path] for name, path in self._files().items()} if self.commands.names_input else self.inputs

    def _files(self) -> dict[str, str]:
        """Every input file by the URI that Hadoop would name it by."""
        paths = [str(file.path.absolute()) for file in expand(self.inputs)]
        return {f"file:{path}": path for path in paths}


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
