"""`incoop stats`: count what the store holds, by job."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from incoop.cli.options import memo_option, report_option, show_report, store_option
from incoop.cli.progress import human
from incoop.cli.say import say

if TYPE_CHECKING:
    from incoop.memo import StoreStats


@click.command()
@store_option
@memo_option
@report_option
def stats(store: Path, memo: str | None, report: str) -> None:
    """Count what the memo holds: entries, bytes, hit rate, by job.

    \b
    Examples:
      incoop stats
      incoop stats --store /data/incoop-store --report json
    """
    from incoop.memo import MemoStore
    from incoop.memo import stats as count

    with MemoStore.open(store, memo, create=False, maintenance=True) as opened:
        found = count(opened)
    say(_stats_text(found))
    facts = {**asdict(found), "hit_rate": found.hit_rate}
    for job, one in zip(facts["jobs"], found.jobs, strict=True):
        job["hit_rate"] = one.hit_rate
        del job["key"]
    show_report(report if report == "json" else "none", facts, "")


def _stats_text(found: StoreStats) -> str:
    lines = [
        f"entries   {found.entries:,} ({human(found.entry_bytes)} in Redis)",
        f"packs     {found.packs:,} ({human(found.pack_bytes)})",
        f"hit rate  {found.hit_rate:.1%}",
        f"sessions  {found.sessions}",
    ]
    if found.jobs:
        width = max(len("job"), *(len(job.job) for job in found.jobs))
        lines += ["", f"{'job':{width}}  generations  last  live entries  runs  hit rate"]
        for job in found.jobs:
            counts = f"{job.generations:11,}  {job.last:4}  {job.live:12,}  {job.runs:4,}  {job.hit_rate:8.1%}"
            lines.append(f"{job.job:{width}}  {counts}")
    return "\n".join(lines)
