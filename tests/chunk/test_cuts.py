"""Where one chunk ends, case by case, with a finder that proposes what the case says."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import pytest

from incoop.inchdfs import ChunkSettings, Lines, Splitter
from incoop.inchdfs.cutting import splitter as splitter_module
from incoop.inchdfs.cutting.splitter import Cut, next_cut
from incoop.inchdfs.errors import RecordTooLong
from tests.chunk.samples import RABIN, text

SIZES = ChunkSettings(average=100, minimum=50, maximum=120)


@dataclass
class Marker:
    """Proposes a cut behind so many bytes."""

    at: int

    def first_marker(self, view: memoryview, unmarked: Any = ()) -> int:
        return min(self.at, len(view))


def lines(*lengths: int) -> bytes:
    """Lines of these lengths, with their ends."""
    return b"".join(b"x" * (length - 1) + b"\n" for length in lengths)


@pytest.mark.parametrize(
    ("content", "marker", "at_end", "expected"),
    [
        pytest.param(lines(*[10] * 30), 55, False, Cut(60, True), id="a cut moves on to the end of its record"),
        pytest.param(lines(*[10] * 30), 60, False, Cut(60, True), id="or stays there"),
        pytest.param(lines(*[10] * 30), 61, False, Cut(70, True), id="or moves on to the next one"),
        pytest.param(lines(*[10] * 30), 999, False, Cut(120, True), id="at the maximum, where a record ends there"),
        pytest.param(lines(*[50] * 6), 999, False, Cut(100, False), id="before the maximum, where none does"),
        pytest.param(lines(100, 20, 80), 110, False, Cut(120, True), id="a record may end at the maximum"),
        pytest.param(lines(100, 21, 80), 110, False, Cut(100, False), id="but not behind it"),
        pytest.param(lines(50, 100), 60, False, Cut(50, False), id="back to a record that ends at the minimum"),
        pytest.param(lines(49, 100), 60, False, Cut(149, True), id="but not before it"),
        pytest.param(lines(200, 10), 60, False, Cut(200, True), id="a record that is too long is a chunk"),
        pytest.param(b"x" * 200, 60, False, None, id="a record that goes on needs more bytes"),
        pytest.param(b"x" * 200, 60, True, Cut(200, False), id="unless the input ends"),
        pytest.param(lines(60) + b"x" * 200, 70, False, Cut(60, False), id="also there, it is cut before if it can"),
        pytest.param(lines(60) + b"x" * 200, 70, True, Cut(60, False), id="even though the input ends"),
        pytest.param(lines(60) + b"x" * 30, 70, True, Cut(90, False), id="the last record may have no end"),
        pytest.param(lines(60) + b"x" * 60, 70, True, Cut(120, False), id="up to the maximum"),
        pytest.param(lines(60) + b"x" * 61, 70, True, Cut(60, False), id="not beyond"),
        pytest.param(lines(10, 10), 999, True, Cut(20, False), id="the input ends before a marker"),
        pytest.param(lines(*[10] * 30)[:55], 55, True, Cut(55, False), id="or at it"),
        pytest.param(lines(60), 60, False, Cut(60, True), id="the end of what is there is not the end of the input"),
        pytest.param(
            lines(60), 60, True, Cut(60, False), id="at the end of the input, what follows could belong to it"
        ),
        pytest.param(lines(60, 5), 60, True, Cut(60, True), id="before the end, the bytes alone decide"),
    ],
)
def test_where_a_chunk_ends(content: bytes, marker: int, at_end: bool, expected: Cut | None) -> None:
    for start in (0, 17):
        data = b"\n" * start + content
        found = next_cut(data, start, len(data), at_end, Marker(marker), SIZES, Lines())
        assert found == (expected and Cut(expected.position + start, expected.closed))


def test_bytes_behind_the_end_are_not_looked_at() -> None:
    data = lines(*[10] * 30)
    assert next_cut(data, 0, 45, False, Marker(999), SIZES, Lines()) is None
    assert next_cut(data, 0, 45, True, Marker(999), SIZES, Lines()) == Cut(45, False)


def test_a_stream_may_begin_anywhere_in_its_file() -> None:
    content = text(1, 5000)
    chunks = Splitter(RABIN).split_bytes(content)
    rest = io.BytesIO(content[chunks[2].offset :])
    found = [chunk for chunk, _ in Splitter(RABIN).split(rest.readinto, chunks[2].offset)]
    assert found == chunks[2:]


def test_one_buffer_serves_stream_after_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(splitter_module, "bytearray", lambda size: made.append(size) or bytearray(size), raising=False)
    split = Splitter(RABIN)
    for _ in range(3):
        split.split_bytes(text(1, 9000))
    assert made == [splitter_module._BUFFERED_CHUNKS * RABIN.maximum]


def test_a_long_record_is_read_in_growing_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(splitter_module, "bytearray", lambda size: made.append(size) or bytearray(size), raising=False)
    Splitter(RABIN).split_bytes(b"x" * 100_000)
    assert made == sorted(made) and len(made) < 12
    assert max(made) < 4 * 100_000


@pytest.mark.parametrize(("length", "fits"), [(8 * 1024, True), (100_000, False)])
def test_the_longest_record_that_a_chunk_holds(monkeypatch: pytest.MonkeyPatch, length: int, fits: bool) -> None:
    monkeypatch.setattr(splitter_module, "_LARGEST_CHUNK", 64 * 1024)
    if fits:
        assert [chunk.length for chunk in Splitter(RABIN).split_bytes(b"x" * length)] == [length]
    else:
        with pytest.raises(RecordTooLong):
            Splitter(RABIN).split_bytes(b"x" * length)


def test_a_chunk_is_no_longer_than_linux_reads_at_once() -> None:
    assert splitter_module._LARGEST_CHUNK == 0x7FFFF000
