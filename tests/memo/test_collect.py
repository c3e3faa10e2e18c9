"""Garbage collection: what no kept generation needs goes, what anybody may still use stays."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from incoop.memo import CollectionRunning, Keep, MemoEntry, MemoStore, collect, stats, verify
from incoop.memo.trash import take_out

from .contract import looper
from .places import Place, kept, payload, read_whole, result_of, run_generation, task_id
from .servers import RealServer


@pytest.fixture(params=["private", "shared"])
def place(request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    server = None if request.param == "private" else RealServer(folder.parent / "redis", "unix")
    place = Place(folder, server)
    yield place
    place.close()


def known(store: MemoStore, numbers: range | list[int]) -> list[int]:
    """The tasks whose results can be reused."""
    found = store.lookup([task_id(number) for number in numbers])
    return [n for n, entry in zip(numbers, found, strict=True) if entry is not None and payload(store.blobs, entry)]


def done(place: Place, *runs: tuple[str, list[int]]) -> None:
    """Runs of sessions that have ended."""
    for job, tasks in runs:
        with place.open() as store:
            run_generation(store, job, tasks)


def maintenance(place: Place) -> MemoStore:
    # What was written within one tick of the filesystem's clock (4 ms) before a collection counts as written during it.
    time.sleep(0.02)
    return place.open(maintenance=True, create=False)


def test_only_the_last_generation_of_each_job_stays(place: Place) -> None:
    done(place, ("a", [1, 2, 3]), ("a", [2, 3, 4]), ("b", [3, 9]))
    store = maintenance(place)
    report = collect(store)
    assert (report.generations_dropped, report.entries_dropped, report.packs_dropped) == (1, 1, 1)
    assert report.bytes_freed == 3000
    assert known(store, range(10)) == [2, 3, 4, 9]
    assert verify(store, dry_run=True).clean
    assert stats(store).packs == 4
    again = collect(store)
    assert (again.generations_dropped, again.entries_dropped, again.packs_dropped) == (0, 0, 0)


def test_the_last_n_generations_stay(place: Place) -> None:
    done(place, ("a", [1]), ("a", [2]), ("a", [3]))
    store = maintenance(place)
    assert collect(store, Keep(last=2)).entries_dropped == 1
    assert known(store, range(5)) == [2, 3]
    collect(store, Keep(last=0))
    assert known(store, range(5)) == []
    assert stats(store).packs == 0


def test_a_dry_run_says_the_same_and_removes_nothing(place: Place) -> None:
    done(place, ("a", [1, 2]), ("a", [2, 3]))
    store = maintenance(place)
    before = replace(stats(store), redis_bytes=0)
    planned = collect(store, dry_run=True)
    assert replace(stats(store), redis_bytes=0) == before
    assert known(store, range(5)) == [1, 2, 3]
    real = collect(store)
    for name in ("generations_dropped", "entries_dropped", "packs_dropped", "bytes_freed", "bytes_kept", "packs_kept"):
        assert getattr(planned, name) == getattr(real, name), name


def test_limits_by_bytes_by_entries_and_by_age(place: Place) -> None:
    done(place, ("a", [1, 2]), ("b", [3, 4]), ("c", [5, 6]))
    store = maintenance(place)
    collect(store, Keep(max_bytes=14_000))
    assert known(store, range(10)) == [3, 4, 5, 6]
    collect(store, Keep(max_entries=3))
    assert known(store, range(10)) == [5, 6]
    collect(store, Keep(max_age=3600))
    assert known(store, range(10)) == [5, 6]
    time.sleep(0.02)
    collect(store, Keep(max_age=0.01))
    assert known(store, range(10)) == []


def test_packs_that_only_a_reference_or_a_generation_names_stay(place: Place) -> None:
    with place.open() as store:
        referred, named, orphan = (store.blobs.write([word * 1000]) for word in (b"referred", b"named", b"orphan"))
        store.store({task_id(1): MemoEntry(inline=b"x", refs=referred)})
        number = store.begin_generation("a")
        store.commit_generation("a", number, b"", [task_id(1)], packs=[named])
    store = maintenance(place)
    assert collect(store).packs_dropped == 1
    assert {pack.id for pack in store.blobs.scan()} == {referred, named}
    assert orphan not in {referred, named}


def test_dont_touch_what_a_running_session_wrote(place: Place) -> None:
    running = place.open()
    number = running.begin_generation("a")
    running.store({task_id(1): kept(running.blobs, result_of(1))})
    unstored = running.blobs.write([b"not yet in any entry" * 100])
    store = maintenance(place)
    report = collect(store, Keep(last=0))
    assert (report.entries_dropped, report.packs_dropped) == (0, 0)
    assert report.sessions == [f"{os.uname().nodename}:{os.getpid()}"]
    assert read_whole(running.blobs, unstored)
    assert running.commit_generation("a", number, b"", [task_id(1)])
    assert known(running, [1]) == [1]


def test_dont_touch_the_generation_a_running_session_began_from(place: Place) -> None:
    done(place, ("a", [1, 2]))
    running = place.open()
    running.begin_generation("a")
    done(place, ("a", [2, 3]))
    store = maintenance(place)
    collect(store, Keep(last=0))
    assert known(running, [1, 2]) == [1, 2], "pinned at the beginning"
    running.close()
    collect(store, Keep(last=0))
    assert known(store, range(4)) == []


def test_what_a_running_session_looked_up_stays_readable_and_comes_back_with_its_commit(place: Place) -> None:
    """Results of a run that never committed are in no generation; a session that reuses them must not lose them."""
    with place.open() as crashed:
        crashed.begin_generation("a")
        crashed.store({task_id(n): kept(crashed.blobs, result_of(n)) for n in (1, 2)})
    running = place.open()
    number = running.begin_generation("a")
    found = running.lookup([task_id(1)])
    store = maintenance(place)
    report = collect(store)
    assert report.entries_dropped == 2
    assert report.entries_waiting == 2
    assert store.lookup([task_id(1)]) == [None], "out of sight for those who come later"
    assert found[0] is not None
    assert payload(running.blobs, found[0]) == result_of(1), "but its pack is there for who saw it"
    running.commit_generation("a", number, b"", [task_id(1)])
    assert known(store, [1, 2]) == [1], "what the commit reuses is back"
    running.close()
    assert collect(store).entries_waiting == 0
    assert known(store, [1, 2]) == [1]
    assert stats(store).packs == 1


def test_a_commit_in_the_middle_of_a_collection_keeps_what_it_reuses(place: Place) -> None:
    with place.open() as crashed:
        crashed.begin_generation("a")
        crashed.store({task_id(n): kept(crashed.blobs, result_of(n)) for n in (1, 2)})
    running = place.open()
    number = running.begin_generation("a")
    assert known(running, [1]) == [1]

    def commit_after_the_choice(what: str, _count: int) -> None:
        if what == "generations":
            running.commit_generation("a", number, b"", [task_id(1)])
            running.close()

    store = maintenance(place)
    assert collect(store, progress=commit_after_the_choice).entries_dropped == 2
    assert known(store, [1, 2]) == [1]
    collect(store)
    assert known(store, [1, 2]) == [1]
    assert stats(store).packs == 1
    assert verify(store, dry_run=True).clean


def test_a_generation_pinned_in_the_middle_of_a_collection_stays(place: Place) -> None:
    done(place, ("a", [1, 2]))
    late: list[MemoStore] = []

    def begin_after_the_choice(what: str, _count: int) -> None:
        if what == "generations":
            late.append(place.open())
            late[0].begin_generation("a")

    store = maintenance(place)
    collect(store, Keep(last=0), progress=begin_after_the_choice)
    assert known(late[0], [1, 2]) == [1, 2]
    last = late[0].last_generation("a")
    assert last is not None
    assert last.number == 1


def test_a_session_that_comes_and_goes_in_the_middle_of_a_collection_loses_nothing(place: Place) -> None:
    done(place, ("a", [1]))
    store = maintenance(place)

    def run_after_the_choice(what: str, _count: int) -> None:
        if what == "generations":
            done(place, ("b", [2, 3]))

    collect(store, Keep(last=0), progress=run_after_the_choice)
    assert known(store, range(5)) == [2, 3]
    assert verify(store, dry_run=True).clean


def test_an_entry_written_again_while_it_is_collected_is_put_back(place: Place) -> None:
    store = place.open()
    store.store({task_id(1): MemoEntry(inline=b"new")})
    assert take_out(store.session.link, store.keys, [task_id(1)], {task_id(1): -5}, to_trash=True) == 0
    assert store.lookup([task_id(1)])[0] == MemoEntry(inline=b"new")


def test_a_session_that_was_killed_protects_nothing(place: Place) -> None:
    with looper(place, "--hold") as process:
        keeper = place.open(maintenance=True)
        assert collect(keeper, Keep(last=0)).entries_dropped == 0
        process.send_signal(signal.SIGKILL)
        process.wait()
    if not place.private:
        # On a shared server its last sign of life has to fade; here it fades at once.
        with contextlib.closing(place.raw(keeper)) as client:
            for name in client.hkeys(keeper.keys.sessions):
                client.delete(keeper.keys.alive(name.decode()))
    assert collect(keeper, Keep(last=0)).entries_dropped == 5
    assert stats(keeper).packs == 0


def test_a_session_elsewhere_is_known_by_its_sign_of_life(folder: Path) -> None:
    """Its locked file is not visible from here; the key in Redis is."""
    place = Place(folder, RealServer(folder.parent / "redis", "unix"))
    try:
        running = place.open()
        running.begin_generation("a")
        running.store({task_id(1): MemoEntry(inline=b"x")})
        (place.folder / "memo" / "sessions" / running.session.id).unlink()
        store = maintenance(place)
        assert collect(store, Keep(last=0)).entries_dropped == 0
        with contextlib.closing(place.raw(store)) as client:
            assert 0 < client.ttl(store.keys.alive(running.session.id)) <= 60
    finally:
        place.close()


def test_a_session_may_collect_after_its_own_run(place: Place) -> None:
    store = place.open()
    for tasks in ([1], [2], [3], [4]):
        run_generation(store, "a", tasks)
    time.sleep(0.02)
    collect(store)
    assert known(store, range(6)) == [3, 4], "the last, and the one it began from"


def test_a_pack_written_again_is_not_deleted_under_its_writer(place: Place) -> None:
    done(place, ("a", [1]), ("a", [2]))
    running = place.open()
    running.begin_generation("b")
    pack = running.blobs.write([result_of(1)])
    store = maintenance(place)
    collect(store, Keep(last=0))
    assert read_whole(running.blobs, pack) == result_of(1)
    path = place.pack_path(pack)
    assert not running.blobs.delete(pack, unless_since=path.stat().st_mtime), "the last look decides"
    assert path.exists()
    assert running.blobs.delete(pack, unless_since=path.stat().st_mtime + 1)
    assert not path.exists()


def test_temporary_files_of_killed_writers_go(place: Place) -> None:
    done(place, ("a", [1]))
    left = place.folder / "memo" / "packs" / "tmp" / "123-abc"
    left.write_bytes(b"half a pack")
    os.utime(left, (0, 0))
    store = maintenance(place)
    assert collect(store, dry_run=True).temporary_files == 1
    assert left.exists()
    assert collect(store).temporary_files == 1
    assert not left.exists()


def test_only_one_collection_runs_at_a_time_and_a_killed_one_blocks_nobody(place: Place) -> None:
    done(place, ("a", [1]), ("a", [2]))
    one, two = maintenance(place), maintenance(place)
    with contextlib.closing(place.raw(one)) as client:
        client.set(one.keys.gc_lock, one.session.id)
        with pytest.raises(CollectionRunning, match="Try again"):
            collect(two)
        one.close()
        if place.private:
            assert collect(two).entries_dropped == 1
        else:
            # A collector on another machine cannot be seen: its lock runs out by itself.
            client.delete(two.keys.gc_lock)
            assert collect(two).entries_dropped == 1
            assert not client.exists(two.keys.gc_lock)


def test_a_collection_that_died_half_way_is_finished_by_the_next(place: Place) -> None:
    done(place, ("a", [1, 2]), ("a", [2, 3]))
    store = maintenance(place)
    keys = store.keys
    with contextlib.closing(place.raw(store)) as client:
        raw = client.hget(keys.entries, task_id(1))
        client.hset(keys.trash_open, task_id(1), raw)
        client.hdel(keys.entries, task_id(1))
        collect(store)
        assert known(store, range(5)) == [2, 3]
        assert stats(store).packs == 2
        assert not client.exists(keys.trash_open)
        assert client.zcard(keys.trashes) == 0


def test_damaged_entries_and_generations_are_collected(place: Place) -> None:
    done(place, ("a", [1, 2]))
    store = maintenance(place)
    place.put_entry(store, task_id(1), b"nonsense")
    with contextlib.closing(place.raw(store)) as client:
        client.hset(store.keys.generations, b"\0" * 7 + b"\7a", b"nonsense")
        collect(store)
        assert client.hlen(store.keys.generations) == 1
    assert stats(store).entries == 1
    assert stats(store).packs == 1
