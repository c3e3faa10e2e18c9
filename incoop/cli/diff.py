"""`incoop diff`: chunks and records that two versions do not share."""

from __future__ import annotations

from pathlib import Path

import click

from incoop import inchdfs
from incoop.cli.options import store_option
from incoop.cli.say import say


@click.command()
@click.argument("old", metavar="A@1")
@click.argument("new", metavar="A@2")
@click.option("--records/--no-records", "show_records", default=True, help="Also print the records that differ.")
@store_option
def diff(old: str, new: str, show_records: bool, store: Path) -> None:
    """Show the chunks and records that two versions do not share.

    Only chunks that differ are read. A record that was removed is printed behind '-', an added one behind '+'.

    \b
    Example:
      incoop diff logs@1 logs@2
    """
    datasets = inchdfs.DatasetStore(store)
    found = inchdfs.diff(inchdfs.Dataset(datasets, old), inchdfs.Dataset(datasets, new))
    say(f"chunks\tshared {found.shared_chunks}\tadded {found.added_chunks}\tremoved {found.removed_chunks}")
    say(f"bytes\tshared {found.shared_bytes}\tadded {found.added_bytes}\tremoved {found.removed_bytes}")
    say(f"records\tadded {len(found.added_records)}\tremoved {len(found.removed_records)}")
    if show_records:
        for sign, records in (("-", found.removed_records), ("+", found.added_records)):
            for record in records:
                text = f"{sign} {record if isinstance(record, str) else repr(record)}\n"
                click.echo(text.encode("utf-8", "replace"), nl=False)
