"""Segments of a large file, searched in any place, give the cuts of a run in sequence."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.inchdfs import ChunkSettings, FixedLength, Lines, RecordFormat, Splitter, chunk_file
from incoop.inchdfs.cutting import resync as resync_module
from incoop.inchdfs.cutting.chunk_table import rows_of
from incoop.inchdfs.cutting.parallel import (
    LocalProcesses,
    Segment,
    SegmentCuts,
    chunk_in_parallel,
    search_segment,
    segments_of,
)
from incoop.inchdfs.cutting.spark_segments import spark_segments
from incoop.inchdfs.errors import SegmentProcessEnded
from incoop.inchdfs.files import chunking
from incoop.inchdfs.files.sources import InputFile
from tests.chunk.samples import FASTCDC, FORMATS, RABIN, SIZES, Maker, checked, long_lines, text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def in_process(segments: list[Segment]) -> list[SegmentCuts]:
    return [search_segment(segment) for segment in segments]


def written(tmp_path: Path, content: bytes) -> InputFile:
    path = tmp_path / "input"
    path.write_bytes(content)
    return InputFile(path, "input")


@given(st.sampled_from(FORMATS), st.sampled_from(SIZES), st.data())
@checked
def test_segments_in_this_process_give_the_chunks_of_a_sequence(
    tmp_path: Path, form_and_makers: tuple[RecordFormat, tuple[Maker, ...]], sizes: ChunkSettings, data: st.DataObject
) -> None:
    form, makers = form_and_makers
    content = data.draw(st.sampled_from(makers))(data.draw(st.integers(0, 99)), 80_000)
    file = written(tmp_path, content)
    assert list(chunk_file(file, sizes, form, run_segments=in_process)) == Splitter(sizes, form).split_bytes(content)


@given(st.data(), st.sampled_from(FORMATS), st.sampled_from(SIZES))
@checked
def test_a_file_in_which_most_changed_is_cut_in_parallel_as_in_sequence(
    tmp_path: Path,
    data: st.DataObject,
    form_and_makers: tuple[RecordFormat, tuple[Maker, ...]],
    sizes: ChunkSettings,
) -> None:
    form, makers = form_and_makers
    make, seed = data.draw(st.sampled_from(makers)), data.draw(st.integers(0, 99))
    kept, fresh = make(seed, 80_000), make(seed + 1, 80_000)
    same = data.draw(st.integers(0, 40_000))
    ran: list[int] = []

    def counted(segments: list[Segment]) -> Iterable[SegmentCuts]:
        ran.append(len(segments))
        return in_process(segments)

    content = kept[:same] + fresh[same:]
    known = rows_of(Splitter(sizes, form).split_bytes(kept))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resync_module, "_SEARCHED_ALONE", 2_000)
        chunks = list(chunk_file(written(tmp_path, content), sizes, form, known, run_segments=counted))
    assert chunks == Splitter(sizes, form).split_bytes(content)
    if sizes == RABIN and not same and form == Lines() and fresh != kept:  # zeros are the same again
        assert ran, "the rest was not searched in parallel"


@given(st.sampled_from(FORMATS), st.integers(0, 99), st.lists(st.integers(1, 79_999), max_size=6, unique=True))
@checked
def test_segments_may_begin_anywhere(
    tmp_path: Path, form_and_makers: tuple[RecordFormat, tuple[Maker, ...]], seed: int, seams: list[int]
) -> None:
    form, makers = form_and_makers
    content = makers[0](seed, 80_000)
    file = written(tmp_path, content)
    starts = [0, *sorted(seams)]
    segments = [
        Segment(str(file.path), start, stop, RABIN, form)
        for start, stop in zip(starts, [*starts[1:], len(content)], strict=True)
    ]
    assert list(chunk_in_parallel(segments, in_process)) == Splitter(RABIN, form).split_bytes(content)


@pytest.mark.parametrize("sizes", [RABIN, FASTCDC], ids=["rabin", "fastcdc"])
def test_processes_of_this_machine_give_the_chunks_of_a_sequence(tmp_path: Path, sizes: ChunkSettings) -> None:
    content = text(1, 300_000)
    with LocalProcesses(2) as processes:
        chunks = list(chunk_file(written(tmp_path, content), sizes, Lines(), run_segments=processes))
        started = [process.pid for process in processes._started]
    assert chunks == Splitter(sizes).split_bytes(content)
    assert 1 <= len(started) <= 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in started), "no process is left behind"


@pytest.mark.parametrize(
    ("size", "sizes", "parallel"),
    [
        pytest.param(1 << 30, ChunkSettings(average=1 << 20), True, id="much to search"),
        pytest.param(64 << 20, ChunkSettings(average=1 << 20), False, id="too small"),
        pytest.param(1 << 30, ChunkSettings(16 << 20, 15 << 20, 24 << 20), False, id="nearly all is skipped"),
        pytest.param(1 << 30, ChunkSettings(average=1 << 20, chunker="fastcdc"), False, id="fastcdc needs no help"),
    ],
)
def test_processes_are_started_when_the_search_is_long_enough(size: int, sizes: ChunkSettings, parallel: bool) -> None:
    assert chunking._worth_processes(size, sizes) == parallel


def test_a_large_file_is_searched_in_parallel_without_being_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(chunking, "_WORTH_PROCESSES", 100_000)
    content = text(2, 200_000)
    with caplog.at_level(logging.DEBUG, "incoop.inchdfs"):
        chunks = list(chunk_file(written(tmp_path, content), RABIN, Lines()))
    assert chunks == Splitter(RABIN).split_bytes(content)
    assert "in parallel" in caplog.text


@dataclass(frozen=True)
class Paragraphs:
    """A user's format defined in a test module."""

    def ends_around(self, data: bytes | bytearray, start: int, position: int, end: int) -> tuple[int, int]:
        return Lines().ends_around(data, start, position, end)

    def records(self, chunk: bytes) -> list[bytes]:
        return chunk.split(b"\n")


def test_a_users_own_format_travels_to_the_processes_even_from_inside_a_function(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Local(Paragraphs):
        pass

    content = text(3, 200_000)
    expected = Splitter(RABIN).split_bytes(content)
    with LocalProcesses(2) as processes:
        for form in (Paragraphs(), Local()):
            assert list(chunk_file(written(tmp_path, content), RABIN, form, run_segments=processes)) == expected


def test_spark_tasks_give_the_chunks_of_a_sequence(tmp_path: Path, spark: SparkSession) -> None:
    @dataclass(frozen=True)
    class Local(Paragraphs):
        pass

    for form, content in (
        (Lines(), text(4, 200_000)),
        (Local(), long_lines(5, 100_000)),
        (FixedLength(7), text(6, 140_000)),
    ):
        chunks = list(chunk_file(written(tmp_path, content), RABIN, form, run_segments=spark_segments(spark)))
        assert chunks == Splitter(RABIN, form).split_bytes(content)


def test_fixed_length_segments_begin_on_the_record_grid() -> None:
    for segment in segments_of(Path("x"), 1_000_000, RABIN, FixedLength(7)):
        assert segment.start % 7 == 0


def test_a_process_that_is_killed_gives_an_error_that_says_so(tmp_path: Path) -> None:
    segment = Segment(str(tmp_path / "fifo"), 0, 1000, RABIN, Lines())
    os.mkfifo(segment.path)  # the process waits here until it is killed
    with LocalProcesses(1) as processes:

        def kill() -> None:
            while not processes._started:
                time.sleep(0.01)
            processes._started[0].kill()

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(SegmentProcessEnded, match="ended before it was done"):
            list(processes([segment]))
        killer.join()


def test_an_error_in_a_process_arrives_here(tmp_path: Path) -> None:
    with LocalProcesses(1) as processes, pytest.raises(FileNotFoundError):
        list(processes([Segment(str(tmp_path / "missing"), 0, 10, RABIN, Lines())]))


def test_leaving_by_an_error_ends_the_processes_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    started = time.monotonic()
    with pytest.raises(KeyError), LocalProcesses(2) as processes:
        answers = processes([Segment(str(fifo), 0, 10, RABIN, Lines())] * 2)
        while len(processes._started) < 2:
            time.sleep(0.01)
        raise KeyError
    assert time.monotonic() - started < 60
    assert all(process.poll() is not None for process in processes._started)
    del answers


def test_a_search_process_ends_quietly_with_the_one_that_started_it(tmp_path: Path) -> None:
    """The parent is killed hard while its processes search; they neither stay nor complain."""
    path = tmp_path / "large"
    path.write_bytes(text(1, 1_000_000) * 40)
    program = (
        "import inchdfs, sys\n"
        "from incoop.inchdfs.cutting.parallel import LocalProcesses\n"
        "from incoop.inchdfs.files.sources import InputFile\n"
        "from pathlib import Path\n"
        "path = Path(sys.argv[1])\n"
        "sizes = inchdfs.ChunkSettings(average=65536)\n"
        "processes = LocalProcesses()\n"
        "for chunk in inchdfs.chunk_file(InputFile(path, 'x'), sizes, inchdfs.Lines(), run_segments=processes):\n"
        "    print(chunk.offset, flush=True)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    threads = Path(f"/proc/{parent.pid}/task").glob("*/children")
    children = [int(pid) for thread in threads for pid in thread.read_text().split()]
    assert children
    parent.send_signal(signal.SIGKILL)
    _, complaints = parent.communicate()  # returns when the children have closed the pipe too
    assert complaints == ""
    for pid in children:
        deadline = time.monotonic() + 120
        while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}").exists()
