"""Verification: everything is read again, and only what is damaged goes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.memo import MemoEntry, stats, verify

from .places import Place, run_generation, task_id


@pytest.fixture
def place(folder: Path) -> Iterator[Place]:
    place = Place(folder, None)
    yield place
    place.close()


def test_a_sound_store_is_clean(place: Place) -> None:
    store = place.open(compression="zstd:1")
    run_generation(store, "job", [1, 2, 3])
    unnamed = store.blobs.write([b"nobody names me" * 100])
    found = verify(store)
    assert found.clean
    assert (found.entries, found.packs, found.generations, found.unnamed_packs) == (3, 4, 1, 1)
    assert store.blobs.size(unnamed), "left to the collector"


@pytest.mark.parametrize("dry_run", [True, False])
def test_every_kind_of_damage_is_found_and_dropped_unless_dry(place: Place, dry_run: bool) -> None:
    store = place.open()
    run_generation(store, "job", list(range(6)))
    store.commit_generation("large", store.begin_generation("large"), b"r" * 5000, [task_id(1)])
    found = store.lookup([task_id(number) for number in range(6)])
    packs = [entry.pack for entry in found if entry is not None and entry.pack is not None]
    place.put_entry(store, task_id(0), b"nonsense")
    place.pack_path(packs[1]).unlink()
    place.pack_path(packs[2]).write_bytes(b"x" * 3000)
    truncated = place.pack_path(packs[3])
    truncated.write_bytes(truncated.read_bytes()[:-1])
    store.store({task_id(7): MemoEntry(inline=b"x", refs=packs[1])})
    with contextlib.closing(place.raw(store)) as client:
        (record,) = {pack.id for pack in store.blobs.scan()} - set(packs)
        place.pack_path(record).write_bytes(b"gone")
        client.hset(store.keys.generations, b"\0" * 7 + b"\5job", b"nonsense")
    report = verify(store, dry_run=dry_run)
    assert not report.clean
    assert report.damaged_entries == [task_id(0).hex()]
    assert report.missing_packs == [packs[1].hex()]
    assert sorted(report.damaged_packs) == sorted(pack.hex() for pack in (packs[2], packs[3], record))
    assert sorted(report.damaged_generations) == ["job #5", "large #1"]
    assert report.entries_without_pack == 4, "tasks 1, 2, 3, and 7 by reference"
    again = verify(store, dry_run=True)
    if dry_run:
        assert again.damaged_entries == report.damaged_entries
        assert again.entries == report.entries
    else:
        assert again.clean
        assert again.entries == 2
        assert stats(store).jobs[0].job == "job"
        assert run_generation(store, "job", list(range(6)))[1] == [0, 1, 2, 3]
        assert verify(store, dry_run=True).clean


def test_a_repair_does_not_drop_what_was_written_again_meanwhile(place: Place) -> None:
    with place.open() as first:
        run_generation(first, "job", [1])
    store = place.open(maintenance=True)
    place.put_entry(store, task_id(1), b"nonsense")
    running = place.open()

    def write_again(what: str, _count: int) -> None:
        if what == "packs":
            run_generation(running, "job", [1])

    assert verify(store, progress=write_again).damaged_entries == [task_id(1).hex()]
    assert running.lookup([task_id(1)])[0] is not None
