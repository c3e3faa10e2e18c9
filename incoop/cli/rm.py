"""`incoop rm`: remove a version, or a whole dataset."""

from __future__ import annotations

from pathlib import Path

import click

from incoop import inchdfs
from incoop.cli.options import store_option
from incoop.cli.say import say


@click.command()
@click.argument("name")
@store_option
def rm(name: str, store: Path) -> None:
    """Remove a version (NAME@2), or with NAME alone the whole dataset.

    The bytes are freed by the next `incoop gc`, unless another version shares them.

    \b
    Examples:
      incoop rm logs@1
      incoop rm logs && incoop gc
    """
    for version in inchdfs.DatasetStore(store).remove(name):
        say(f"removed {version}", err=True)
