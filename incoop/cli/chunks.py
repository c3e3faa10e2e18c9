"""`incoop chunks`: print the chunks of a file."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.cli.options import chunk_size_options, record_format, record_options, settings_from
from incoop.cli.say import say
from incoop.cli.sources import named_files
from incoop.inchdfs.files.sources import total_size


@click.command()
@click.argument("file")
@chunk_size_options
@record_options
def chunks(file: str, **options: Any) -> None:
    """Print the chunks of FILE, one a line: offset, length, id, separated by tabs.

    FILE may be compressed (its content is chunked), or - for standard input.

    \b
    Example:
      incoop chunks access.log
    """
    records = record_format(options) or inchdfs.Lines()
    with ExitStack() as stack:
        files = named_files((file,), stack)
        if len(files) > 1:
            raise BadCall(f"{file} stands for {len(files)} files; name one of them.")
        (source,) = files
        settings = settings_from(options) or inchdfs.ChunkSettings.for_input(total_size([source]))
        for chunk in inchdfs.chunk_file(source, settings, records):
            say(f"{chunk.offset}\t{chunk.length}\t{chunk.id.hex()}")
