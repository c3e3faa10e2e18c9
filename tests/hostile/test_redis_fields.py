"""Whoever may write to Redis costs time, and breaks nothing for good."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from incoop.memo import CollectionRunning, MemoEntry, MemoStore, StoreTooNew, collect, stats, verify
from incoop.memo.address import make_pool
from incoop.memo.collector import LOCK_SECONDS
from incoop.memo.events import DidMendRedis
from tests.memo.places import run_generation, task_id
from tests.memo.servers import RealServer

Tamper = Callable[[Any, MemoStore], object]


@contextlib.contextmanager
def intruder(store: MemoStore) -> Iterator[Any]:
    with redis.Redis(connection_pool=make_pool(store.session.link.url)) as client:
        yield client


KEYS = ("entries", "meta", "seq", "last_gc", "generations", "numbers", "jobs", "sessions", "trash_open", "trashes",
        "gc_lock")  # fmt: skip


def key_of(store: MemoStore, name: str) -> bytes:
    if name == "job":
        return store.keys.numbers_of("job")
    if name == "count":
        return store.keys.counters_of("job")
    return bytes(getattr(store.keys, name))


def as_text(client: Any, key: bytes) -> None:
    client.delete(key)
    client.set(key, b"\xffnot what was there")


def as_list(client: Any, key: bytes) -> None:
    client.delete(key)
    client.rpush(key, b"one", b"\xfe")


def as_junk(client: Any, key: bytes) -> None:
    """The right type, and nothing that a session writes."""
    kind = client.type(key)
    if kind == b"hash":
        client.hset(key, mapping=dict.fromkeys(client.hkeys(key)[:3], b"\xff{]") | {b"\xff\xfe": b"x", b"a": b"-1"})
    elif kind == b"zset":
        client.zadd(key, {b"\xff": 99, b"not a number": 98, b"9" * 30: 97})
    elif kind == b"set":
        client.sadd(key, b"\xff\xfe")
    else:
        client.set(key, b"9" * 25)


HOWS = {"as text": as_text, "as a list": as_list, "as junk": as_junk, "gone": lambda client, key: client.delete(key)}


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", [*KEYS, "job", "count"])
def test_no_field_breaks_a_store_for_good(tmp_path: Path, name: str, how: str) -> None:
    with MemoStore.open(tmp_path / "store") as store:
        run_generation(store, "job", [1, 2, 3])
        run_generation(store, "other", [2, 3, 4])
        collect(store)
        with intruder(store) as client:
            HOWS[how](client, key_of(store, name))
        # A session that is there already goes on.
        run_generation(store, "job", [1, 2, 3])
    with MemoStore.open(tmp_path / "store") as store:
        run_generation(store, "job", [1, 2, 3])
        stats(store)
        collect(store)
        verify(store)
        number, _ = run_generation(store, "job", [1, 2, 3])
        assert number, "and it is recorded"
    with MemoStore.open(tmp_path / "store") as store:
        assert run_generation(store, "job", [1, 2, 3])[1] == [], "everything is found again"
        last = store.last_generation("job")
        assert last is not None and last.record == b"[1, 2, 3]"
        store.events.clear()
        assert stats(store).jobs and verify(store).clean
        assert not store.events.of(DidMendRedis)


def test_what_is_mended_is_told(tmp_path: Path) -> None:
    with MemoStore.open(tmp_path / "store") as store:
        with intruder(store) as client:
            client.set(store.keys.seq, b"many")
        run_generation(store, "job", [1])
        (mended,) = store.events.of(DidMendRedis)
        assert mended.fields == ("seq",) and "mended: seq" in str(mended)
        assert any("mended: seq" in told for told in store.losses())


def test_a_format_that_no_release_has_is_repaired(tmp_path: Path) -> None:
    with MemoStore.open(tmp_path / "store") as store:
        store.store({task_id(1): MemoEntry(inline=b"x")})
        with intruder(store) as client:
            client.hset(store.keys.meta, "format", 10**30)
    with pytest.raises(StoreTooNew, match="verify --repair"):
        MemoStore.open(tmp_path / "store")
    MemoStore.open(tmp_path / "store", repair=True).close()
    with MemoStore.open(tmp_path / "store") as store:
        assert store.lookup([task_id(1)]) == [MemoEntry(inline=b"x")]


def test_a_collection_is_not_locked_out_for_good(tmp_path: Path) -> None:
    with MemoStore.open(tmp_path / "store") as store:
        with intruder(store) as client:
            client.set(store.keys.gc_lock, b"nobody")
        collect(store)


def test_nor_on_a_server_that_others_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds the lock may be on another machine: it is theirs for as long as a collection may take."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")
    server = RealServer(tmp_path / "server", "unix")
    try:
        with MemoStore.open(tmp_path / "store", server.url) as store, intruder(store) as client:
            client.set(store.keys.gc_lock, b"nobody")
            with pytest.raises(CollectionRunning, match="Try again"):
                collect(store)
            assert 0 < client.ttl(store.keys.gc_lock) <= LOCK_SECONDS
            client.pexpire(store.keys.gc_lock, 1)
            time.sleep(0.05)
            collect(store)
    finally:
        server.close()
