"""Redis that is not there, goes away, is full or hangs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.base.checksums import block_hash
from incoop.base.errors import BadCall
from incoop.memo import MemoEntry, MemoStore, RedisUnreachable, collect, verify
from incoop.memo.address import make_pool, shown
from incoop.memo.events import DidDropWrite, DidFindEmptyMemo, DidLoseRedis, MemoEvent
from incoop.memo.wire import bulk_parser

from .places import Place, result_of, run_generation, task_id
from .servers import RealServer, free_port
from .test_blobs import small_disk


@pytest.fixture
def shared(folder: Path) -> Iterator[Place]:
    place = Place(folder, RealServer(folder.parent / "redis", "password"))
    yield place
    place.close()


def test_an_unreachable_server_is_a_clear_error_and_nothing_is_created(folder: Path) -> None:
    port = free_port()
    with pytest.raises(RedisUnreachable) as caught:
        MemoStore.open(folder, f"redis://bob:hunter2@127.0.0.1:{port}/0")
    told = str(caught.value)
    assert f"redis://127.0.0.1:{port}/0" in told
    assert "PING" in told
    assert "refused" in told
    assert "hunter2" not in told
    assert not folder.exists()
    with pytest.raises(RedisUnreachable, match="No such file"):
        MemoStore.open(folder, f"unix://{folder}/nothing.sock")


def test_a_wrong_password_is_a_clear_error(shared: Place) -> None:
    assert shared.server is not None
    with pytest.raises(RedisUnreachable, match="password") as caught:
        MemoStore.open(shared.folder, shared.server.url.replace("correct%20horse", "wrong"))
    assert "wrong@" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://host", "localhost:6379", "redis//x", ""])
def test_what_is_not_a_redis_address_is_a_wrong_call(folder: Path, url: str) -> None:
    with pytest.raises(BadCall, match="redis://"):
        MemoStore.open(folder, url)
    assert not folder.exists()


def test_secrets_in_an_address_are_never_shown() -> None:
    assert shown("redis://u:p%40ss@h:1/2?password=x") == "redis://h:1/2"
    assert shown("unix://:pw@/tmp/s?db=1") == "unix:///tmp/s"


def test_options_in_an_address_cannot_change_how_values_are_read() -> None:
    pool = make_pool("redis://h:1/0?decode_responses=true&protocol=3")
    assert pool.connection_kwargs["decode_responses"] is False
    assert pool.connection_kwargs["protocol"] == 2


def test_the_fast_parser_is_in_use_with_the_installed_client() -> None:
    assert bulk_parser(), "redis-py has changed inside, or hiredis is installed: measure again"


def test_a_hanging_server_degrades_the_run_within_its_time(shared: Place) -> None:
    store = shared.open(reply_seconds=0.3)
    run_generation(store, "job", [1])
    assert shared.server is not None
    process = shared.server._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert run_generation(store, "job", [1])[1] == [1]
        assert time.monotonic() - began < 60, "it waited for every answer"
        assert len(store.events.of(DidLoseRedis)) == 1
    finally:
        process.send_signal(signal.SIGCONT)
    assert run_generation(store, "job", [1])[1] == []


def test_maintenance_never_mistakes_silence_for_emptiness(shared: Place) -> None:
    store = shared.open(reply_seconds=1)
    run_generation(store, "job", [1, 2])
    packs = list(store.blobs.scan())
    shared.kill_server(store)
    for work in (collect, verify):
        with pytest.raises(RedisUnreachable):
            work(store)
    assert list(store.blobs.scan()) == packs
    store.close()


def test_a_flushed_server_is_told_and_computed_again(shared: Place) -> None:
    with shared.open() as store:
        run_generation(store, "job", [1])
        assert shared.server is not None
        client = shared.server.client()
        client.flushall()
        client.close()
    heard: list[MemoEvent] = []
    store = shared.open(on_event=heard.append)
    assert [type(event) for event in heard] == [DidFindEmptyMemo]
    assert run_generation(store, "job", [1])[1] == [1]


def test_a_server_out_of_memory_drops_writes_and_still_answers(shared: Place) -> None:
    store = shared.open()
    store.store({task_id(1): MemoEntry(inline=b"x")})
    client = shared.raw(store)
    client.config_set("maxmemory", "1")
    store.store({task_id(2): MemoEntry(inline=b"y")})
    assert [event.what for event in store.events.of(DidDropWrite)] == ["1 entries"]
    found = store.lookup([task_id(1), task_id(2)])
    assert [entry is None for entry in found] == [False, True]
    assert store.begin_generation("job") == 0
    client.config_set("maxmemory", "0")
    client.close()
    assert run_generation(store, "job", [3, 4])[0] > 0
    assert not store.session.link.lost


def test_a_full_disk_under_the_private_server_drops_writes_and_recovers(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "3m"):
        with MemoStore.open(tmp_path / "disk" / "store") as store:
            run_generation(store, "job", [1, 2])
            filler = tmp_path / "disk" / "filler"
            with filler.open("wb", buffering=0) as out:
                while True:
                    try:
                        out.write(bytes(4096))
                    except OSError:
                        break
            for number in range(103, 140):
                store.store({task_id(number): MemoEntry(inline=os.urandom(1000))})
            assert len(store.events.of(DidDropWrite)) == 1, "Redis refuses writes it cannot keep; said once"
            assert store.lookup([task_id(1)])[0] is not None
            number = store.begin_generation("job")
            assert not store.commit_generation("job", number or 7, os.urandom(20_000), [task_id(1)])
            filler.unlink()
            time.sleep(1.2)  # Redis looks every second whether it can write again
            store.events.clear()
            assert run_generation(store, "job", [1, 2, 3])[1] in ([], [3])
            assert store.events.warnings() == []
        with MemoStore.open(tmp_path / "disk" / "store") as store:
            assert run_generation(store, "job", [1, 2])[1] == []
            assert verify(store, dry_run=True).clean


def test_packs_on_another_filesystem_belong_to_their_store(tmp_path: Path) -> None:
    place = f"memory://{tmp_path}/shared-bucket"
    with MemoStore.open(tmp_path / "one", blobs=place) as one, MemoStore.open(tmp_path / "two", blobs=place) as two:
        run_generation(one, "job", [1])
        run_generation(two, "job", [1])
        assert len(list(one.blobs.scan())) == len(list(two.blobs.scan())) == 1
        (pack,) = one.blobs.scan()
        one.blobs.delete(pack.id)
        assert run_generation(two, "job", [1])[1] == []
    with MemoStore.open(tmp_path / "two") as two:
        assert run_generation(two, "job", [1])[1] == [], "where the packs are is remembered"


def test_a_region_is_verified_before_it_is_given(shared: Place) -> None:
    store = shared.open()
    pack = store.blobs.write([result_of(1, 100), result_of(2, 100)])
    assert store.blobs.read_region(pack, 100, 100, block_hash(result_of(2, 100))) == result_of(2, 100)
    assert store.blobs.read_region(pack, 0, 100, block_hash(result_of(2, 100))) is None
