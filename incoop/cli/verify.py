"""`incoop verify`: read everything again; report and drop what is damaged."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incoop.cli.options import Share, memo_option, report_option, show_report, store_option
from incoop.cli.progress import ProgressLine, human
from incoop.cli.say import say

if TYPE_CHECKING:
    from incoop.inchdfs.store.collect import VerifiedChunks as VerifiedDatasets
    from incoop.memo import Verified

#: Names of each kind of damage that are shown to people.
SHOWN = 20


@click.command()
@click.option("--dry-run", is_flag=True, help="Only report; drop nothing.")
@click.option("--repair", is_flag=True, help="Also set right what would be refused.")
@click.option(
    "--rerun",
    type=Share(),
    metavar="SHARE",
    help="Also compute this share (5%) of what `incoop run` left again, from scratch, and compare.",
)
@store_option
@memo_option
@report_option
def verify(dry_run: bool, repair: bool, rerun: float | None, store: Path, memo: str | None, report: str) -> None:
    """Re-read every entry, pack and stored chunk; report and drop what is missing or damaged.

    A dropped result is computed again by the next run that needs it; a dropped chunk is stored again by the next put
    of its source. --rerun loads each job that `incoop run` ran last in a process of its own and computes a share of its
    chunks and keys with nothing memoized. The exit code is 1 when there was damage, or something came out differently.
    --repair mends what no run can use: a memo whose own record or format number is damaged begins anew, manifests that
    cannot be read are set aside, and those of a store that lost its secret are signed again.

    \b
    Examples:
      incoop verify --dry-run
      incoop verify --repair --store /data/incoop-store
      incoop verify --rerun 5%
    """
    from incoop.maintenance.rerun import rerun_jobs
    from incoop.maintenance.store import verify_all

    with ProgressLine() as progress:
        found = verify_all(store, memo=memo, dry_run=dry_run, progress=progress, repair=repair and not dry_run)
    facts: dict[str, Any] = {"clean": found.clean}
    if found.memo is not None:
        say(_verified_text(found.memo))
        facts = asdict(found.memo) | facts
    if found.datasets is not None:
        say(_verified_datasets_text(found.datasets, dry_run))
        facts["datasets"] = asdict(found.datasets)
    if rerun is not None:
        facts["rerun"] = []
        for each in rerun_jobs(store, memo, rerun):
            say(f"{each.job}: {each.said}")
            facts["rerun"].append(asdict(each))
            facts["clean"] = facts["clean"] and not each.wrong
    show_report(report if report == "json" else "none", facts, "")
    if not facts["clean"]:
        raise click.exceptions.Exit(1)


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
        ("set right", found.mended),
    ):
        lines += [f"  {what}: {name}" for name in names[:SHOWN]]
        if len(names) > SHOWN:
            lines.append(f"  {what}: {len(names) - SHOWN:,} more (all are in --report json)")
    if found.entries_without_pack:
        lines.append(f"  entries that need such a pack: {found.entries_without_pack:,}")
    return "\n".join(lines)


def _verified_datasets_text(found: VerifiedDatasets, dry_run: bool) -> str:
    checked = f"checked {found.chunks:,} chunks ({human(found.bytes)}) of {found.versions:,} dataset versions"
    if not found.damage:
        return f"{checked}: all good"
    done = "would drop" if dry_run else "dropped"
    return "\n".join([f"{checked}; {done} {found.damaged_chunks:,} damaged chunks:", *(f"  {d}" for d in found.damage)])
