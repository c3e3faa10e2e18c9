"""`incoop run`: run a Job that a file defines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from incoop.base.errors import BadCall
from incoop.base.paths import refuse_unserved
from incoop.cli.options import (
    LocalPath,
    Share,
    chunk_size_options,
    memo_option,
    report_option,
    settings_from,
    show_report,
    store_option,
    window_options,
)
from incoop.cli.say import for_output, say
from incoop.fronts.common.early import prepare_processes


@click.command()
@click.argument("job", metavar="JOB.PY[:NAME]")
@click.argument("inputs", metavar="INPUT…", nargs=-1, required=True)
@click.option("--output", type=LocalPath(), help="Folder for part files; else pairs are printed.")
@click.option("--explain", is_flag=True, help="Say what would be reused and what would run, and why; run nothing.")
@click.option("--strict", type=click.FloatRange(0, 1), help="Refuse to run when less than this share can be reused.")
@click.option("--verify", type=Share(), default=0.0, help="Compute a share (5%) again from scratch, and compare.")
@click.option("--paranoid", is_flag=True, help="Read files even if their size, times and inode did not change.")
@click.option("--changes", is_flag=True, help="Print what changed since the previous run instead of all pairs.")
@window_options
@click.option(
    "--html", metavar="FILE", type=LocalPath(), help="Write a report page: what was reused, what not and why."
)
@click.option("--master", metavar="URL", help="Spark master; else Spark (local[*]) is started for much work only.")
@chunk_size_options
@store_option
@memo_option
@report_option
def run(
    job: str,
    inputs: tuple[str, ...],
    output: Path | None,
    explain: bool,
    strict: float | None,
    verify: float,
    paranoid: bool,
    changes: bool,
    window: str,
    time_of: str,
    html: Path | None,
    master: str | None,
    store: Path,
    memo: str | None,
    report: str,
    **options: Any,
) -> None:
    """Run a Job defined in a Python file on files, folders, globs or datasets (inchdfs:/NAME).

    Prints one pair a line, key and value separated by a tab. What did not change since an earlier run is reused.

    \b
    Examples:
      incoop run wordcount.py corpus/
      incoop run jobs.py:top access.log --output out
      incoop run wordcount.py corpus/ --explain
      incoop run hits.py logs/ --window '7 days' --time-of %Y-%m-%d
      incoop run wordcount.py corpus/ --output out --html report.html
    """
    if html is not None and explain:
        raise BadCall("--explain runs nothing, so there is nothing for --html to show; leave one of them out.")
    if not explain:
        prepare_processes(store, inputs, master)
    # From here on at the same time as those processes load what they need.
    from incoop.engine.inputs import SCHEME
    from incoop.engine.record import Origin
    from incoop.engine.save import line_of
    from incoop.fronts.common.job_file import load_job, window_of
    from incoop.session import connect

    refuse_unserved(path for path in inputs if not path.startswith(SCHEME))
    if html is not None:
        from incoop.page import demand_place, write_page

        html = demand_place(html)  # also where the job's file goes to another folder
    loaded = load_job(job)

    held = window_of(job, window, time_of)
    origin = Origin(job, inputs, str(Path.cwd()), window, time_of)
    with connect(store, memo=memo, master=master, chunks=settings_from(options)) as session:
        if explain:
            say(str(session.explain(loaded, list(inputs), paranoid=paranoid, window=held)))
            return
        result = session.run(
            *(loaded, list(inputs)),
            paranoid=paranoid,
            strict=strict,
            verify=verify,
            window=held,
            origin=origin,
            counts_store=html is not None,
        )
        if output is not None:
            written = result.save(output)
            say(f"{len(written)} part files written to {output}", err=True)
        elif changes:
            for change in result.changes():
                _print(f"{line_of(change.key, change.old)}\t{line_of('', change.new)[1:]}\n")
        else:
            for key, value in result:
                _print(line_of(key, value) + "\n")
        sys.stdout.flush()
        if html is not None:
            write_page(html, result)
            say(f"report page written to {html}", err=True)
        show_report(report, result.report.as_dict(), str(result.report))


def _print(line: str) -> None:
    line = for_output(line)
    try:
        sys.stdout.write(line)
    except UnicodeEncodeError:  # text that no encoding has is printed as part files have it
        sys.stdout.flush()
        sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass"))
