"""Bits that flip anywhere in a store are detected: an error, or the right bytes, never wrong ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from incoop.base.errors import IncoopError
from incoop.inchdfs import Dataset, DatasetStore, expand, put
from incoop.inchdfs.errors import DatasetNotFound, DatasetStoreTooNew, StoreDamaged
from incoop.inchdfs.store.manifest import FORMAT_VERSION
from tests.chunk.samples import RABIN, text
from tests.chunk.test_store import put_bytes

CONTENT = text(1, 30_000)


def outcome(folder: Path) -> str:
    """Read everything; say what happened. Only errors that incoop raises on purpose may come."""
    try:
        store = DatasetStore(folder)
        content = b"".join(Dataset(store, "data@1").chunks())
        records = list(Dataset(store, "data").records())
    except IncoopError as error:
        assert str(error)
        return type(error).__name__
    assert content == CONTENT, "wrong bytes"
    assert records == CONTENT.decode().splitlines(), "wrong records"
    return "right"


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("kind", ["*.pack", "*.index", "*.manifest", "FORMAT"])
@pytest.mark.filterwarnings("ignore")
def test_a_flipped_bit_is_detected(tmp_path: Path, kind: str, compress: bool) -> None:
    store = DatasetStore(tmp_path / "store")
    put_bytes(store, "data", CONTENT, settings=RABIN, compress=compress)
    (path,) = store.folder.rglob(kind)
    whole = path.read_bytes()
    rng = random.Random(1)
    places = {0, len(whole) - 1, *range(min(64, len(whole))), *(rng.randrange(len(whole)) for _ in range(150))}
    seen = set()
    for place in sorted(places):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        seen.add(outcome(tmp_path / "store"))
    path.write_bytes(whole)
    assert outcome(tmp_path / "store") == "right"
    # A format number may become a lower one, and zstd does not look at every bit of its frame header.
    assert "right" not in seen or kind == "FORMAT" or (kind == "*.pack" and compress)
    assert seen <= {"StoreDamaged", "DatasetStoreTooNew", "right"}


@pytest.mark.parametrize("kind", ["*.pack", "*.index", "*.manifest"])
def test_a_file_cut_short_is_detected(tmp_path: Path, kind: str) -> None:
    store = DatasetStore(tmp_path / "store")
    put_bytes(store, "data", CONTENT, settings=RABIN)
    (path,) = store.folder.rglob(kind)
    whole = path.read_bytes()
    for size in {0, 1, 15, 16, 32, 48, len(whole) // 2, len(whole) - 1}:
        path.write_bytes(whole[:size])
        assert outcome(tmp_path / "store") == "StoreDamaged"
    path.unlink()
    assert outcome(tmp_path / "store") == ("DatasetNotFound" if kind == "*.manifest" else "StoreDamaged")


def test_a_damaged_index_of_one_pack_leaves_the_others_readable(tmp_path: Path, store: DatasetStore) -> None:
    put_bytes(store, "lost", text(2, 5000))
    (index,) = store.packs.glob("*.index")
    put_bytes(store, "data", CONTENT, settings=RABIN)
    index.write_bytes(b"damage")
    assert b"".join(Dataset(store, "data").chunks()) == CONTENT
    with pytest.raises(StoreDamaged, match="incoop verify"):
        list(Dataset(store, "lost").chunks())
    put_bytes(store, "lost", text(2, 5000))
    assert b"".join(Dataset(store, "lost@1").chunks()) == text(2, 5000)


def test_a_store_of_a_later_release_is_refused_with_advice(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    put_bytes(store, "data", CONTENT)
    (store.folder / "FORMAT").write_text(f"{FORMAT_VERSION + 1}\n")
    with pytest.raises(DatasetStoreTooNew, match="Upgrade incoop"):
        DatasetStore(tmp_path / "store")
    (store.folder / "FORMAT").write_text(f"{FORMAT_VERSION}\n")
    (manifest,) = store.folder.rglob("*.manifest")
    later = bytearray(manifest.read_bytes())
    later[8] = FORMAT_VERSION + 1
    manifest.write_bytes(later)
    with pytest.raises(DatasetStoreTooNew):
        Dataset(store, "data")


def test_a_manifest_that_vanishes_is_a_dataset_not_found(tmp_path: Path, store: DatasetStore) -> None:
    put_bytes(store, "data", CONTENT)
    (manifest,) = store.folder.rglob("*.manifest")
    manifest.unlink()
    with pytest.raises(DatasetNotFound):
        Dataset(store, "data")


def test_packs_in_place_of_a_folder_are_an_error(tmp_path: Path, store: DatasetStore) -> None:
    (tmp_path / "source").write_bytes(CONTENT)
    put(store, expand(tmp_path / "source"), "data")
    (pack,) = store.packs.glob("*.pack")
    pack.unlink()
    pack.mkdir()
    with pytest.raises(StoreDamaged):
        list(Dataset(store, "data").chunks())
