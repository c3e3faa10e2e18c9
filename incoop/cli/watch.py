"""`incoop watch`: run Jobs that files define whenever their input changed."""

from __future__ import annotations

import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incoop.base.errors import BadCall
from incoop.base.paths import refuse_unserved
from incoop.base.shown import shortened
from incoop.cli.options import (
    Duration,
    LocalPath,
    chunk_size_options,
    memo_option,
    report_option,
    settings_from,
    show_report,
    store_option,
    window_options,
)
from incoop.cli.progress import StatusLine
from incoop.cli.say import say
from incoop.fronts.common.early import start_processes

if TYPE_CHECKING:
    from incoop.fronts.watch.after_run import AfterRun, JobRun
    from incoop.fronts.watch.loop import Status

#: Looks that come faster than this would keep a processor busy with looking.
_SHORTEST = 0.01

#: Seconds of a year: nobody waits longer for a look, and clocks go no further for ever.
_LONGEST = 366 * 86400.0


@click.command()
@click.argument("job", metavar="JOB.PY[:NAME]")
@click.argument("inputs", metavar="INPUT…", nargs=-1, required=True)
@click.option(
    "--job", "more", metavar="JOB.PY[:NAME]", multiple=True, help="Another job on the same input; repeatable."
)
@click.option(
    "--every", type=Duration(), default="30s", show_default=True, help="Time between looks: 500ms, 30s, 2m, 1h."
)
@click.option("--output", type=LocalPath(), help="Folder for part files; of several jobs, a folder in it for each.")
@click.option("--changes", is_flag=True, help="Print changed keys as JSON lines: job, key, old, new.")
@click.option(
    "--on-change", metavar="CMD", help="Shell command after a run that changed something; reads the same lines."
)
@click.option(
    "--html",
    metavar="FILE",
    type=LocalPath(),
    help="Write a report page after each run; of several jobs, several.",
)
@window_options
@click.option("--once", is_flag=True, help="Look once, and end: 0 if all is current then, 1 if not.")
@click.option("--master", metavar="URL", help="Spark master; else Spark (local[*]) is started for much work only.")
@chunk_size_options
@store_option
@memo_option
@report_option
def watch(
    job: str,
    inputs: tuple[str, ...],
    more: tuple[str, ...],
    every: float,
    output: Path | None,
    changes: bool,
    on_change: str | None,
    html: Path | None,
    window: str,
    time_of: str,
    once: bool,
    master: str | None,
    store: Path,
    memo: str | None,
    report: str,
    **options: Any,
) -> None:
    """Keep the results of Jobs current: run them whenever their input, or their code, is not what it was.

    Inputs are files, folders, globs and datasets (inchdfs:/NAME, whose newest version counts); what is not there yet is
    waited for. JOB.PY without a NAME stands for all jobs of the file. A look that finds nothing new costs milliseconds
    and prints nothing. A failed run is said, and tried again at the next look; job files that are edited are loaded
    again. Ctrl-C, SIGTERM and SIGHUP end the watch (exit codes 130, 143, 129), and leave nothing behind.

    CMD finds the job's name in INCOOP_JOB, its folder in INCOOP_OUTPUT, the run's number in INCOOP_GENERATION.

    \b
    Examples:
      incoop watch wordcount.py logs/ --output out
      incoop watch jobs.py:top inchdfs:/logs --every 2m --changes | tee changes.jsonl
      incoop watch hits.py access.log --output out --window '1h every 1m' --time-of time_of --html hits.html
      incoop watch hits.py access.log --job errors.py --output out --every 500ms --on-change 'cat >> changed'
    """
    if every < _SHORTEST:
        raise BadCall(f"--every must be {_SHORTEST * 1000:g}ms or more.")
    if every > _LONGEST:
        raise BadCall("--every must be a year or less.")
    if output is None and not changes and on_change is None and html is None:
        raise BadCall("nobody would get the results: say --output DIR, --changes, --on-change CMD or --html FILE.")
    from incoop.fronts.watch.stop import Stopped, StopSignals

    line = StatusLine()

    def tell(sentence: str) -> None:
        line.clear()
        say(f"incoop: {shortened(sentence)}", err=True)

    with StopSignals() as signals:
        start_processes(master)
        # From here on at the same time as those processes load what they need.
        from incoop.engine.inputs import SCHEME
        from incoop.fronts.common.job_file import window_of
        from incoop.fronts.watch.after_run import CommandOnChange, Page, ReaderLeft, print_changes, save
        from incoop.fronts.watch.job_files import JobFiles
        from incoop.fronts.watch.loop import WatchLoop
        from incoop.session import connect

        def show_run(run: JobRun) -> None:
            show_report(report, run.result.report.as_dict(), str(run.result.report))

        def clear(_: JobRun) -> None:
            line.clear()

        steps: list[AfterRun] = [clear, save]
        steps += [print_changes] if changes else []
        steps += [show_run]
        steps += [CommandOnChange(on_change, signals, tell)] if on_change is not None else []
        refuse_unserved(path for path in inputs if not path.startswith(SCHEME))
        files = JobFiles([job, *more], output)
        if html is not None:
            from incoop.page import demand_place

            html = demand_place(html)  # also where a job's file goes to another folder
        try:
            with signals.allowed():
                jobs = files.load()
                for each in jobs:  # refused before anything is waited for
                    window_of(each.origin, window, time_of)
            steps += [Page(html, len(jobs) > 1)] if html is not None else []
            with closing(connect(store, memo=memo, master=master, chunks=settings_from(options))) as session:
                if master is None:
                    session.prepare()
                loop = WatchLoop(
                    *(session, files, jobs, inputs, steps, signals, tell, lambda now: line.show(_shown(now))),
                    window=(window, time_of),
                    counts_store=html is not None,
                )
                if once:
                    sys.exit(0 if loop.look() else 1)
                loop.run(every)
        except ReaderLeft as left:
            raise BrokenPipeError from left
        except Stopped as stopped:
            with suppress(OSError):  # the terminal may be gone
                tell("the watch is stopped; what was finished is kept.")
            sys.exit(stopped.exit_code)


def _shown(now: Status) -> str:
    """How things stand, for a terminal."""
    last = f"last run {_clock(now.last_run)} ({now.run_seconds:.2f} s)" if now.last_run is not None else "no run yet"
    behind = f", {now.behind} not current" if now.behind else ""
    return f"watching: {last}{behind}, next look {_clock(now.next_look)}"


def _clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment))
