"""Stretches: a changed chunk by the one before it, as if it had been cut from scratch."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.content_ids import content_id
from incoop.inchdfs import Chunk, ChunkSettings, Csv, Delimited, FixedLength, Lines, RecordFormat, Splitter
from incoop.inchdfs.cutting.chunk_table import rows_of
from incoop.inchdfs.cutting.resync import resync
from incoop.inchdfs.cutting.rolling_hash import marker_finder
from incoop.inchdfs.cutting.stretches import (
    NEW,
    KnownStretches,
    RecutPieces,
    StretchBook,
    align,
    stretch_ends,
    stretch_rows,
)
from tests.chunk.samples import checked
from tests.chunk.test_resync import CountingFinder

SIZES = ChunkSettings(average=64 << 10)


def lines(rng: random.Random, count: int) -> list[bytes]:
    kinds = [
        lambda: b"%d\t%s\n" % (rng.randrange(10**6), rng.choice([b"oak", b"ash", b"larch"]) * rng.randint(1, 9)),
        lambda: b"the same line again\n",
        lambda: rng.randbytes(rng.randint(0, 60)).replace(b"\n", b"") + b"\n",
        lambda: b'"a,\n""b""",%d\n' % rng.randrange(100),
    ]
    make = rng.choice([*kinds, lambda: rng.choice(kinds)()])
    return [make() for _ in range(count)]


def edited(content: list[bytes], rng: random.Random) -> list[bytes]:
    """Some lines more, fewer, others; here and there, or in one place."""
    content = list(content)
    for _ in range(rng.choice([1, 1, 3, 30])):
        at = rng.randrange(len(content) + 1)
        how = rng.randrange(4)
        if how == 0:
            content[at:at] = lines(rng, rng.choice([1, 1, 2, 300]))
        elif how == 1:
            del content[at : at + rng.choice([1, 1, 2, 300])]
        elif how == 2:
            content[at : at + 1] = lines(rng, 1)
        else:
            content[at:at] = content[: rng.choice([1, 100, 3000])]
    return content


def book_of(content: bytes, chunks: list[Chunk], form: RecordFormat) -> StretchBook:
    book = StretchBook()
    for chunk in chunks:
        data = content[chunk.offset : chunk.end]
        book.learn(chunk.id, stretch_rows(data, list(stretch_ends(data, form))))
    return book


@given(st.integers(0, 1 << 32).map(random.Random), st.sampled_from([Lines(), Csv(), Delimited(b"\n"), FixedLength(3)]))
@checked
def test_a_changed_file_is_cut_by_its_stretches_as_from_scratch(
    tmp_path: Path, rng: random.Random, form: RecordFormat
) -> None:
    versions = [lines(rng, rng.randint(1, 20_000))]
    versions.append(edited(versions[0], rng))
    versions.append(edited(versions[1], rng))
    path, splitter = tmp_path / "input", Splitter(SIZES, form)
    before = b"".join(versions[0])
    chunks = splitter.split_bytes(before)
    book = book_of(before, chunks, form)
    contents = {chunk.id: before[chunk.offset : chunk.end] for chunk in chunks}
    for version in versions[1:]:
        content = b"".join(version)
        path.write_bytes(content)
        found = [chunk for chunk, _ in resync(path, len(content), rows_of(chunks), splitter, stretches=book)]
        chunks = splitter.split_bytes(content)
        assert found == chunks
        contents |= {chunk.id: content[chunk.offset : chunk.end] for chunk in chunks}
        from_scratch = book_of(content, chunks, form)
        for chunk in chunks:
            if chunk.id in book.known:
                assert (book.known[chunk.id] == from_scratch.known[chunk.id]).all()
            if (recut := book.recuts.get(chunk.id)) is not None:
                check_pieces(contents[chunk.id], contents[recut.base], recut.pieces)


def check_pieces(content: bytes, base: bytes, pieces: RecutPieces) -> None:
    at = last = 0
    ids = iter(pieces.ids)
    for length, before in zip(pieces.lengths, pieces.before, strict=True):
        if before != NEW:
            assert before >= last  # each stretch once, in order
            assert content[at : at + length] == base[before : before + length]
            last = before + length
        else:
            assert content_id(content[at : at + length]) == next(ids)
        at += length
    assert at == len(content)
    assert next(ids, None) is None


def test_a_chunk_that_is_the_same_but_for_one_stretch_is_hashed_by_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    content = b"".join(b"%d %d\n" % (number, rng.randrange(10**9)) for number in range(60_000))
    known = KnownStretches.of(stretch_rows(content, list(stretch_ends(content, Lines()))))
    changed = content[:500_000] + b"one more line\n" + content[500_000:]
    calls: list[int] = []

    def counted(data: bytes) -> bytes:
        calls.append(len(data))
        return content_id(data)

    monkeypatch.setattr("incoop.inchdfs.cutting.stretches.content_id", counted)
    aligned = align(changed, len(changed), known, Lines())
    assert len(aligned.places) - sum(place >= 0 for place in aligned.places) <= 2
    assert len(calls) < len(aligned.places) / 2


@pytest.mark.parametrize("chunker", ["rabin", "fastcdc"])
def test_an_edit_in_every_chunk_searches_a_few_stretches_of_each(tmp_path: Path, chunker: str) -> None:
    rng = random.Random(7)
    content = b"".join(b"%d %d\n" % (number, rng.randrange(10**9)) for number in range(60_000))
    sizes = ChunkSettings(average=64 << 10, chunker=chunker)
    chunks = Splitter(sizes).split_bytes(content)
    book = book_of(content, chunks, Lines())
    changed = bytearray(content)
    for chunk in chunks[:-1]:
        changed[chunk.offset + chunk.length // 2] ^= 1
    path = tmp_path / "input"
    path.write_bytes(changed)
    finder = CountingFinder(marker_finder(sizes))
    splitter = Splitter(sizes, finder=finder)
    found = [chunk for chunk, _ in resync(path, len(changed), rows_of(chunks), splitter, stretches=book)]
    assert found == Splitter(sizes).split_bytes(bytes(changed))
    assert len(book.recuts) >= len(chunks) - 2
    for recut in book.recuts.values():
        assert recut.pieces.new_bytes < 40_000  # the stretch of the edit, and the last one
