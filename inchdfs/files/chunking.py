"""Chunk one file by the cheapest of three ways that give the same chunks: resync, in parallel, in sequence."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from incoop.inchdfs.cutting.chunk_table import Chunk, Rows
from incoop.inchdfs.cutting.parallel import LocalProcesses, Segment, SegmentRunner, chunk_in_parallel, segments_of
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.side_by_side import LookHelpers, chunks_beside
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.cutting.stretches import StretchBook
from incoop.inchdfs.files.sources import InputFile, longest_record, open_content, unchanging

log = logging.getLogger("incoop.inchdfs")

#: Rabin searches about 250 MB in a second and a core. When the bytes behind the minimum sizes take one second,
#: starting processes (and reading what they found once more) begins to pay.
_WORTH_PROCESSES = 256 << 20

#: A chunk, and its bytes where they are in memory; they are valid until the next chunk is asked for.
ChunkAndBytes = tuple[Chunk, memoryview | None]


def chunk_file(
    file: InputFile,
    settings: ChunkSettings,
    records: RecordFormat,
    known: Rows | None = None,
    run_segments: SegmentRunner | None = None,
    stretches: StretchBook | None = None,
    helpers: LookHelpers | None = None,
) -> Iterator[Chunk]:
    """Give the chunks of a file's content; raise when it changed between the first and the last of them.

    `known` are the rows of an earlier version of it, `run_segments` where segments of a large file are searched
    (by default in processes of this machine), `stretches` those of known chunks, and of those that are found by them;
    `helpers` look at a part of what changed.
    """
    return (chunk for chunk, _ in chunks_and_bytes(file, settings, records, known, run_segments, stretches, helpers))


def chunks_and_bytes(
    file: InputFile,
    settings: ChunkSettings,
    records: RecordFormat,
    known: Rows | None = None,
    run_segments: SegmentRunner | None = None,
    stretches: StretchBook | None = None,
    helpers: LookHelpers | None = None,
) -> Iterator[ChunkAndBytes]:
    """The chunks of `chunk_file`, with their bytes where they are at hand."""
    with unchanging(file) as size:
        segments = segments_of(file.path, size, settings, records)
        # Content that can be read only once, or whose size nobody knows (in /proc), is read from its beginning.
        if not file.seekable or not size:
            yield from _in_sequence(file, settings, records)
        elif known is not None and len(known):
            log.debug("%s: resync against %d known chunks", file.path, len(known))
            yield from chunks_beside(
                file.path,
                size,
                known,
                Splitter(settings, records),
                _rest_in_parallel(file, size, settings, records, run_segments),
                stretches if stretches is not None else StretchBook(),
                helpers,
            )
        elif len(segments) > 1 and (run_segments is not None or _worth_processes(size, settings)):
            log.debug("%s: searching %d segments in parallel", file.path, len(segments))
            yield from ((chunk, None) for chunk in _in_parallel(segments, run_segments))
        else:
            yield from _in_sequence(file, settings, records)


def _rest_in_parallel(
    file: InputFile, size: int, settings: ChunkSettings, records: RecordFormat, run_segments: SegmentRunner | None
) -> Callable[[int], Iterator[Chunk] | None]:
    """What cuts a file in parallel from a place on, where it is worth it."""

    def rest(start: int) -> Iterator[Chunk] | None:
        segments = segments_of(file.path, size, settings, records, start)
        worth = run_segments is not None or _worth_processes(size - start, settings)
        return _in_parallel(segments, run_segments) if len(segments) > 1 and worth else None

    return rest


def _worth_processes(size: int, settings: ChunkSettings) -> bool:
    """FastCDC reads a file faster than processes start; Rabin is slow, but skips the minimum of each chunk."""
    searched = size * (settings.average - settings.minimum) // settings.average
    return settings.chunker == "rabin" and searched >= _WORTH_PROCESSES


def _in_sequence(file: InputFile, settings: ChunkSettings, records: RecordFormat) -> Iterator[ChunkAndBytes]:
    with open_content(file) as read_into:
        yield from Splitter(settings, records, longest=longest_record(file)).split(read_into)


def _in_parallel(segments: list[Segment], run_segments: SegmentRunner | None) -> Iterator[Chunk]:
    if run_segments is not None:
        yield from chunk_in_parallel(segments, run_segments)
    else:
        with LocalProcesses() as processes:
            yield from chunk_in_parallel(segments, processes)
