"""Which chunks a window holds: by tables alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incoop
from incoop.engine.chosen import ChunkTable, clipped_id, ranges_of, record_ends
from incoop.inchdfs import Csv, Delimited, FixedLength, Lines, RecordFormat
from incoop.inchdfs.cutting.chunk_table import ROW
from incoop.windows.choose import Period, Span, chunks_held, in_period, period_of, time_in_name

DAY = 86_400_000_000


def table(*files: tuple[str, list[int]]) -> ChunkTable:
    lengths = [length for _, sizes in files for length in sizes]
    rows = np.zeros(len(lengths), ROW)
    rows["length"] = lengths
    return ChunkTable(rows, tuple((name, len(sizes)) for name, sizes in files))


LOGS = table(("a", [10, 20]), ("b", []), ("c", [5]), ("d", [7, 7, 7]))


@pytest.mark.parametrize(
    ("window", "held"),
    [
        (incoop.last(files=1), [3, 4, 5]),
        (incoop.last(files=3), [2, 3, 4, 5]),
        (incoop.last(files=99), [0, 1, 2, 3, 4, 5]),
        (incoop.last(files=1, hop=3), [2]),
        (incoop.last(files=2, hop=5), []),
        (incoop.last(chunks=2), [4, 5]),
        (incoop.last(chunks=2, hop=4), [2, 3]),
        (incoop.last(bytes=14), [4, 5]),
        (incoop.last(bytes=20), [4, 5]),
        (incoop.last(bytes=21), [3, 4, 5]),
        (incoop.last(bytes=1), [5]),
        (incoop.last(bytes=1000), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_whole_chunks_from_the_end(window: incoop.Window, held: list[int]) -> None:
    assert chunks_held(window, LOGS).tolist() == held


@pytest.mark.parametrize("window", [incoop.last(files=1), incoop.last(bytes=9), incoop.last(days=1, of="%Y")])
def test_an_empty_input_has_an_empty_window(window: incoop.Window) -> None:
    assert chunks_held(window, table()).tolist() == []


def test_files_by_the_times_in_their_names() -> None:
    logs = table(("x-2026-11-09.log", [1]), ("x-2026-11-01.log", [1]), ("x-2026-11-08.log.gz", [1, 1]), ("notes", [1]))
    assert chunks_held(incoop.last(days=2, of="%Y-%m-%d"), logs).tolist() == [0, 2, 3]
    assert chunks_held(incoop.last(days=1, of="%Y-%m-%d"), logs).tolist() == [0]
    assert chunks_held(incoop.last(weeks=9, of="%Y-%m-%d"), logs).tolist() == [0, 1, 2, 3]
    assert chunks_held(incoop.last(weeks=9, of="%Y%m%d"), logs).tolist() == []


@pytest.mark.parametrize(
    ("name", "form", "time"),
    [
        ("access.log-19700103", "%Y%m%d", 2 * DAY),
        ("/var/1999-01-01/access-1970-01-02.gz", "%Y-%m-%d", DAY),
        ("a-1970-13-77-1970-01-03", "%Y-%m-%d", 2 * DAY),
        ("app.02Jan1970.log", "%d%b%Y", DAY),
        ("h-1970.01.01T01", "%Y.%m.%dT%H", DAY // 24),
        ("access.log", "%Y-%m-%d", None),
    ],
)
def test_a_time_is_found_in_a_name(name: str, form: str, time: int | None) -> None:
    assert time_in_name(name, form) == time


def test_a_window_of_time_ends_with_the_newest_or_at_a_whole_hop() -> None:
    sliding, hopping = incoop.last(seconds=10, of=float), incoop.last(seconds=10, of=float, hop=4)
    assert period_of(sliding, 99_000_000) == Period(89_000_001, 99_000_001)
    assert period_of(hopping, 99_000_000) == Period(86_000_000, 96_000_000)
    assert period_of(hopping, 100_000_000) == Period(90_000_000, 100_000_000)
    assert period_of(sliding, None) is None


def test_chunks_are_in_a_period_as_a_whole_in_part_or_not() -> None:
    spans = {
        0: Span(1, 9, 0),
        1: Span(9, 12, 0),
        2: Span(10, 19, 0),
        3: Span(11, 12, 1),
        4: Span(None, None, 5),
        5: Span(19, 20, 0),
        6: Span(20, 25, 0),
    }
    assert in_period(Period(10, 20), spans) == ([2], [1, 3, 5])
    assert in_period(None, spans) == ([], [])


def test_ids_of_clipped_chunks_say_what_stays() -> None:
    ids = {clipped_id(chunk, stays) for chunk in (b"a" * 16, b"b" * 16) for stays in (((0, 1),), ((0, 2),), ())}
    assert len(ids) == 6


@given(st.sets(st.integers(0, 30)))
def test_ranges_hold_their_numbers_and_no_others(numbers: set[int]) -> None:
    ranges = ranges_of(sorted(numbers))
    assert {number for low, high in ranges for number in range(low, high)} == numbers
    assert all(behind < begin for (_, behind), (begin, _) in itertools.pairwise(ranges))


@pytest.mark.parametrize(
    ("form", "content"),
    [
        (Lines(), b"one\ntwo\r\nthree\rfour\n\nlast"),
        (Lines(), b"one\n"),
        (Delimited(b";;"), b"a;;bb;;;;c"),
        (FixedLength(3), b"abcdef"),
        (Csv(), b'a,"b\nc"\nd,e\n'),
    ],
)
def test_records_end_where_the_format_says(form: RecordFormat, content: bytes) -> None:
    ends = [0, *record_ends(content, form)]
    pieces = [content[low:high] for low, high in itertools.pairwise(ends)]
    assert b"".join(pieces) == content
    assert [record for piece in pieces for record in form.records(piece)] == list(form.records(content))
