"""`incoop mrjob`: run an unmodified mrjob job, memoized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from incoop.base.errors import BadCall
from incoop.cli.options import chunk_size_options, memo_option, report_option, settings_from, show_report, store_option

#: What workers have from the start: mrjob takes a tenth of a second of the processor to import.
_TASKS = ("incoop.fronts.mrjob.tasks",)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--master", metavar="URL", help="Spark master; else Spark (local[*]) is started for much work only.")
@chunk_size_options
@store_option
@memo_option
@report_option
@click.argument("job", metavar="JOB.PY", type=click.Path(path_type=Path))
@click.argument("arguments", metavar="ARGS…", nargs=-1, type=click.UNPROCESSED)
def mrjob(
    job: Path,
    arguments: tuple[str, ...],
    master: str | None,
    store: Path,
    memo: str | None,
    report: str,
    **options: Any,
) -> None:
    """Run an unmodified mrjob job file with its own arguments, as `python JOB.PY ARGS…` would.

    The output is that of `-r inline`. What did not change since an earlier run is reused. Options of incoop stand
    before JOB.PY, all others behind it.

    \b
    Examples:
      incoop mrjob mr_word_freq_count.py corpus/*.txt > counts
      incoop mrjob --store /data/store mr_top.py --limit 10 -o out access.log
      incoop mrjob mr_word_freq_count.py --help
    """
    from incoop.fronts.common.early import prepare_processes

    prepare_processes(store, arguments, master, _TASKS)
    try:
        from incoop.fronts.mrjob.load import loaded_job
        from incoop.fronts.mrjob.run import made_job, run_job
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("mrjob", "distutils", "pipes"):
            raise
        raise BadCall(
            "mrjob does not run on this Python (no module "
            f"{missing.name}); up to Python 3.12, get it with: pip install 'incoop[mrjob]'"
        ) from missing
    from incoop.fronts.common.reports import added_up
    from incoop.session import connect

    with loaded_job(job, list(arguments)) as loaded:
        made = made_job(loaded)
        with connect(store, memo=memo, master=master, chunks=settings_from(options), workers_load=_TASKS) as session:
            runner = run_job(session, loaded, made)
        whole = added_up(f"{job.stem} {loaded.job.__name__}", runner.reports, runner.notes)
        whole.counters = {}  # mrjob shows them, by step
    show_report(report, whole.as_dict(), str(whole))
