"""Resync: the chunks of a changed file, from what is known of it, searching only where it changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.inchdfs import Chunk, ChunkSettings, FixedLength, Lines, RecordFormat, Splitter
from incoop.inchdfs.cutting.chunk_table import Rows, rows_of
from incoop.inchdfs.cutting.resync import resync
from incoop.inchdfs.cutting.rolling_hash import MarkerFinder, marker_finder
from incoop.inchdfs.errors import FileChangedWhileRead
from tests.chunk.samples import (
    FASTCDC,
    FORMATS,
    RABIN,
    REAL_DATA,
    SIZES,
    checked,
    contents,
    edits,
    noise,
    repeated,
    text,
)


class CountingFinder:
    """A marker finder that counts the bytes it was asked to search."""

    def __init__(self, finder: MarkerFinder) -> None:
        self._finder = finder
        self.searched = 0

    def first_marker(self, view: memoryview, unmarked: Any = ()) -> int:
        found = self._finder.first_marker(view)
        self.searched += found
        return found


def resynced(path: Path, content: bytes, known: Rows, splitter: Splitter) -> list[Chunk]:
    """Resync `path` holding `content`; checks that the bytes given with each chunk are its own."""
    path.write_bytes(content)
    chunks = []
    for chunk, view in resync(path, len(content), known, splitter):
        assert view == content[chunk.offset : chunk.end]
        chunks.append(chunk)
    return chunks


def searched_after(path: Path, before: bytes, after: bytes, sizes: ChunkSettings, form: RecordFormat) -> int:
    known = rows_of(Splitter(sizes, form).split_bytes(before))
    counting = CountingFinder(marker_finder(sizes))
    chunks = resynced(path, after, known, Splitter(sizes, form, counting))
    assert chunks == Splitter(sizes, form).split_bytes(after)
    return counting.searched


@given(st.data(), st.sampled_from(FORMATS), st.sampled_from(SIZES))
@checked
def test_resync_equals_from_scratch_for_every_sequence_of_edits(
    tmp_path: Path, data: st.DataObject, form_and_makers, sizes: ChunkSettings
) -> None:  # type: ignore[no-untyped-def]
    form, makers = form_and_makers
    splitter = Splitter(sizes, form)
    content = data.draw(contents(makers))
    chunks = splitter.split_bytes(content)
    for _ in range(data.draw(st.integers(1, 4))):
        content = data.draw(edits(content))
        known = rows_of(chunks)
        chunks = resynced(tmp_path / "input", content, known, splitter)
        assert chunks == splitter.split_bytes(content)


@given(st.data(), st.sampled_from([RABIN, FASTCDC]))
@checked
def test_any_closed_rows_may_be_known_and_the_chunks_stay_those_from_scratch(
    tmp_path: Path, data: st.DataObject, sizes: ChunkSettings
) -> None:
    """Rows of other content, of a part, repeated or shuffled: what is known is only ever a hint."""
    splitter = Splitter(sizes)
    content = data.draw(contents())
    found = splitter.split_bytes(data.draw(edits(content))) + splitter.split_bytes(content)
    closed = [chunk for chunk in found if chunk.closed]  # the others mean something only where they stood
    rows = rows_of(data.draw(st.lists(st.sampled_from(closed), max_size=40)) if closed else [])
    assert resynced(tmp_path / "input", content, rows, splitter) == splitter.split_bytes(content)


@pytest.mark.parametrize("sizes", [RABIN, FASTCDC], ids=["rabin", "fastcdc"])
@pytest.mark.parametrize(
    ("change", "chunks_searched"),
    [
        pytest.param(lambda c: c, 0, id="nothing changed"),
        pytest.param(lambda c: c[:50_000] + b"new line\n" + c[50_000:], 5, id="a line inserted"),
        pytest.param(lambda c: c[:50_000] + c[50_900:], 5, id="lines deleted"),
        pytest.param(lambda c: c[:50_000] + b"12345" + c[50_005:], 5, id="bytes replaced in place"),
        pytest.param(lambda c: c + b"appended\n", 3, id="a line appended"),
        pytest.param(lambda c: c[:70_000], 4, id="cut short"),
        pytest.param(lambda c: c[50_000:] + c[:50_000], 8, id="two halves swapped"),
        pytest.param(lambda c: c + c, 8, id="everything twice"),
        pytest.param(lambda c: c[:30_000] + c[60_000:] + c[30_000:60_000], 12, id="a block moved to the end"),
    ],
)
def test_only_changed_places_are_searched(tmp_path: Path, sizes: ChunkSettings, change, chunks_searched: int) -> None:  # type: ignore[no-untyped-def]
    content = text(1, 100_000)
    searched = searched_after(tmp_path / "input", content, change(content), sizes, Lines())
    # A search sees at most the maximum for each chunk that it cuts.
    assert searched <= chunks_searched * sizes.maximum
    if chunks_searched == 0:
        assert searched == 0


def test_cuts_that_stepped_back_from_the_maximum_are_not_searched_again(tmp_path: Path) -> None:
    content = repeated(3, 100_000)
    known = Splitter(RABIN).split_bytes(content)
    assert not any(chunk.closed for chunk in known), "the sample has no marker, so every cut is forced"
    assert searched_after(tmp_path / "input", content, content, RABIN, Lines()) == 0
    assert searched_after(tmp_path / "input", content, content + b"one more\n", RABIN, Lines()) <= 4 * RABIN.maximum


def test_an_appended_file_searches_the_last_chunk_and_what_is_new(tmp_path: Path) -> None:
    content, new = noise(1, 100_000), noise(2, 10_000)
    searched = searched_after(tmp_path / "input", content, content + new, RABIN, FixedLength(1))
    assert searched <= len(new) + 2 * RABIN.maximum


def test_a_file_shorter_than_it_was_said_to_be_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 5000))
    known = rows_of(Splitter(RABIN).split_bytes(text(2, 5000)))
    with pytest.raises(FileChangedWhileRead, match="changed while it was read"):
        list(resync(path, 9000, known, Splitter(RABIN)))


def test_inputs_with_many_equal_chunk_heads_are_resynced_all_the_same(tmp_path: Path) -> None:
    """Every chunk begins with the same 64 bytes: the head says nothing, the hash decides."""
    rng = np.random.default_rng(1)
    records = [b"h" * 64 + rng.bytes(36) for _ in range(800)]
    content = b"".join(records)
    edited = b"".join([*records[:400], b"h" * 64 + b"x" * 36, *records[400:]])
    searched = searched_after(tmp_path / "input", content, edited, RABIN, FixedLength(100))
    assert searched <= 8 * RABIN.maximum


@pytest.mark.parametrize("sizes", [RABIN, FASTCDC], ids=["rabin", "fastcdc"])
@pytest.mark.parametrize("form", [Lines(), FixedLength(1)], ids=["lines", "bytes"])
def test_a_file_cut_off_at_every_boundary_is_cut_as_from_scratch(
    tmp_path: Path, sizes: ChunkSettings, form: RecordFormat
) -> None:
    splitter = Splitter(sizes, form)
    content = text(4, 6000)
    chunks = splitter.split_bytes(content)
    for end in (chunk.end for chunk in chunks):
        for cut in (end - 1, end, end + 1):
            shorter = content[:cut]
            assert resynced(tmp_path / "input", shorter, rows_of(chunks), splitter) == splitter.split_bytes(shorter)


def test_a_cut_that_stepped_back_is_searched_again_when_what_it_stepped_back_from_changed(tmp_path: Path) -> None:
    """Its own bytes stand there as before, and so does the chunk behind it, but for its last bytes."""
    lines = [b"a" * 599 + b"\n", b"a" * 599 + b"\n", *(b"a" * 199 + b"\n" for _ in range(20))]
    content = b"".join(lines)
    known = Splitter(RABIN).split_bytes(content)
    assert (known[0].length, known[0].closed) == (600, False), "the second line passes the maximum"
    for shorter in (300, 423, 424, 425, 599):
        edited = b"".join([lines[0], b"a" * (shorter - 1) + b"\n", *lines[2:]])
        scratch = Splitter(RABIN).split_bytes(edited)
        assert (scratch[0].length > 600) == (shorter <= 424)
        assert resynced(tmp_path / "input", edited, rows_of(known), Splitter(RABIN)) == scratch


def test_what_is_known_behind_the_end_of_a_file_is_not_read(tmp_path: Path) -> None:
    content = text(1, 3000)
    chunks = Splitter(RABIN).split_bytes(content)
    assert resynced(tmp_path / "input", b"", rows_of(chunks), Splitter(RABIN)) == []
    assert resynced(tmp_path / "input", content, rows_of([]), Splitter(RABIN)) == chunks


def test_of_chunks_that_begin_alike_the_next_one_behind_the_last_match_is_tried_first(tmp_path: Path) -> None:
    """Content that repeats with a change in the middle is found again in order, without a search in what repeats."""
    head = b"h" * 80
    parts = [head + text(seed, 3000) for seed in range(8)]
    content = b"\n".join(parts)
    moved = b"\n".join([*parts[4:], *parts[:4]])
    assert searched_after(tmp_path / "input", content, moved, RABIN, Lines()) <= 12 * RABIN.maximum


def _asked(path: Path, content: bytes, known: Rows, gives: bool) -> tuple[list[int], list[tuple[Chunk, bool]]]:
    """The places where it was asked whether to go on in parallel; the chunks, and whether they came with bytes."""
    path.write_bytes(content)
    scratch = Splitter(RABIN).split_bytes(content)
    asked: list[int] = []

    def in_parallel(position: int) -> Iterator[Chunk] | None:
        asked.append(position)
        return iter([chunk for chunk in scratch if chunk.offset >= position]) if gives else None

    found = list(resync(path, len(content), known, Splitter(RABIN), in_parallel))
    assert [chunk for chunk, _ in found] == scratch
    return asked, [(chunk, view is not None) for chunk, view in found]


def test_where_more_was_searched_than_found_the_rest_is_cut_in_parallel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incoop.inchdfs.cutting.resync._SEARCHED_ALONE", 5000)
    content, known = text(1, 30_000), rows_of(Splitter(RABIN).split_bytes(text(2, 30_000)))
    asked, found = _asked(tmp_path / "input", content, known, gives=True)
    assert len(asked) == 1 and 5000 < asked[0] <= 5000 + RABIN.maximum
    assert [with_bytes for _, with_bytes in found] == [chunk.offset < asked[0] for chunk, _ in found]
    asked, found = _asked(tmp_path / "input", content, known, gives=False)
    assert len(asked) > 10, "asked again at every boundary"
    assert all(with_bytes for _, with_bytes in found)


def test_less_is_searched_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = text(1, 30_000)
    known = rows_of(Splitter(RABIN).split_bytes(text(2, 30_000)))
    assert _asked(tmp_path / "input", content, known, gives=True)[0] == []
    monkeypatch.setattr("incoop.inchdfs.cutting.resync._SEARCHED_ALONE", 2000)
    half = rows_of(Splitter(RABIN).split_bytes(content[:20_000]))
    assert _asked(tmp_path / "input", content, half, gives=True)[0] == [], "no more than half of what was passed"


@pytest.mark.skipif(not REAL_DATA.exists(), reason="the real data lies next to the repository")
@pytest.mark.parametrize("series", ["hosts", "airports"])
def test_real_versions_of_a_file_resync_to_the_chunks_from_scratch(tmp_path: Path, series: str) -> None:
    sizes = ChunkSettings(average=16 << 10)
    known: Rows | None = None
    for version in sorted((REAL_DATA / "evolving" / series).iterdir())[:4]:
        content = version.read_bytes()
        scratch = Splitter(sizes).split_bytes(content)
        if known is not None:
            assert resynced(tmp_path / "input", content, known, Splitter(sizes)) == scratch
        known = rows_of(scratch)
