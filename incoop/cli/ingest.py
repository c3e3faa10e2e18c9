"""`incoop ingest`: logs that grow and rotate, or standard input, into a dataset."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from incoop import inchdfs
from incoop.base.shown import shortened
from incoop.cli.options import (
    BatchLimits,
    chunk_size_options,
    report_option,
    settings_from,
    show_report,
    store_option,
)
from incoop.cli.progress import StatusLine, human
from incoop.cli.say import say
from incoop.inchdfs.ingest.follow import IngestOptions, IngestStatus
from incoop.inchdfs.ingest.follow import ingest as take_logs
from incoop.inchdfs.ingest.signals import stop_on_signals
from incoop.inchdfs.ingest.take import KEPT_VERSIONS


@click.command()
@click.argument("sources", metavar="SOURCE…", nargs=-1, required=True)
@click.argument("name", metavar="NAME")
@click.option("--follow", is_flag=True, help="Go on taking what is written, until Ctrl-C, SIGTERM or SIGHUP.")
@click.option("--batch", type=BatchLimits(), default="64M|10s", show_default=True, metavar="SIZE|TIME",
              help="Make a version of what came when it is so much, or waited so long.")  # fmt: skip
@click.option("--last-line", is_flag=True, help="Also take a last line that has no newline yet.")
@click.option("--keep", type=click.IntRange(min=1), default=KEPT_VERSIONS, show_default=True, metavar="N",
              help="Versions that ingests made, to keep; older ones are removed.")  # fmt: skip
@click.option("--compress", is_flag=True, help="Store chunks compressed (zstd).")
@chunk_size_options
@store_option
@report_option
def ingest(
    sources: tuple[str, ...],
    name: str,
    follow: bool,
    batch: tuple[int, float],
    last_line: bool,
    keep: int,
    compress: bool,
    store: Path,
    report: str,
    **options: Any,
) -> None:
    """Take log files that grow, rotate and are compressed into the dataset NAME, each line once.

    SOURCE is a file, a folder or a glob, or - for standard input. Files are known by what was taken of them, not by
    their names or inodes: one that was renamed, copied or compressed is not taken again, and one that was written anew
    is taken from its beginning. What is taken is committed with the place up to which it was, in one step.

    \b
    Examples:
      incoop ingest /var/log/nginx/ web                       # what is there, also rotated and .gz files
      incoop ingest '/var/log/nginx/access.log*' web --follow
      incoop ingest app.log app --follow --batch 1s           # a version a second, if there is a line
      journalctl -f | incoop ingest - journal
      incoop run errors.py inchdfs:/web                       # costs what came since the last run
    """
    wanted = IngestOptions(
        follow=follow,
        batch_bytes=batch[0],
        batch_seconds=batch[1],
        last_line=last_line,
        compress=compress,
        settings=settings_from(options),
        keep=keep,
    )
    started = time.perf_counter()
    with stop_on_signals() as stop, StatusLine(pause=0.1) as line:

        def tell(sentence: str) -> None:
            line.clear()
            say(f"incoop: {shortened(sentence)}", err=True)

        done = take_logs(
            inchdfs.DatasetStore(store),
            sources,
            name,
            wanted,
            tell=tell,
            show=lambda status: line.show(_shown(status)),
            stop=stop,
        )
    if done.version is not None:
        say(str(done.version))
    facts = asdict(done) | {
        "version": str(done.version) if done.version else None,
        "seconds": round(time.perf_counter() - started, 3),
    }
    kept_back = f"; {human(done.lag)} not taken yet" if done.lag else ""
    show_report(report, facts, f"{human(done.bytes)} in {done.lines:,} lines from {done.files} files{kept_back}")


def _shown(status: IngestStatus) -> str:
    return f"{status.files:,} files, {human(status.lag)} behind, {status.lines_a_second:,.0f} lines a second"
