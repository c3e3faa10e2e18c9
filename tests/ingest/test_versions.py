"""The versions that an ingest makes: what they share, what is removed, what a crash leaves."""

from __future__ import annotations

import gzip
import os
from contextlib import suppress
from pathlib import Path

import pytest

from incoop.inchdfs import Dataset as StoredDataset
from incoop.inchdfs import DatasetStore, diff, expand, put
from incoop.inchdfs.ingest import homes as homes_module
from incoop.inchdfs.ingest.streams import NOTE
from tests.ingest.shipper import SMALL, Shipper, add, age, each_once, numbered


def test_a_dataset_that_was_put_is_continued(tmp_path: Path, logs: Path) -> None:
    (logs / "a.log").write_bytes(numbered(0, 100))
    put(DatasetStore(tmp_path / "store"), expand(logs), "logs", settings=SMALL)
    add(logs / "a.log", numbered(100, 120))
    shipper = Shipper(tmp_path / "store", logs)
    shipper.poll()
    assert shipper.content() == numbered(0, 120)
    assert len(shipper.by_stream()) == 1


def test_an_append_shares_all_chunks_but_the_last(shipper: Shipper, logs: Path) -> None:
    for name in ("a.log", "b.log"):
        add(logs / name, numbered(0, 1000) if name < "b" else numbered(5000, 6000))
    shipper.poll()
    add(logs / "a.log", b"one more\n")
    shipper.poll()
    told = diff(StoredDataset(shipper.store, "logs@1"), StoredDataset(shipper.store, "logs@2"))
    assert (told.removed_chunks, told.added_records, told.removed_records) == (1, ["one more"], [])
    assert told.added_chunks <= 2


def test_old_versions_of_ingests_are_removed_and_those_that_were_put_are_not(tmp_path: Path, logs: Path) -> None:
    (logs / "a.log").write_bytes(b"0\n")
    put(DatasetStore(tmp_path / "store"), expand(logs), "logs", settings=SMALL)
    shipper = Shipper(tmp_path / "store", logs)
    for number in range(1, 16):
        add(logs / "a.log", b"%d\n" % number)
        shipper.poll()
        if number % 4 == 0:
            shipper.kill()
    assert shipper.store.versions("logs") == [1, *range(7, 17)]
    assert shipper.lines() == [b"%d" % number for number in range(16)]


def test_what_a_manifest_says_of_streams_is_as_recorded(shipper: Shipper, logs: Path) -> None:
    """Golden: another form of this needs another STREAMS_FORMAT."""
    (logs / "a.log").write_bytes(b"a\n")
    age(logs / "a.log", 60)
    (logs / "b.log").write_bytes(b"\0\0\0b\n")
    shipper.poll()
    manifest = shipper.store.manifest("logs")
    assert manifest.notes[NOTE] == {
        "format": 1,
        "paths": [str(logs / "a.log"), str(logs / "b.log")],
        "skips": {"1": 3},
        "versions": [1],
    }
    assert [(entry.name, entry.size, entry.chunks, entry.kept, entry.trusted) for entry in manifest.files] == [
        ("a.log", 2, 1, True, True),
        ("b.log", 2, 1, True, False),
    ]


def test_what_was_all_taken_long_ago_is_not_opened_by_the_next_ingest(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a.log.2.gz").write_bytes(gzip.compress(numbered(0, 100)))
    (logs / "a.log.1").write_bytes(numbered(100, 200))
    for name in ("a.log.1", "a.log.2.gz"):
        age(logs / name)
    (logs / "a.log").write_bytes(numbered(200, 300))
    shipper.poll()
    shipper.kill()
    (logs / "a.log.2.gz").rename(logs / "a.log.3.gz")
    opened: list[str] = []
    real = homes_module.LogFile
    monkeypatch.setattr(homes_module, "LogFile", lambda path: opened.append(Path(path).name) or real(path))
    # isinstance is asked of the same name.
    monkeypatch.setattr(homes_module, "isinstance", lambda value, kind: type(value) is real, raising=False)
    shipper.poll()
    assert opened == ["a.log"]
    add(logs / "a.log.1", b"late\n")
    shipper.poll()
    assert opened == ["a.log", "a.log.1"]
    each_once(shipper, numbered(0, 300), b"late\n")


class Crash(BaseException):
    """Nothing catches it, as nothing catches a kill."""


@pytest.mark.parametrize("step", range(12))
def test_a_crash_at_any_step_of_a_commit(
    shipper: Shipper, logs: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before every sync and every name that a commit gives, and after the last."""
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))
    add(logs / "b.log", numbered(500, 600))
    calls = 0

    def crashing(real):  # type: ignore[no-untyped-def]
        def call(*words, **options):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls > step:  # a process that is gone does not clean up either
                raise Crash
            return real(*words, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", crashing(os.fsync))
        for name in ("rename", "replace", "hardlink_to", "unlink"):
            patch.setattr(Path, name, crashing(getattr(Path, name)))
        with suppress(Crash):
            shipper.poll()
    assert calls > min(step, 8), "a commit has more steps than that"
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 200), numbered(500, 600))
