"""`incoop cat`: write a version's bytes to standard output."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from incoop import inchdfs
from incoop.cli.options import store_option


@click.command()
@click.argument("name")
@store_option
def cat(name: str, store: Path) -> None:
    """Write a version's bytes to standard output, every chunk verified.

    \b
    Example:
      incoop cat logs@1 | wc -l
    """
    for chunk in inchdfs.Dataset(inchdfs.DatasetStore(store), name).chunks():
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
