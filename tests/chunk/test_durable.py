"""What is on disk before what: a name never points to bytes, nor a manifest to packs, that a power cut can take."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from incoop.base.checksums import Signer
from incoop.inchdfs import DatasetStore
from incoop.memo.delivery_notes import DeliveryNotes
from incoop.memo.files import FolderFiles
from tests.chunk.samples import RABIN, text
from tests.chunk.test_store import put_bytes


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was brought to disk, and which names were given, in order: by the ends of paths."""
    told: list[tuple[str, str]] = []
    fsync, replace, rename, link = os.fsync, Path.replace, Path.rename, Path.hardlink_to

    def synced(handle: int) -> None:
        told.append(("sync", str(Path(f"/proc/self/fd/{handle}").readlink())))
        fsync(handle)

    def named(how: str) -> object:
        call = {"replace": replace, "rename": rename}[how]

        def name(path: Path, target: Path) -> Path:
            told.append(("name", f"{path} {target}"))
            return call(path, target)

        return name

    def linked(path: Path, target: Path) -> None:
        told.append(("name", f"{target} {path}"))
        link(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", named("replace"))
    monkeypatch.setattr(Path, "rename", named("rename"))
    monkeypatch.setattr(Path, "hardlink_to", linked)
    return told


def test_a_put_is_on_disk_pack_by_pack_before_its_manifest_has_a_name(
    tmp_path: Path, steps: list[tuple[str, str]]
) -> None:
    store = DatasetStore(tmp_path / "store")
    put_bytes(store, "d", b"before\n", settings=RABIN)
    assert ("sync", str(store.folder / "datasets")) in steps, "the folder of a new dataset has a name there"
    assert ("sync", str(store.folder)) in steps
    steps.clear()
    put_bytes(store, "d", text(1, 30_000))
    told = [(kind, path.split()) for kind, path in steps]
    assert [kind for kind, _ in told] == ["sync", "sync", "name", "name", "sync", "sync", "name", "sync"]
    (pack, index, pack_name, index_name, packs, manifest, manifest_name, datasets) = (path for _, path in told)
    assert pack_name[0] == pack[0] and pack_name[1].endswith(".pack")
    assert index_name[0] == index[0] and index_name[1].endswith(".index")
    assert packs == [str(store.packs)]
    assert manifest_name[0] == manifest[0] and manifest_name[1].endswith("000002.manifest")
    assert datasets == [str(Path(manifest_name[1]).parent)]


@pytest.mark.parametrize("fsync", [True, False], ids=["durable", "fast"])
def test_a_durable_pack_is_on_disk_before_it_has_its_name_and_then_its_name_is(
    tmp_path: Path, fsync: bool, steps: list[tuple[str, str]]
) -> None:
    files = FolderFiles(tmp_path / "packs", fsync=fsync)
    for name in ("ab01", "ab02"):
        handle, temporary = files.create()
        with handle:
            handle.write(b"x" * 5000)
        steps.clear()
        files.publish(temporary, name)
        source, target = tmp_path / "packs" / "tmp" / temporary, tmp_path / "packs" / "ab" / name
        given = [step for step in steps if step[0] == "name"]
        assert given[-1] == ("name", f"{source} {target}")
        if not fsync:
            assert steps == given
            continue
        shelf = ("sync", str(target.parent))
        # A folder that was made for it has a name, too.
        made = [("sync", str(tmp_path / "packs"))] if name == "ab01" else []
        assert [step for step in steps if step[0] == "sync"] == [("sync", str(source)), *made, shelf]
        assert steps.index(("sync", str(source))) < steps.index(given[0])
        assert steps.index(shelf) > steps.index(given[-1])


def test_a_note_of_what_a_run_gave_is_on_disk_with_its_name_when_it_is_made(
    tmp_path: Path, steps: list[tuple[str, str]]
) -> None:
    notes = DeliveryNotes(tmp_path, Signer(b"secret"))
    notes.note("job", b"first")
    steps.clear()
    notes.note("job", b"state")
    (content, named, folder) = steps
    assert [kind for kind, _ in steps] == ["sync", "name", "sync"]
    assert named[1].split()[0] == content[1]
    assert folder[1] == str(Path(named[1].split()[1]).parent)
    assert notes.noted("job") == b"state"
