"""`incoop gc`: remove what no kept generation or version needs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from incoop.cli.options import Age, Size, memo_option, report_option, show_report, store_option
from incoop.cli.progress import ProgressLine, human
from incoop.cli.say import say

if TYPE_CHECKING:
    from incoop.inchdfs.store.collect import CollectedChunks as CollectedDatasets
    from incoop.memo import Collected


@click.command()
@click.option("--keep", "last", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
              help="Keep the last N generations of each job.")  # fmt: skip
@click.option("--max-bytes", type=Size(), help="Drop the oldest generations until the rest fits, as in 500M or 20G.")
@click.option("--max-age", type=Age(), help="Drop generations that are older, as in 12h or 7d.")
@click.option(
    "--max-entries", type=click.IntRange(min=0), help="Drop the oldest generations until no more entries stay."
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@store_option
@memo_option
@report_option
def gc(
    last: int,
    max_bytes: int | None,
    max_age: float | None,
    max_entries: int | None,
    dry_run: bool,
    store: Path,
    memo: str | None,
    report: str,
) -> None:
    """Remove memoized results that no kept generation needs, and stored chunks that no dataset version does.

    What a running session wrote or may be reusing, and what a running put writes, is never removed.

    \b
    Examples:
      incoop gc
      incoop gc --dry-run --keep 3
      incoop gc --max-bytes 20G --max-age 30d
    """
    from incoop.maintenance.store import collect_all
    from incoop.memo import Keep

    keep = Keep(last, max_bytes, max_age, max_entries)
    with ProgressLine() as progress:
        done = collect_all(store, memo=memo, keep=keep, dry_run=dry_run, progress=progress)
    if done.memo is not None:
        say(_collected_text("memo", done.memo))
    if done.datasets is not None:
        say(_collected_datasets_text(done.datasets, dry_run))
    show_report(report if report == "json" else "none", asdict(done), "")


def _collected_text(part: str, one: Collected) -> str:
    verb = "would remove" if one.dry_run else "removed"
    lines = [
        f"{part}: {verb} {one.generations_dropped:,} generations, {one.entries_dropped:,} entries, "
        f"{one.packs_dropped:,} packs ({human(one.bytes_freed)})",
        f"{part}: kept {one.generations_kept:,} generations, {one.entries_kept:,} entries, "
        f"{one.packs_kept:,} packs ({human(one.bytes_kept)})",
    ]
    if one.sessions:
        lines.append(
            f"{part}: {len(one.sessions)} running ({', '.join(one.sessions)}); "
            f"{one.entries_waiting:,} entries wait for them to end"
        )
    return "\n".join(lines)


def _collected_datasets_text(done: CollectedDatasets, dry_run: bool) -> str:
    verb = "would remove" if dry_run else "removed"
    return (
        f"datasets: {verb} {done.packs:,} packs and {done.temporary_files:,} leftovers, rewrite "
        f"{done.rewritten_packs:,} half-empty or small packs ({human(done.bytes)})"
    )
