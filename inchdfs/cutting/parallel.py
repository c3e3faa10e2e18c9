"""Search a large file's segments in several processes, with the cuts of a sequential run.

Contract: `chunk_in_parallel` gives exactly what `Splitter.split` gives on the whole file. Each process cuts its
segment as if a chunk began there. Since a cut depends on nothing before its chunk, a guessed sequence is the true
one from the first boundary that both share; the walk over the segments searches only until it meets one.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from incoop.inchdfs.cutting.chunk_table import ROW, Chunk, Rows, chunks_of, rows_of
from incoop.inchdfs.cutting.records import FixedLength, RecordFormat
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.errors import SegmentProcessEnded

#: A segment is this many maximum-size chunks. A seam costs a few chunks searched twice, so about 5 % of the work.
_SEGMENT_CHUNKS = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """A byte range of a file, and how to cut it."""

    path: str
    start: int
    stop: int
    settings: ChunkSettings
    records: RecordFormat
    #: Whether a chunk surely begins at the start.
    begins: bool = False


@dataclass(frozen=True, slots=True)
class SegmentCuts:
    """The chunks that a process found from `start` on, until one ended at or behind the segment's end."""

    start: int
    rows: bytes


#: Runs `search_segment` on every segment, in any place, and gives the results in order.
SegmentRunner = Callable[[list[Segment]], Iterable[SegmentCuts]]


def segments_of(path: Path, size: int, settings: ChunkSettings, records: RecordFormat, start: int = 0) -> list[Segment]:
    """Divide a file into segments, from a chunk's `start` on; one means that parallel search would not pay."""
    width = settings.maximum * _SEGMENT_CHUNKS
    if isinstance(records, FixedLength):
        width += -width % records.length  # a guess is only ever right on the record grid
    starts = range(start, size, width) if size - start >= 2 * width else range(start, start + 1)
    return [Segment(str(path), at, min(at + width, size), settings, records, at == start) for at in starts]


def search_segment(segment: Segment) -> SegmentCuts:
    """Cut one segment, from its first record on."""
    start = segment.start
    found: list[Chunk] = []
    with Path(segment.path).open("rb", buffering=0) as file:
        if not segment.begins and not isinstance(segment.records, FixedLength):
            start = _next_record(file.fileno(), segment)
        file.seek(start)
        if start < segment.stop:
            for chunk, _ in Splitter(segment.settings, segment.records).split(file.readinto, start):
                found.append(chunk)
                if chunk.end >= segment.stop:
                    break
    return SegmentCuts(start, rows_of(found).tobytes())


def _next_record(fd: int, segment: Segment) -> int:
    """A likely start of a record behind the segment's start; a wrong guess costs time, never the result."""
    data = os.pread(fd, segment.settings.maximum, segment.start)
    after = segment.records.ends_around(data, 0, 1, len(data))[1] if data else -1
    return segment.start + after if after > 0 else segment.stop


def chunk_in_parallel(segments: list[Segment], run: SegmentRunner) -> Iterator[Chunk]:
    """Walk the segments' guesses: follow one while it is true, search where none is."""
    path, settings, records = segments[0].path, segments[0].settings, segments[0].records
    splitter = Splitter(settings, records)
    position = segments[0].start
    with Path(path).open("rb", buffering=0) as file:
        for segment, cuts in zip(segments, run(segments), strict=True):
            guessed = np.frombuffer(cuts.rows, dtype=ROW)
            starts = {chunk.offset + cuts.start: index for index, chunk in enumerate(chunks_of(guessed))}
            if position not in starts and position < segment.stop:
                file.seek(position)
                for chunk, _ in splitter.split(file.readinto, position):
                    yield chunk
                    position = chunk.end
                    if position in starts or position >= segment.stop:
                        break
            if position in starts:
                for chunk in _shifted(guessed[starts[position] :], position):
                    yield chunk
                    position = chunk.end


def _shifted(rows: Rows, offset: int) -> Iterator[Chunk]:
    for chunk in chunks_of(rows):
        yield Chunk(chunk.offset + offset, chunk.length, chunk.id, chunk.head, chunk.tail, chunk.closed)


class LocalProcesses:
    """Runs segments in processes of this machine; a context manager, so that none is left behind.

    The processes are started as a module of this package rather than by multiprocessing, which would import the
    user's main script once more in each.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = count or os.cpu_count() or 1
        self._started: list[subprocess.Popen[bytes]] = []
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with self._lock:
            if error is not None:
                for process in self._started:
                    process.kill()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for process in self._started:
            process.communicate()  # closes its input, on which it ends

    def __call__(self, segments: list[Segment]) -> Iterable[SegmentCuts]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.count, thread_name_prefix="incoop-segments")
        return self._threads.map(self._run, segments)

    def _run(self, segment: Segment) -> SegmentCuts:
        with self._lock:
            process = self._idle.pop() if self._idle else _start_process()
            if process not in self._started:
                self._started.append(process)
        try:
            answer = _exchange(process, segment)
        except (OSError, EOFError):  # the process ended: by lack of memory, say, or because we are leaving
            process.kill()
            raise SegmentProcessEnded(segment.path) from None
        with self._lock:
            self._idle.append(process)
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, SegmentCuts)
        return answer


def _start_process() -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    return subprocess.Popen(
        # -P: no module is taken from the folder where we work, which may be another's.
        [sys.executable, "-P", "-m", "incoop.inchdfs.cutting.segment_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C reaches this process alone, which then ends the others
    )


def _exchange(process: subprocess.Popen[bytes], segment: Segment) -> Any:
    assert process.stdin is not None and process.stdout is not None
    _dumps(segment, process.stdin)
    process.stdin.flush()
    return pickle.load(process.stdout)


def _dumps(segment: Segment, stream: Any) -> None:
    if type(segment.records).__module__ == RecordFormat.__module__:
        pickle.dump(segment, stream)
    else:
        # A format that the user defined, perhaps in a script: only cloudpickle carries its class along.
        from pyspark import cloudpickle

        stream.write(cloudpickle.dumps(segment))  # type: ignore[no-untyped-call]
