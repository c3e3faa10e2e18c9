"""Chunk one file by the cheapest of three ways that give the same chunks: resync, in parallel, in sequence."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from inchdfs.chunk_table import Chunk, Rows
from inchdfs.errors import FileChangedWhileRead
from inchdfs.manifest import Stamp
from inchdfs.parallel import LocalProcesses, SegmentRunner, chunk_in_parallel, segments_of
from inchdfs.records import RecordFormat
from inchdfs.resync import resync
from inchdfs.settings import ChunkSettings
from inchdfs.sources import InputFile, open_content, readable
from inchdfs.splitter import Splitter

log = logging.getLogger("inchdfs")


def chunk_file(
    file: InputFile,
    settings: ChunkSettings,
    records: RecordFormat,
    known: Rows | None = None,
    run_segments: SegmentRunner | None = None,
) -> Iterator[Chunk]:
    """Give the chunks of a file's content; raise when it changed between the first and the last of them.

    `known` are the rows of an earlier version of it, `run_segments` where segments of a large file are searched
    (by default in processes of this machine).
    """
    with readable(file.path):
        before = Stamp.of(file.path)
        yield from _chunk(file, before.size, settings, records, known, run_segments)
        if Stamp.of(file.path) != before:
            raise FileChangedWhileRead(str(file.path))


def _chunk(
    file: InputFile,
    size: int,
    settings: ChunkSettings,
    records: RecordFormat,
    known: Rows | None,
    run_segments: SegmentRunner | None,
) -> Iterator[Chunk]:
    if not file.seekable:  # content that can only be read once, from its beginning
        segments = []
    elif known is not None and len(known):
        log.debug("%s: resync against %d known chunks", file.path, len(known))
        yield from resync(file.path, size, known, settings, records)
        return
    else:
        segments = segments_of(file.path, size, settings, records)
    # FastCDC reads a file faster than processes start and send their cuts.
    if len(segments) > 1 and (run_segments is not None or settings.chunker == "rabin"):
        log.debug("%s: searching %d segments in parallel", file.path, len(segments))
        if run_segments is not None:
            yield from chunk_in_parallel(segments, run_segments)
        else:
            with LocalProcesses() as processes:
                yield from chunk_in_parallel(segments, processes)
        return
    with open_content(file) as read_into:
        for chunk, _ in Splitter(settings, records).split(read_into):
            yield chunk
