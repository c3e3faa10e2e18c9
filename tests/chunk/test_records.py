"""Record formats: where records end, and how they read."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.errors import BadCall
from incoop.inchdfs import Csv, Delimited, FixedLength, Lines, RecordFormat, WholeFile
from incoop.inchdfs.errors import PartialRecord
from incoop.inchdfs.store.manifest import records_of, tag_of
from tests.chunk.samples import FORMATS, LengthPrefixed, checked, formatted_contents


def ends(form: RecordFormat, content: bytes) -> list[int]:
    """Every record end, found from the beginning one by one."""
    found, start = [], 0
    while start < len(content):
        _, after = form.ends_around(content, start, start + 1, len(content))
        if after < 0:
            break
        found.append(after)
        start = after
    return found


@given(formatted_contents(3000), st.data())
@checked
def test_the_ends_around_a_position_are_the_nearest_of_all_ends(
    sample: tuple[RecordFormat, bytes], data: st.DataObject
) -> None:
    form, content = sample
    if not content:
        return
    known = [0, *ends(form, content)]
    start = data.draw(st.sampled_from([end for end in known if end < len(content)]))
    position = data.draw(st.integers(start + 1, len(content)))
    end = data.draw(st.integers(position, len(content)))
    before = max(at for at in known if start <= at <= position)
    after = min((at for at in known if position <= at <= end), default=-1)
    assert form.ends_around(bytearray(content), start, position, end) == (before, after)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\rc\n\n", ["a", "b", "c", ""]),
        (b"a\r\rb", ["a", "", "b"]),
        (b"tail\r", ["tail"]),
        ("one\u2028line \x0b \x0c \x1c \x85 stays\n".encode(), ["one\u2028line \x0b \x0c \x1c \x85 stays"]),
        (b"\x00\n", ["\x00"]),
        (b"\xff\xe2\x82\nok\n", ["\ufffd\ufffd", "ok"]),
    ],
)
def test_lines_end_at_newline_carriage_return_or_both(content: bytes, lines: list[str]) -> None:
    assert list(Lines().records(content)) == lines


def test_lines_can_be_bytes_or_text_of_another_encoding() -> None:
    assert list(Lines(encoding=None).records(b"\xff\r\nb")) == [b"\xff", b"b"]
    assert list(Lines(encoding="latin-1").records(b"\xfc\n")) == ["ü"]
    with pytest.raises(UnicodeDecodeError):
        list(Lines(errors="strict").records(b"\xff\n"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Lines(encoding="utf-16"),
        lambda: Lines(encoding="no-such-encoding"),
        lambda: FixedLength(0),
        lambda: Delimited(b""),
        lambda: Csv(separator=";;"),
        lambda: Csv(quote="ü"),
    ],
    ids=["utf-16", "unknown encoding", "no length", "no delimiter", "two separators", "not ascii"],
)
def test_a_format_that_cannot_work_is_refused(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadCall):
        wrong()


@pytest.mark.parametrize(
    ("delimiter", "content", "records"),
    [
        (b"aa", b"xaaaya", [b"x", b"aya"]),
        (b"aa", b"aaaa", [b"", b""]),
        (b"--\n", b"a--\n--\nb", [b"a", b"", b"b"]),
        (b"\n\n", b"p1\n\n\np2\n\n", [b"p1", b"\np2"]),
    ],
)
def test_delimiters_that_overlap_themselves_count_from_the_left(delimiter, content, records) -> None:  # type: ignore[no-untyped-def]
    assert list(Delimited(delimiter).records(content)) == records


def test_a_partial_record_is_an_error_with_both_lengths() -> None:
    with pytest.raises(PartialRecord, match="3 bytes that do not make a record of 7"):
        list(FixedLength(7).records(bytes(10)))


@given(st.lists(st.lists(st.text(st.sampled_from('ab,"\n\r ü'), max_size=8), min_size=1, max_size=4), max_size=30))
@checked
def test_csv_rows_read_back_as_they_were_written(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    assert list(Csv().records(file.getvalue().encode())) == rows


def test_csv_fields_may_be_longer_than_the_csv_modules_limit() -> None:
    assert list(Csv().records(b'"' + b"x" * 200_000 + b'",2\n')) == [["x" * 200_000, "2"]]


@pytest.mark.parametrize("form", [form for form, _ in FORMATS], ids=repr)
def test_a_tag_names_a_built_in_format_with_its_parameters(form: RecordFormat) -> None:
    if isinstance(form, LengthPrefixed):
        assert "LengthPrefixed()" in tag_of(form)
        with pytest.raises(BadCall, match="pass it again with records="):
            records_of(tag_of(form))
    else:
        assert records_of(tag_of(form)) == form
        assert tag_of(form) == tag_of(records_of(tag_of(form)))


def test_a_whole_file_is_one_record() -> None:
    assert list(WholeFile().records(b"a\nb\n")) == [b"a\nb\n"]
