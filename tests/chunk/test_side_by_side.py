"""A changed file that is looked at in several places at once: the chunks from scratch, whatever the helpers do."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.inchdfs import Chunk, Lines, Splitter
from incoop.inchdfs.cutting import side_by_side
from incoop.inchdfs.cutting.chunk_table import rows_of
from incoop.inchdfs.cutting.resync import resync
from incoop.inchdfs.cutting.side_by_side import FilePart, FilePartFound, chunks_beside, look_at_part
from incoop.inchdfs.cutting.stretches import StretchBook
from tests.chunk.samples import checked
from tests.chunk.test_stretches import SIZES, book_of, check_pieces, edited, lines


class Here:
    """Helpers that are asked when they are waited for, in this process."""

    def __init__(self, count: int, look: Callable[[FilePart], FilePartFound | None] = look_at_part) -> None:
        self.count, self._look = count, look
        self.parts: list[FilePart] = []
        self.waited: list[FilePart] = []
        self.dropped: list[FilePart] = []

    def ready(self) -> int:
        return self.count

    def begin(self, function: Callable[[Any], Any], item: Any) -> HeresAnswer:
        assert function is look_at_part
        self.parts.append(item)
        return HeresAnswer(self, item)

    def answer(self, part: FilePart) -> FilePartFound | None:
        self.waited.append(part)
        return self._look(part)


class HeresAnswer:
    def __init__(self, here: Here, part: FilePart) -> None:
        self._here, self._part = here, part

    def wait(self) -> FilePartFound | None:
        return self._here.answer(self._part)

    def drop(self) -> None:
        self._here.dropped.append(self._part)


@pytest.fixture(autouse=True)
def small_files_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "_WORTH", 64 << 10)
    monkeypatch.setattr(side_by_side, "_CHANGED", 2)


def everywhere(content: list[bytes], rng: random.Random, step: int = 1500) -> list[bytes]:
    """A line more, fewer or another in every so many."""
    changed = list(content)
    for at in range(len(changed) - 1, 0, -step):
        changed[at : at + rng.choice([0, 1])] = [b"%d\n" % rng.randrange(10**9)] * rng.choice([0, 1])
    return changed


def looked_at(path: Path, content: bytes, known: list[Chunk], book: StretchBook, helpers: Here) -> list[Chunk]:
    path.write_bytes(content)
    splitter = Splitter(SIZES, Lines())
    nowhere = lambda _: None  # noqa: E731
    found = chunks_beside(path, len(content), rows_of(known), splitter, nowhere, book, helpers)
    return [chunk for chunk, _ in found]


def numbered(count: int, seed: int = 1) -> list[bytes]:
    rng = random.Random(seed)
    return [b"%d %d\n" % (number, rng.randrange(10**9)) for number in range(count)]


@given(st.integers(0, 1 << 32).map(random.Random), st.integers(1, 3))
@checked
def test_what_helpers_found_is_what_a_look_from_scratch_finds(tmp_path: Path, rng: random.Random, count: int) -> None:
    version = rng.choice([lines(rng, rng.randint(1, 30_000)), numbered(60_000)])
    before = b"".join(version)
    chunks = Splitter(SIZES, Lines()).split_bytes(before)
    book = book_of(before, chunks, Lines())
    contents = {chunk.id: before[chunk.offset : chunk.end] for chunk in chunks}
    for _ in range(2):
        version = everywhere(edited(version, rng) if rng.random() < 0.5 else version, rng)
        content = b"".join(version)
        found = looked_at(tmp_path / "input", content, chunks, book, Here(count))
        chunks = Splitter(SIZES, Lines()).split_bytes(content)
        assert found == chunks
        contents |= {chunk.id: content[chunk.offset : chunk.end] for chunk in chunks}
        from_scratch = book_of(content, chunks, Lines())
        for chunk in chunks:
            if chunk.id in book.known:
                assert (book.known[chunk.id] == from_scratch.known[chunk.id]).all()
            if (recut := book.recuts.get(chunk.id)) is not None:
                check_pieces(contents[chunk.id], contents[recut.base], recut.pieces)


def _known(count: int = 100_000) -> tuple[list[bytes], list[Chunk], StretchBook]:
    version = numbered(count)
    before = b"".join(version)
    chunks = Splitter(SIZES, Lines()).split_bytes(before)
    return version, chunks, book_of(before, chunks, Lines())


def test_each_helper_looks_at_its_share_and_nothing_is_looked_at_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, chunks, book = _known()
    content = b"".join(everywhere(version, random.Random(2)))
    helpers = Here(2)
    own: list[int] = []

    def noted(*arguments: Any, **named: Any) -> Any:
        for chunk, view in resync(*arguments, **named):
            if view is not None and "beside" in named:
                own.append(chunk.length)
            yield chunk, view

    monkeypatch.setattr(side_by_side, "resync", noted)
    found = looked_at(tmp_path / "input", content, chunks, book, helpers)
    assert found == Splitter(SIZES, Lines()).split_bytes(content)
    assert helpers.waited == helpers.parts and len(helpers.parts) == 2 and helpers.dropped == []
    assert sum(own) == helpers.parts[0].start, "the look ends where the first part begins"
    assert helpers.parts[0].stop == helpers.parts[1].start and helpers.parts[1].stop == len(content)
    others = [chunk for chunk in found[:-1] if chunk.id not in {each.id for each in chunks}]
    assert len(others) > 20 and all(chunk.id in book.recuts for chunk in others)


def test_a_helper_that_is_lost_or_began_elsewhere_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, chunks, book = _known()
    content = b"".join(everywhere(version, random.Random(3)))
    scratch = Splitter(SIZES, Lines()).split_bytes(content)
    lost = Here(2, lambda _: None)
    assert looked_at(tmp_path / "input", content, chunks, StretchBook(known=dict(book.known)), lost) == scratch
    assert len(lost.waited) == 2

    guessed = side_by_side._beginning

    def elsewhere(fd: int, low: int, high: int, head: int) -> int | None:
        """As if a chunk began a line behind the place where one does."""
        at = guessed(fd, low, high, head)
        return at + content[at:].index(b"\n") + 1 if at is not None else None

    monkeypatch.setattr(side_by_side, "_beginning", elsewhere)
    wrong = Here(1)
    assert looked_at(tmp_path / "input", content, chunks, book, wrong) == scratch
    assert wrong.waited == wrong.parts and wrong.parts[0].start not in {chunk.offset for chunk in scratch}


def test_few_changes_are_looked_at_alone(tmp_path: Path) -> None:
    version, chunks, book = _known()
    content = b"".join([*version[:50_000], b"one more\n", *version[50_000:]])
    helpers = Here(2)
    assert looked_at(tmp_path / "input", content, chunks, book, helpers) == Splitter(SIZES, Lines()).split_bytes(
        content
    )
    assert helpers.parts == []


def test_a_look_that_is_left_drops_what_helpers_are_at(tmp_path: Path) -> None:
    version, chunks, book = _known()
    path, content = tmp_path / "input", b"".join(everywhere(version, random.Random(4)))
    path.write_bytes(content)
    helpers = Here(1)
    splitter = Splitter(SIZES, Lines())
    look = chunks_beside(path, len(content), rows_of(chunks), splitter, lambda _: None, book, helpers)
    while not helpers.parts:
        next(look)
    look.close()  # type: ignore[attr-defined]
    assert helpers.dropped == helpers.parts and helpers.waited == []
