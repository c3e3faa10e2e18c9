"""Run unmodified programs in the tests' Spark: by PySpark alone, and as `incoop submit` does."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import inchdfs
from incoop.fronts.rdd_submit import Programs, patched, run_script

if TYPE_CHECKING:
    from incoop.fronts.rdd_program import RddProgram

PROGRAMS = Path(__file__).with_name("programs")

#: Small enough that a test's input has many chunks.
CHUNKS = inchdfs.ChunkSettings(average=2048)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of a program printed, and what the engine did for it."""

    output: str
    code: int
    programs: list[RddProgram]

    @property
    def mapped(self) -> tuple[int, int]:
        """Chunks that were mapped, of all, in all stages."""
        reports = [report for program in self.programs for report in program.reports]
        return sum(report.map.executed for report in reports), sum(report.map.tasks for report in reports)

    @property
    def notes(self) -> list[str]:
        return [note for program in self.programs for note in program.notes]


@contextlib.contextmanager
def _spark_goes_on() -> Iterator[None]:
    """A program may stop Spark at its end; the tests still need it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkContext, "stop", lambda self: None)
        patch.setattr(SparkSession, "stop", lambda self: None)
        yield


def run_plain(script: Path, *arguments: object) -> Ran:
    with _spark_goes_on(), contextlib.redirect_stdout(io.StringIO()) as output:
        code = run_script(str(script), [str(each) for each in arguments])
    return Ran(output.getvalue(), code, [])


def run_memoized(store: Path, script: Path, *arguments: object) -> Ran:
    programs = Programs(script.name, store=store, chunks=CHUNKS)
    with _spark_goes_on(), contextlib.redirect_stdout(io.StringIO()) as output, patched(programs):
        try:
            code = run_script(str(script), [str(each) for each in arguments])
        finally:
            programs.close_all()
    return Ran(output.getvalue(), code, programs.all)
