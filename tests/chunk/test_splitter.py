"""Chunks of a stream: whole records, within bounds, and dependent on nothing but the bytes from their start on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.inchdfs import Chunk, ChunkSettings, FixedLength, Lines, RecordFormat, Splitter, WholeFile
from incoop.inchdfs.cutting import splitter
from incoop.inchdfs.cutting.rolling_hash import marker_finder
from incoop.inchdfs.errors import RecordTooLong
from tests.chunk.samples import (
    FASTCDC,
    LINE_MAKERS,
    RABIN,
    SIZES,
    all_records,
    checked,
    contents,
    formatted_contents,
    noise,
    odd_reads,
    repeated,
    text,
)

any_settings = st.sampled_from(SIZES)


def pieces(chunks: list[Chunk], content: bytes) -> list[bytes]:
    return [content[chunk.offset : chunk.end] for chunk in chunks]


@given(formatted_contents(), any_settings)
@checked
def test_chunks_concatenate_to_the_input(sample: tuple[RecordFormat, bytes], sizes: ChunkSettings) -> None:
    form, content = sample
    chunks = Splitter(sizes, form).split_bytes(content)
    assert b"".join(pieces(chunks, content)) == content
    assert [chunk.offset for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]
    assert all(chunk.length > 0 for chunk in chunks)


@given(formatted_contents(), any_settings)
@checked
def test_the_records_of_all_chunks_are_the_records_of_the_input(
    sample: tuple[RecordFormat, bytes], sizes: ChunkSettings
) -> None:
    form, content = sample
    chunks = Splitter(sizes, form).split_bytes(content)
    whole = list(form.records(content)) if content else []
    assert all_records(form, pieces(chunks, content)) == whole


@given(formatted_contents(), any_settings)
@checked
def test_every_chunk_ends_where_a_record_does(sample: tuple[RecordFormat, bytes], sizes: ChunkSettings) -> None:
    form, content = sample
    for chunk in Splitter(sizes, form).split_bytes(content)[:-1]:
        assert form.ends_around(content, chunk.offset, chunk.end, len(content)) == (chunk.end, chunk.end)


@given(formatted_contents(), any_settings)
@checked
def test_sizes_keep_to_minimum_and_maximum_unless_a_record_is_too_long(
    sample: tuple[RecordFormat, bytes], sizes: ChunkSettings
) -> None:
    form, content = sample
    for chunk in Splitter(sizes, form).split_bytes(content)[:-1]:
        assert chunk.length >= sizes.minimum
        if chunk.length > sizes.maximum:
            before_maximum, _ = form.ends_around(content, chunk.offset, chunk.offset + sizes.maximum, len(content))
            assert before_maximum - chunk.offset < sizes.minimum, "a record end between minimum and maximum was passed"


@given(formatted_contents(), any_settings, st.integers(0, 100))
@checked
def test_a_pipe_with_short_reads_gives_the_same_chunks(
    sample: tuple[RecordFormat, bytes], sizes: ChunkSettings, seed: int
) -> None:
    form, content = sample
    split = Splitter(sizes, form)
    chunks = [(chunk, bytes(view)) for chunk, view in split.split(odd_reads(content, seed))]
    assert chunks == list(zip(split.split_bytes(content), pieces([c for c, _ in chunks], content), strict=True))


@given(formatted_contents(), any_settings)
@checked
def test_what_follows_a_boundary_is_cut_as_if_the_input_began_there(
    sample: tuple[RecordFormat, bytes], sizes: ChunkSettings
) -> None:
    form, content = sample
    split = Splitter(sizes, form)
    chunks = split.split_bytes(content)
    for at in range(0, len(chunks), max(1, len(chunks) // 4)):
        rest = split.split_bytes(content[chunks[at].offset :])
        assert [(c.length, c.id, c.closed) for c in rest] == [(c.length, c.id, c.closed) for c in chunks[at:]]


@given(formatted_contents(), any_settings, st.binary(max_size=3000))
@checked
def test_a_closed_chunk_is_cut_the_same_whatever_follows_it(
    sample: tuple[RecordFormat, bytes], sizes: ChunkSettings, follows: bytes
) -> None:
    form, content = sample
    split = Splitter(sizes, form)
    for chunk in split.split_bytes(content)[:4]:
        if chunk.closed:
            again = split.split_bytes(content[chunk.offset : chunk.end] + b"\n" + follows)
            assert (again[0].length, again[0].closed) == (chunk.length, True)


@given(contents(LINE_MAKERS, 30_000), st.sampled_from([RABIN, FASTCDC]), st.data())
@checked
def test_a_marker_depends_on_the_bytes_up_to_it_alone(
    content: bytes, sizes: ChunkSettings, data: st.DataObject
) -> None:
    finder = marker_finder(sizes)
    view = content[: sizes.maximum]
    if not view:
        return
    marker = finder.first_marker(memoryview(view))
    assert min(sizes.minimum, len(view)) <= marker <= len(view)
    shorter = data.draw(st.integers(1, len(view)))
    assert finder.first_marker(memoryview(view[:shorter])) == min(marker, shorter)
    if marker < len(view):
        tail = data.draw(st.binary(max_size=sizes.maximum - marker))
        if tail:
            assert finder.first_marker(memoryview(view[:marker] + tail)) == marker


@pytest.mark.parametrize("sizes", [RABIN, FASTCDC], ids=["rabin", "fastcdc"])
@pytest.mark.parametrize("maker", [text, noise], ids=["text", "noise"])
@pytest.mark.parametrize(
    ("insert", "delete"),
    [
        pytest.param(b"one more line\n", 0, id="insert a line"),
        pytest.param(b"x", 0, id="insert a byte"),
        pytest.param(b"", 1, id="delete a byte"),
        pytest.param(b"", 700, id="delete several chunks"),
        pytest.param(b"replaced", 8, id="replace in place"),
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.31, 0.5, 0.97, 1.0])
def test_an_edit_changes_only_chunks_near_it(sizes, maker, insert, delete, share) -> None:  # type: ignore[no-untyped-def]
    content = maker(11, 60_000)
    at = int(share * len(content))
    edited = content[:at] + insert + content[at + delete :]
    split = Splitter(sizes, FixedLength(1) if maker is noise else Lines())
    before, after = split.split_bytes(content), split.split_bytes(edited)
    # Chunks that end before the edit stay; behind it the cuts meet again after a few chunks at most.
    assert [c.id for c in after if c.end < at - sizes.maximum] == [c.id for c in before if c.end < at - sizes.maximum]
    changed = {c.id for c in after} - {c.id for c in before}
    lost = {c.id for c in before} - {c.id for c in after}
    assert len(changed) <= 6
    assert len(lost) <= 6 + delete // sizes.minimum


def test_fixed_length_records_realign_after_whole_inserted_records() -> None:
    content, record = noise(5, 70_000), noise(6, 7)
    split = Splitter(RABIN, FixedLength(7))
    before = {c.id for c in split.split_bytes(content)}
    after = [c.id for c in split.split_bytes(content[:35_000] + record + content[35_000:])]
    assert sum(id_ not in before for id_ in after) <= 6


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_average_size_is_near_the_setting_for_lines_of_text(sizes: ChunkSettings) -> None:
    chunks = Splitter(sizes).split_bytes(text(3, 400_000))
    average = 400_000 / len(chunks)
    # The cut moves on to the end of a line (about 35 bytes), and the maximum cuts the long tail off.
    assert 0.6 * sizes.average < average < 1.4 * sizes.average + 40


def test_input_without_any_marker_is_cut_at_the_maximum_behind_a_record() -> None:
    content = repeated(1, 20_000)
    line = content.index(b"\n") + 1
    lengths = {c.length for c in Splitter(RABIN).split_bytes(content)[:-1]}
    assert lengths
    assert all(length % line == 0 and length <= RABIN.maximum for length in lengths)


def test_a_record_longer_than_the_maximum_makes_one_chunk() -> None:
    content = text(1, 3000) + b"z" * 50_000 + b"\n" + text(2, 3000)
    chunks = Splitter(RABIN).split_bytes(content)
    assert max(c.length for c in chunks) > 50_000
    assert sum(c.length > RABIN.maximum for c in chunks) == 1


def test_an_empty_input_has_no_chunk_and_one_byte_makes_one() -> None:
    assert Splitter(RABIN).split_bytes(b"") == []
    assert [c.length for c in Splitter(RABIN).split_bytes(b"x")] == [1]
    assert [c.length for c in Splitter(RABIN, WholeFile()).split_bytes(text(1, 9000))] == [9000]


def test_a_record_that_no_chunk_can_hold_is_refused_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitter, "_LARGEST_CHUNK", 10_000)
    with pytest.raises(RecordTooLong, match="longer than 10000 bytes"):
        Splitter(RABIN).split_bytes(b"a" * 30_000)


def test_one_splitter_cuts_many_streams_even_when_one_is_left_halfway() -> None:
    split = Splitter(RABIN)
    expected = split.split_bytes(text(1, 20_000))
    for _, _ in split.split(odd_reads(text(2, 20_000), 0)):
        break
    running = split.split(odd_reads(text(1, 20_000), 1))
    first, _ = next(running)
    assert split.split_bytes(text(1, 20_000)) == expected
    assert [first, *(chunk for chunk, _ in running)] == expected
