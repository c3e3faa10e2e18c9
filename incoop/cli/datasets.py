"""Inc-HDFS on the command line: put, ls, stat, cat, diff, rm, chunks."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

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
from incoop.cli.progress import byte_progress, human
from incoop.inchdfs.files.sources import InputFile, total_size
from incoop.inchdfs.store.compare import shared_bytes
from incoop.inchdfs.store.spool import spooled


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
        files = _files(sources, stack, datasets)
        progress = stack.enter_context(byte_progress(total_size(files), "put"))
        if append:
            done = inchdfs.append(datasets, files, name, compress=compress, progress=progress)
        else:
            done = inchdfs.put(
                datasets, files, name, settings=settings, records=records, compress=compress, progress=progress
            )
    click.echo(str(done.version))
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
        click.echo(f"{each}\t{manifest.size}\t{len(manifest.rows)}\t{created}")


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
        click.echo(f"{key}\t{value}")


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
    click.echo(f"chunks\tshared {found.shared_chunks}\tadded {found.added_chunks}\tremoved {found.removed_chunks}")
    click.echo(f"bytes\tshared {found.shared_bytes}\tadded {found.added_bytes}\tremoved {found.removed_bytes}")
    click.echo(f"records\tadded {len(found.added_records)}\tremoved {len(found.removed_records)}")
    if show_records:
        for sign, records in (("-", found.removed_records), ("+", found.added_records)):
            for record in records:
                text = f"{sign} {record if isinstance(record, str) else repr(record)}\n"
                click.echo(text.encode("utf-8", "replace"), nl=False)


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
        click.echo(f"removed {version}", err=True)


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
        files = _files((file,), stack)
        if len(files) > 1:
            raise BadCall(f"{file} stands for {len(files)} files; name one of them.")
        (source,) = files
        settings = settings_from(options) or inchdfs.ChunkSettings.for_input(total_size([source]))
        for chunk in inchdfs.chunk_file(source, settings, records):
            click.echo(f"{chunk.offset}\t{chunk.length}\t{chunk.id.hex()}")


def _files(sources: tuple[str, ...], stack: ExitStack, datasets: inchdfs.DatasetStore | None = None) -> list[InputFile]:
    """The files that the arguments name; `-` is standard input, kept in a temporary file."""
    if "-" not in sources:
        return inchdfs.expand(sources)
    if len(sources) > 1:
        raise BadCall("standard input (-) cannot be mixed with other sources.")
    if datasets is None:
        return [stack.enter_context(spooled())]
    stack.enter_context(datasets.writing())
    return [stack.enter_context(spooled(datasets.temporary))]
