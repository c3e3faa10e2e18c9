"""What the dataset store obeys is signed: indexes of inputs, manifests of versions, indexes of packs."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from incoop import inchdfs
from incoop.base.checksums import Signer
from incoop.base.file_stamps import Stamp
from incoop.base.own_files import NotOurs
from incoop.inchdfs import Dataset, DatasetStore, Manifest, expand, index_input, put
from incoop.inchdfs.errors import StoreDamaged


@pytest.fixture
def store(tmp_path: Path) -> DatasetStore:
    return DatasetStore(tmp_path / "store")


def text(word: str, lines: int = 3000) -> bytes:
    return b"".join(b"%s %d\n" % (word.encode(), number) for number in range(lines))


def test_old_rows_under_a_new_stamp_are_not_believed(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "input"
    path.write_bytes(text("one"))
    first = index_input(store, path)
    path.write_bytes(text("two"))
    (index,) = store.inputs.iterdir()
    forged = replace(first, files=(replace(first.files[0], stamp=Stamp.of(path), trusted=True),))
    index.write_bytes(forged.to_bytes(Signer(b"a secret that was guessed"), index.name))
    again = index_input(store, path)
    assert again.root != first.root
    assert again.root == index_input(DatasetStore(tmp_path / "other"), path).root


def test_an_index_does_not_stand_in_for_that_of_another_input(tmp_path: Path, store: DatasetStore) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(text(name))
        index_input(store, tmp_path / name)
    one, two = sorted(store.inputs.iterdir())
    shutil.copy(one, two)
    with pytest.raises(StoreDamaged, match="not signed"):
        Manifest.from_bytes(two.read_bytes(), "", store.signer, two.name)
    assert index_input(store, tmp_path / "b").root == index_input(DatasetStore(tmp_path / "c"), tmp_path / "b").root


def test_a_version_does_not_stand_in_for_another(tmp_path: Path, store: DatasetStore) -> None:
    for word in ("one", "two"):
        (tmp_path / "input").write_bytes(text(word))
        put(store, expand(tmp_path / "input"), "logs")
    folder = store.folder / "datasets" / "logs"
    shutil.copy(folder / "000001.manifest", folder / "000002.manifest")
    with pytest.raises(StoreDamaged, match="not signed"):
        Dataset(store, "logs@2")
    assert b"".join(Dataset(store, "logs@1").chunks()) == text("one")


def test_the_index_of_a_pack_is_believed_only_signed(tmp_path: Path, store: DatasetStore) -> None:
    (tmp_path / "input").write_bytes(text("one"))
    put(store, expand(tmp_path / "input"), "logs")
    (index,) = store.packs.glob("*.index")
    rows = bytearray(index.read_bytes()[:-16])
    rows[24:28] = (0xFFFFFFF0).to_bytes(4, "little")  # the first chunk has 4 GB
    forger = Signer(b"a secret that was guessed")
    index.write_bytes(bytes(rows) + forger.sign_file(b"index\0" + index.stem.encode(), bytes(rows)))
    with pytest.raises(StoreDamaged):
        list(Dataset(store, "logs").chunks())
    put(store, expand(tmp_path / "input"), "logs")
    assert b"".join(Dataset(store, "logs@1").chunks()) == text("one"), "a put writes what was lost again"


def test_a_secret_of_the_datasets_that_others_can_read_is_refused(tmp_path: Path, store: DatasetStore) -> None:
    (tmp_path / "input").write_bytes(text("one"))
    put(store, expand(tmp_path / "input"), "logs")
    (store.folder / "secret").chmod(0o644)
    with pytest.raises(NotOurs, match="chmod 600"):
        Dataset(store, "logs")
    (store.folder / "secret").chmod(0o600)
    assert b"".join(Dataset(store, "logs").chunks()) == text("one")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["packs/*.pack", "packs/*.index", "datasets/logs/*", "inputs/*", "lock", "FORMAT"])
@pytest.mark.parametrize("how", ["pipe", "device", "folder", "link to itself", "too much"])
def test_nothing_waits_for_what_is_no_file(tmp_path: Path, store: DatasetStore, kind: str, how: str) -> None:
    (tmp_path / "input").write_bytes(text("one"))
    put(store, expand(tmp_path / "input"), "logs")
    index_input(store, tmp_path / "input")
    (path,) = store.folder.glob(kind)
    path.unlink()
    if how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    elif how == "too much":  # a file with a hole, which takes no room
        path.touch()
        os.truncate(path, 1 << 42)
    else:
        path.symlink_to("/dev/zero" if how == "device" else path)
    try:
        assert b"".join(Dataset(DatasetStore(store.folder.parent), "logs").chunks()) == text("one")
    except StoreDamaged as error:
        assert "incoop verify" in str(error)
    again = DatasetStore(store.folder.parent)
    inchdfs.verify(again, drop=True)
    put(again, expand(tmp_path / "input"), "fresh")
    assert index_input(again, tmp_path / "input").size == len(text("one"))
    assert b"".join(Dataset(again, "fresh").chunks()) == text("one")
