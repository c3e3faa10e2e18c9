"""Run an unmodified PySpark program: Spark's entry points give memoized RDDs while it runs.

Contract: the program is `__main__`, with `sys.argv` and `sys.path` as spark-submit sets them; its exit code and its
traceback are its own.
"""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from incoop.fronts.rdd.program import RddProgram
from incoop.fronts.rdd.unstarted.context import asked_of, is_unstarted
from incoop.fronts.rdd.unstarted.engine_spark import ProgramSpark
from incoop.fronts.rdd.unstarted.settings import Command
from incoop.job_session import JobSession


class Programs:
    """One memoized program for each SparkContext that a script makes, opened when it first reads something."""

    def __init__(self, name: str, command: Command | None = None, **options: Any) -> None:
        self.name, self.command, self._options = name, command or Command(), options
        self._open: dict[SparkContext, RddProgram] = {}
        #: Those that are closed, too.
        self.all: list[RddProgram] = []

    def of(self, context: SparkContext) -> RddProgram:
        if context not in self._open:
            session = JobSession(runs_in=ProgramSpark(context, self._asked_for(context)), **self._options)
            # The second context of a script has names of its own.
            name = self.name if not self.all else f"{self.name} ({len(self.all) + 1})"
            self._open[context] = RddProgram(session, name, context, self.command.files)
            self.all.append(self._open[context])
        return self._open[context]

    def _asked_for(self, context: SparkContext) -> str | None:
        """The master, where work is to run by Spark: the user says so, or gives its workers something of their own."""
        for_workers = is_unstarted(context) and asked_of(context).settings.for_workers
        return context.master if self.command.for_workers or for_workers else self.command.master

    def close(self, context: SparkContext) -> None:
        program = self._open.pop(context, None)
        if program is not None:
            program.session.close()

    def close_all(self) -> None:
        for context in list(self._open):
            self.close(context)


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run a file as `__main__`; its exit code."""
    source = Path(script).read_bytes()
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__)
    argv, path, main = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv = [script, *arguments]
    sys.path[0:1] = [str(Path(script).resolve().parent)]
    sys.modules["__main__"] = module
    try:
        exec(compile(source, script, "exec"), module.__dict__)
    except SystemExit as ended:
        return _exit_code(ended)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # Without the frame of this function, the traceback is the one that Python itself prints.
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error.with_traceback(trace), trace)
        return 1
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = argv, path, main
    return 0


def _exit_code(ended: SystemExit) -> int:
    if ended.code is None:
        return 0
    if isinstance(ended.code, int):
        return ended.code & 0xFF
    sys.stderr.write(f"{ended.code}\n")
    return 1


def stop_spark() -> None:
    """Stop what a program left running."""
    context = SparkContext._active_spark_context
    if context is not None and not is_unstarted(context):
        context.stop()
