"""The memo store on the command line: gc, stats, verify.

Contract: results on standard output; a report as JSON on the last line of standard error when asked for; a progress
line only on a terminal. A store that does not exist is an error (exit code 1), and nothing is created. `verify` also
ends with 1 when it found damage, so that scripts notice.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incoop.cli.options import Share, Size, memo_option, report_option, show_report, store_option
from incoop.cli.progress import human

if TYPE_CHECKING:
    from incoop.inchdfs.store.collect import CollectedChunks as CollectedDatasets
    from incoop.inchdfs.store.collect import VerifiedChunks as VerifiedDatasets
    from incoop.memo import Collected, Keep, StoreStats, Verified

Progress = Callable[[str, int], None]

#: Names of each kind of damage that are shown to people.
SHOWN = 20

_AGE_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Age(click.ParamType[float]):
    """A length of time, as in 90s, 30m, 12h, 7d or 4w."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip().lower()
        try:
            return float(text[:-1]) * _AGE_UNITS[text[-1:]]
        except (ValueError, KeyError):
            self.fail(f"{value!r} is not an age; write 90s, 30m, 12h, 7d or 4w", param, ctx)


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
    from incoop.memo import Keep

    keep = Keep(last, max_bytes, max_age, max_entries)
    with _ProgressLine() as progress:
        done = collect_all(store, memo=memo, keep=keep, dry_run=dry_run, progress=progress)
    if done.memo is not None:
        click.echo(_collected_text("memo", done.memo))
    if done.datasets is not None:
        click.echo(_collected_datasets_text(done.datasets, dry_run))
    show_report(report if report == "json" else "none", asdict(done), "")


@dataclass(frozen=True, slots=True)
class AllCollected:
    """What was done in each part of a store folder; None for a part that it does not have."""

    memo: Collected | None
    datasets: CollectedDatasets | None


def collect_all(store_folder: Path, *, memo: str | None, keep: Keep, dry_run: bool, progress: Progress) -> AllCollected:
    """Collect the memo and the datasets of a store folder."""
    from incoop import inchdfs
    from incoop.memo import MemoStore, StoreMissing, collect

    datasets = inchdfs.DatasetStore(store_folder)
    has_datasets = datasets.folder.exists()
    collected = None
    try:
        with MemoStore.open(store_folder, memo, create=False, maintenance=True) as opened:
            collected = collect(opened, keep, dry_run=dry_run, progress=progress)
    except StoreMissing:
        if not has_datasets:  # a store of datasets alone has no memo
            raise
    return AllCollected(collected, inchdfs.collect(datasets, dry_run=dry_run) if has_datasets else None)


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
    click.echo(_stats_text(found))
    facts = {**asdict(found), "hit_rate": found.hit_rate}
    for job, one in zip(facts["jobs"], found.jobs, strict=True):
        job["hit_rate"] = one.hit_rate
    show_report(report if report == "json" else "none", facts, "")


@click.command()
@click.option("--dry-run", is_flag=True, help="Only report; drop nothing.")
@click.option(
    "--rerun",
    type=Share(),
    metavar="SHARE",
    help="Also compute this share (5%) of what `incoop run` left again, from scratch, and compare.",
)
@store_option
@memo_option
@report_option
def verify(dry_run: bool, rerun: float | None, store: Path, memo: str | None, report: str) -> None:
    """Re-read every entry, pack and stored chunk; report and drop what is missing or damaged.

    A dropped result is computed again by the next run that needs it; a dropped chunk is stored again by the next put
    of its source. --rerun loads each job that `incoop run` ran last in a process of its own and computes a share of its
    chunks and keys with nothing memoized. The exit code is 1 when there was damage, or something came out differently.

    \b
    Examples:
      incoop verify --dry-run
      incoop verify --store /data/incoop-store
      incoop verify --rerun 5%
    """
    from incoop import inchdfs
    from incoop.memo import MemoStore, StoreMissing
    from incoop.memo import verify as check

    datasets = inchdfs.DatasetStore(store)
    facts: dict[str, Any] = {"clean": True}
    with _ProgressLine() as progress:
        try:
            with MemoStore.open(store, memo, create=False, maintenance=True) as opened:
                found = check(opened, dry_run=dry_run, progress=progress)
            click.echo(_verified_text(found))
            facts = {**asdict(found), "clean": found.clean}
        except StoreMissing:
            if not datasets.folder.exists():  # a store of datasets alone has no memo
                raise
        if datasets.folder.exists():
            stored = inchdfs.verify(datasets, lambda size: progress("bytes of datasets", size), drop=not dry_run)
            click.echo(_verified_datasets_text(stored, dry_run))
            facts |= {"datasets": asdict(stored), "clean": facts["clean"] and not stored.damage}
    if rerun is not None:
        from incoop.cli.rerun import rerun_jobs

        facts["rerun"] = rerun_jobs(store, memo, rerun)
        facts["clean"] = facts["clean"] and not any(each["wrong"] for each in facts["rerun"])
    show_report(report if report == "json" else "none", facts, "")
    if not facts["clean"]:
        raise click.exceptions.Exit(1)


class _ProgressLine:
    """One line on a terminal, overwritten, and gone at the end; nothing in a pipe."""

    def __enter__(self) -> Progress:
        self._shown, self._next = sys.stderr.isatty(), 0.0
        return self._say

    def _say(self, what: str, count: int) -> None:
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.1
            click.echo(f"\r\x1b[K{count:,} {what}", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)


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
        f"{done.rewritten_packs:,} half-empty packs ({human(done.bytes)})"
    )


def _verified_datasets_text(found: VerifiedDatasets, dry_run: bool) -> str:
    checked = f"checked {found.chunks:,} chunks ({human(found.bytes)}) of {found.versions:,} dataset versions"
    if not found.damage:
        return f"{checked}: all good"
    done = "would drop" if dry_run else "dropped"
    return "\n".join([f"{checked}; {done} {found.damaged_chunks:,} damaged chunks:", *(f"  {d}" for d in found.damage)])


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


def _verified_text(found: Verified) -> str:
    packs = f"{found.packs:,} packs ({human(found.bytes)})"
    checked = f"checked {found.entries:,} entries, {packs}, {found.generations:,} generations"
    if found.clean:
        return f"{checked}: all good"
    done = "would drop" if found.dry_run else "dropped"
    lines = [f"{checked}; {done} what is damaged:"]
    for what, names in (
        ("entry fails its checksum", found.damaged_entries),
        ("pack is damaged", found.damaged_packs),
        ("pack is missing", found.missing_packs),
        ("generation is damaged", found.damaged_generations),
    ):
        lines += [f"  {what}: {name}" for name in names[:SHOWN]]
        if len(names) > SHOWN:
            lines.append(f"  {what}: {len(names) - SHOWN:,} more (all are in --report json)")
    if found.entries_without_pack:
        lines.append(f"  entries that need such a pack: {found.entries_without_pack:,}")
    return "\n".join(lines)
