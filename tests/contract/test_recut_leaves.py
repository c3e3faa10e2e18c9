"""The leaves of a chunk that is known by another are those that cutting it from scratch gives."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.content_ids import content_id
from incoop.engine.stages.map_contract.leaves import LEAF
from incoop.engine.stages.map_contract.recut_leaves import recut_leaves
from incoop.engine.stages.map_contract.text_leaves import cut_text
from incoop.inchdfs import Chunk, Csv, FixedLength, Lines, Location, RecordFormat, Splitter
from incoop.inchdfs.cutting.chunk_table import rows_of
from incoop.inchdfs.cutting.resync import resync
from incoop.inchdfs.cutting.stretches import NEW, RecutPieces
from incoop.inchdfs.errors import FileChangedWhileRead
from tests.chunk.samples import checked
from tests.chunk.test_stretches import SIZES, book_of, edited, lines


def location(path: Path, chunk: Chunk) -> Location:
    return Location(chunk.id, str(path), chunk.offset, chunk.length, chunk.length, kept=False)


@given(st.integers(0, 1 << 32).map(random.Random), st.sampled_from([Lines(), Csv(), FixedLength(3)]))
@checked
def test_leaves_of_a_recut_chunk_are_those_from_scratch(tmp_path: Path, rng: random.Random, form: RecordFormat) -> None:
    before = lines(rng, rng.randint(2000, 12_000))
    old, new = b"".join(before), b"".join(edited(before, rng))
    splitter, path = Splitter(SIZES, form), tmp_path / "input"
    chunks = splitter.split_bytes(old)
    book = book_of(old, chunks, form)
    content_of = {chunk.id: old[chunk.offset : chunk.end] for chunk in chunks}
    path.write_bytes(new)
    for chunk, _ in list(resync(path, len(new), rows_of(chunks), splitter, stretches=book)):
        recut = book.recuts.get(chunk.id)
        base = cut_text(content_of[recut.base], LEAF, form) if recut is not None else None
        scratch = cut_text(new[chunk.offset : chunk.end], LEAF, form)
        if recut is None or base is None or scratch is None:
            continue
        found = recut_leaves(location(path, chunk), recut.pieces, base.cut, LEAF, form, 0)
        assert found is not None and found.kept is not None
        assert found.cut.to_bytes() == scratch.cut.to_bytes()
        stays = np.flatnonzero(found.kept >= 0)
        assert (found.cut.ids[stays] == base.cut.ids[found.kept[stays]]).all()
        assert (np.diff(found.kept[stays]) > 0).all()
        for leaf in np.flatnonzero(found.kept < 0).tolist():
            assert found.piece(leaf).records() == scratch.piece(leaf).records()


def test_bytes_that_changed_since_they_were_looked_at_are_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"one\n" * 600)
    where = Location(bytes(16), str(path), 0, 2400, 2400, kept=False)
    old = cut_text(b"another line\n" * 1000, LEAF, Lines())
    assert old is not None
    with pytest.raises(FileChangedWhileRead):
        recut_leaves(where, RecutPieces((2400,), (NEW,), (b"what was there  ",)), old.cut, LEAF, Lines(), 0)


def test_pieces_of_another_cut_are_no_leaves(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"")
    old = cut_text(b"another line\n" * 1000, LEAF, Lines())
    assert old is not None
    where = Location(bytes(16), str(path), 0, 100, 100, kept=False)
    assert recut_leaves(where, RecutPieces((100,), (7,), ()), old.cut, LEAF, Lines(), 0) is None


def test_a_chunk_that_became_too_small_for_leaves_has_none_as_from_scratch(tmp_path: Path) -> None:
    rng = random.Random(9)
    before = b"".join(b"%d\n" % rng.randrange(10**9) for _ in range(400))
    old = cut_text(before, LEAF, Lines())
    assert old is not None
    stays = old.stretch_ends[0]
    assert stays < 1800
    now = before[:stays] + b"new\n" * 40
    assert cut_text(now, LEAF, Lines()) is None
    path = tmp_path / "input"
    path.write_bytes(now)
    where = Location(bytes(16), str(path), 0, len(now), len(now), kept=False)
    pieces = RecutPieces((stays, len(now) - stays), (0, NEW), (content_id(now[stays:]),))
    assert recut_leaves(where, pieces, old.cut, LEAF, Lines(), 0) is None
