"""`incoop stat`: chunks, sizes and shared bytes of a version."""

from __future__ import annotations

from pathlib import Path

import click

from incoop import inchdfs
from incoop.cli.options import store_option
from incoop.cli.say import say
from incoop.inchdfs.store.compare import shared_bytes


@click.command()
@click.argument("name")
@store_option
def stat(name: str, store: Path) -> None:
    """Say what a version is made of, and what it shares with the version before.

    \b
    Example:
      incoop stat logs@2
    """
    datasets = inchdfs.DatasetStore(store)
    version = datasets.resolve(name)
    manifest = datasets.manifest(str(version))
    lengths = manifest.rows["length"]
    sizes = manifest.settings
    lines = [
        ("version", str(version)),
        ("files", str(len(manifest.files))),
        ("bytes", str(manifest.size)),
        ("chunks", str(len(manifest.rows))),
        ("root", manifest.root.hex()),
        ("records", manifest.records_tag),
        (
            "chunker",
            f"{sizes.chunker} average {sizes.average} minimum {sizes.minimum} maximum {sizes.maximum}",
        ),
    ]
    if len(lengths):
        lines.append(("chunk sizes", f"smallest {lengths.min()} average {lengths.mean():.0f} largest {lengths.max()}"))
    earlier = [number for number in datasets.versions(version.name) if number < (version.version or 0)]
    if earlier:
        before = datasets.manifest(f"{version.name}@{earlier[-1]}")
        lines.append((f"shared with @{earlier[-1]}", f"{shared_bytes(before.rows, manifest.rows)} bytes"))
    for key, value in lines:
        say(f"{key}\t{value}")
