"""`incoop ls`: list datasets, or the versions of one."""

from __future__ import annotations

import time
from pathlib import Path

import click

from incoop import inchdfs
from incoop.cli.options import store_option
from incoop.cli.say import say


@click.command()
@click.argument("name", required=False)
@store_option
def ls(name: str | None, store: Path) -> None:
    """List datasets, or with NAME the versions of one.

    Columns, separated by tabs: name, bytes, chunks, when it was stored.

    \b
    Examples:
      incoop ls
      incoop ls logs
    """
    datasets = inchdfs.DatasetStore(store)
    if name is None:
        wanted = [str(datasets.resolve(each)) for each in datasets.names()]
    else:
        newest = datasets.resolve(name)
        wanted = [f"{newest.name}@{version}" for version in datasets.versions(newest.name)]
    for each in wanted:
        manifest = datasets.manifest(each)
        created = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(manifest.notes["created"]))
        say(f"{each}\t{manifest.size}\t{len(manifest.rows)}\t{created}")
