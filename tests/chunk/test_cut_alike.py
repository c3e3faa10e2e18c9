"""Chunks that were cut for one format hold whole records of another, or are not read by it."""

from __future__ import annotations

import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import incoop
from incoop.fronts.mrjob.lines import RawLines
from incoop.fronts.streaming.map import WholeChunks
from incoop.inchdfs import ChunkSettings, Csv, Delimited, FixedLength, Lines, Splitter, WholeFile
from incoop.inchdfs.cutting.cut_alike import holds_whole_records
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.query.execution.records import UncutLines, UncutRows

FORMATS = (
    *(Lines(), Lines("latin-1"), RawLines(), WholeChunks(), UncutLines(), Csv(), Csv(";"), Csv(quote="'")),
    *(UncutRows(Csv(";")), FixedLength(3), FixedLength(4), Delimited(b"--"), WholeFile()),
)

SMALL = ChunkSettings(average=64, minimum=48, maximum=96)

TEXTS = st.lists(st.sampled_from(["a", "bc", ",", ";", "\n", '"', "'", "--", "word"]), max_size=600).map("".join)


@given(st.sampled_from(FORMATS), st.sampled_from(FORMATS), TEXTS)
def test_chunks_that_may_be_read_end_where_records_do(cut_for: RecordFormat, read_by: RecordFormat, text: str) -> None:
    content = text.encode()
    if not holds_whole_records(cut_for, read_by):
        return
    ends = accumulate(chunk.length for chunk in Splitter(SMALL, cut_for).split_bytes(content))
    for end in ends:
        if end < len(content):
            assert read_by.ends_around(content, 0, end, len(content))[0] == end


@pytest.mark.parametrize(
    ("cut_for", "read_by"),
    [
        (Lines(), Csv()),
        (Csv(), Csv(quote="'")),
        (Lines(), WholeFile()),
        (Lines(), FixedLength(8)),
        (FixedLength(4), FixedLength(8)),
    ],
)
def test_formats_that_end_elsewhere_are_told_apart(cut_for: RecordFormat, read_by: RecordFormat) -> None:
    assert not holds_whole_records(cut_for, read_by)


def rows(_: None, row: list[str]) -> list[tuple[int, int]]:
    return [(len(row), 1)]


def test_a_dataset_of_lines_is_not_read_as_rows_and_one_of_rows_is(tmp_path: Path) -> None:
    """Rows that stand on several lines were split, and counted wrong."""
    table, store = tmp_path / "table.csv", tmp_path / "store"
    table.write_text("".join(f'{number},"some\ntext, {number % 7}",x\n' for number in range(20_000)))
    for name, form in (("as-lines", "lines"), ("as-rows", "csv")):
        put = ["put", "--store", str(store), "--records", form, str(table), name]
        subprocess.run([sys.executable, "-c", "from incoop.cli.main import main; main()", *put], check=True)
    with incoop.connect(store) as session:
        job = incoop.Job("rows", rows, records=Csv())
        with pytest.raises(incoop.BadCall, match=r"store it with that format \(incoop put --records"):
            session.run(job, "inchdfs:/as-lines")
        assert list(session.run(job, "inchdfs:/as-rows")) == [(3, 1)] * 20_000
        lines = incoop.Job("lines", rows)
        assert len(list(session.run(lines, "inchdfs:/as-rows"))) == 40_000
