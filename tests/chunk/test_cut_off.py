"""Files that end early, at every boundary: an input is cut as from scratch, and a stored file is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from incoop.inchdfs import Dataset, DatasetStore, append, diff, expand, index_input
from incoop.inchdfs.cutting.chunk_table import rows_of
from incoop.inchdfs.cutting.records import Lines
from incoop.inchdfs.cutting.splitter import Splitter
from incoop.inchdfs.store.compare import shared_bytes
from incoop.inchdfs.store.packs import PACK_ROW
from tests.chunk.samples import RABIN, text
from tests.chunk.test_damage import CONTENT, outcome
from tests.chunk.test_store import put_bytes

SHORT = text(4, 6_000)


def boundaries(store: DatasetStore, name: str) -> list[int]:
    """Where chunks end, and a byte before and behind it."""
    ends = np.cumsum(Dataset(store, name).manifest.rows["length"].astype(np.int64)).tolist()
    return sorted({max(0, min(ends[-1], end + step)) for end in [0, *ends] for step in (-1, 0, 1)})


def test_a_file_cut_off_at_any_boundary_has_the_chunks_of_a_new_one(store: DatasetStore) -> None:
    put_bytes(store, "whole", SHORT, settings=RABIN)
    cuts = boundaries(store, "whole")
    assert len(cuts) > 20
    whole = Dataset(store, "whole").manifest.rows.tolist()
    for cut in cuts:
        put_bytes(store, "whole", SHORT[:cut])
        chunks = Splitter(RABIN, Lines()).split(io.BytesIO(SHORT[:cut]).readinto)
        assert Dataset(store, "whole").manifest.rows.tolist() == rows_of([chunk for chunk, _ in chunks]).tolist()
        put_bytes(store, "whole", SHORT)
        assert Dataset(store, "whole").manifest.rows.tolist() == whole


def test_what_is_appended_at_any_boundary_gives_the_chunks_of_the_whole(tmp_path: Path, store: DatasetStore) -> None:
    put_bytes(store, "whole", SHORT, settings=RABIN)
    rest = tmp_path / "rest.txt"
    for number, cut in enumerate(boundaries(store, "whole")):
        put_bytes(store, f"d{number}", SHORT[:cut], settings=RABIN)
        rest.write_bytes(SHORT[cut:])
        append(store, expand(str(rest)), f"d{number}")
        assert Dataset(store, f"d{number}").manifest.rows.tolist() == Dataset(store, "whole").manifest.rows.tolist()


def test_an_indexed_file_cut_off_at_any_boundary_is_indexed_as_a_new_one(tmp_path: Path, store: DatasetStore) -> None:
    put_bytes(store, "whole", SHORT, settings=RABIN)
    file = tmp_path / "input.txt"
    for cut in boundaries(store, "whole")[::2]:
        file.write_bytes(SHORT)
        index_input(store, str(file), settings=RABIN)
        file.write_bytes(SHORT[:cut])
        fresh = tmp_path / f"fresh{cut}"
        fresh.write_bytes(SHORT[:cut])
        rows = index_input(store, str(file), settings=RABIN).rows
        assert rows.tolist() == index_input(DatasetStore(tmp_path / "other"), str(fresh), settings=RABIN).rows.tolist()


@pytest.mark.parametrize("kind", ["*.pack", "*.index", "*.manifest"])
def test_a_stored_file_cut_off_at_any_boundary_is_refused(tmp_path: Path, kind: str) -> None:
    store = DatasetStore(tmp_path / "store")
    put_bytes(store, "data", CONTENT, settings=RABIN)
    rows = Dataset(store, "data").manifest.rows
    (path,) = store.folder.rglob(kind)
    whole = path.read_bytes()
    chunks = np.cumsum(rows["length"].astype(np.int64)).tolist()[:-1]
    behind = len(whole) - len(rows) * rows.dtype.itemsize
    sizes = {
        "*.pack": [0, *chunks],
        "*.index": [*range(0, len(whole), PACK_ROW.itemsize), len(whole) - 16],
        "*.manifest": [*range(0, 45), *range(behind, len(whole), rows.dtype.itemsize)],
    }[kind]
    for size in sizes:
        for cut in (size, size + 1):
            path.write_bytes(whole[:cut])
            assert outcome(tmp_path / "store") == "StoreDamaged", f"cut off at {cut} of {len(whole)}"


def test_a_chunk_that_stands_twice_is_shared_as_often_as_both_hold_it(store: DatasetStore) -> None:
    block = b"".join(b"%06d\n" % number for number in range(4000))
    put_bytes(store, "d", block * 3, settings=RABIN)
    put_bytes(store, "d", block * 2)
    three, two = Dataset(store, "d@1"), Dataset(store, "d@2")
    rows, fewer = three.manifest.rows, two.manifest.rows
    assert len(set(rows["id"].tolist())) < len(rows), "the same chunks stand in it again and again"
    found = diff(three, two)
    assert (found.added_records, len(found.removed_records)) == ([], 4000)
    assert sorted(found.removed_records) == block.decode().split()
    assert found.removed_chunks - found.added_chunks == len(rows) - len(fewer)
    assert found.shared_bytes + found.added_bytes == 2 * len(block)
    assert found.shared_bytes + found.removed_bytes == 3 * len(block)
    back = diff(two, three)
    assert (len(back.added_records), back.removed_records) == (4000, [])
    assert shared_bytes(rows, fewer) == found.shared_bytes
    assert shared_bytes(fewer, rows) == back.shared_bytes == found.shared_bytes


def test_a_record_that_stands_twice_is_added_and_removed_as_often(store: DatasetStore) -> None:
    put_bytes(store, "d", b"a\nb\na\na\nc\n", settings=RABIN)
    put_bytes(store, "d", b"a\nb\nb\nc\nc\n")
    found = diff(Dataset(store, "d@1"), Dataset(store, "d@2"))
    assert (found.removed_records, found.added_records) == (["a", "a"], ["b", "c"])
