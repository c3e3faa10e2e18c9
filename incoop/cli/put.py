"""`incoop put`: store files as a new version of a dataset."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.cli.options import (
    chunk_size_options,
    record_format,
    record_options,
    report_option,
    settings_from,
    show_report,
    store_option,
)
from incoop.cli.progress import human
from incoop.cli.say import say
from incoop.cli.sources import named_files
from incoop.inchdfs.files.sources import total_size


@click.command()
@click.argument("sources", metavar="SRC…", nargs=-1, required=True)
@click.argument("name", metavar="NAME")
@click.option("--append", is_flag=True, help="Add to the end of the newest version; only its last chunk is cut again.")
@click.option("--compress", is_flag=True, help="Store chunks compressed (zstd).")
@chunk_size_options
@record_options
@store_option
@report_option
def put(
    sources: tuple[str, ...],
    name: str,
    append: bool,
    compress: bool,
    store: Path,
    report: str,
    **options: Any,
) -> None:
    """Store files, folders or globs as a new version of the dataset NAME.

    Chunks that the store holds already are not written again. SRC may be - for standard input.

    \b
    Examples:
      incoop put access.log logs
      incoop put --append today.log logs
      zcat old.gz | incoop put - archive
    """
    datasets = inchdfs.DatasetStore(store)
    settings, records = settings_from(options), record_format(options)
    if append and (settings or records):
        raise BadCall("--append keeps the chunk sizes and records of the version it adds to; leave those options out.")
    started = time.perf_counter()
    with ExitStack() as stack:
        files = named_files(sources, stack, datasets)
        progress = stack.enter_context(_byte_progress(total_size(files), "put"))
        if append:
            done = inchdfs.append(datasets, files, name, compress=compress, progress=progress)
        else:
            done = inchdfs.put(
                datasets, files, name, settings=settings, records=records, compress=compress, progress=progress
            )
    say(str(done.version))
    facts = {
        "version": str(done.version),
        "bytes": done.bytes,
        "chunks": done.chunks,
        "new_bytes": done.new_bytes,
        "new_chunks": done.new_chunks,
        "seconds": round(time.perf_counter() - started, 3),
    }
    show_report(
        report,
        facts,
        f"{human(done.bytes)} in {done.chunks} chunks; new: {human(done.new_bytes)} in {done.new_chunks} chunks",
    )


@contextmanager
def _byte_progress(total: int | None, what: str) -> Iterator[Callable[[int], object]]:
    """Give a function to call with each number of bytes dealt with."""
    with tqdm(
        total=total,
        desc=what,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        leave=False,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
    ) as bar:
        yield bar.update
