"""What every setting of the memo store must do. Subclasses say which setting, with a `place` fixture."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.base.checksums import block_hash, verify_block
from incoop.base.own_files import NotOurs
from incoop.memo import (
    INLINE_BYTES,
    Keep,
    MemoEntry,
    MemoStore,
    StoreTooNew,
    WrongSecret,
    collect,
    stats,
    verify,
)
from incoop.memo.events import DidLoseRedis, DidRejectEntry, DidRejectGeneration, DidRejectPack
from incoop.memo.identity import STORE_FORMAT
from incoop.memo.wire import FIELDS_PER_COMMAND

from .places import Place, kept, payload, read_whole, result_of, run_generation, task_id


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


class MemoStoreContract:
    """Entries, packs, generations, trust and faults."""

    # -- entries ---------------------------------------------------------------------------------------------------

    def test_entries_come_back_as_they_were_stored(self, place: Place) -> None:
        store = place.open()
        entries = {
            task_id(1): MemoEntry(inline=b"small"),
            task_id(2): MemoEntry(pack=bytes(range(16)), offset=7, length=1 << 40, digest=b"d" * 16, refs=b"r" * 32),
            task_id(3): MemoEntry(),
        }
        store.store(entries)
        assert store.lookup(list(entries)) == list(entries.values())
        assert place.open().lookup([task_id(2)]) == [entries[task_id(2)]]

    def test_an_unknown_task_is_a_miss(self, place: Place) -> None:
        store = place.open()
        store.store({task_id(1): MemoEntry(inline=b"x")})
        found = store.lookup([task_id(0), task_id(1), task_id(0)])
        assert [entry is None for entry in found] == [True, False, True]
        assert (store.hits, store.misses) == (1, 2)
        assert store.lookup([]) == []
        store.store({})

    def test_a_bulk_lookup_is_one_command_for_each_ten_thousand_ids(self, place: Place) -> None:
        store = place.open()
        ids = [number.to_bytes(16, "big") for number in range(2 * FIELDS_PER_COMMAND + 5)]
        store.store({key: MemoEntry(inline=key) for key in ids})
        with contextlib.closing(place.raw(store)) as client:
            client.config_resetstat()
            found = store.lookup(ids)
            commands = client.info("commandstats")
        assert [entry.inline for entry in found if entry is not None] == ids
        assert commands["cmdstat_hmget"]["calls"] == 3
        assert set(commands) - {"cmdstat_hmget"} <= {
            "cmdstat_info", "cmdstat_config", "cmdstat_config|resetstat", "cmdstat_client", "cmdstat_client|setinfo",
            "cmdstat_auth", "cmdstat_set", "cmdstat_hello"}  # fmt: skip

    def test_an_id_of_another_length_is_refused(self, place: Place) -> None:
        with pytest.raises(ValueError, match="16 bytes"):
            place.open().lookup([b"short"])

    # -- trust -----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "damage",
        [
            pytest.param(lambda raw: flip(raw, 0), id="flipped checksum"),
            pytest.param(lambda raw: flip(raw, len(raw) - 1), id="flipped last byte"),
            pytest.param(lambda raw: flip(raw, 20), id="flipped header"),
            pytest.param(lambda raw: raw[:-1], id="one byte short"),
            pytest.param(lambda raw: raw[:30], id="cut in the header"),
            pytest.param(lambda raw: b"", id="empty"),
            pytest.param(lambda raw: bytes(16) + raw[16:], id="unsigned"),
            pytest.param(lambda raw: pickle.dumps(print), id="a pickle"),
        ],
    )
    def test_a_damaged_entry_is_a_miss_with_a_warning(self, place: Place, damage: object) -> None:
        store = place.open()
        entry = MemoEntry(inline=b"good")
        store.store({task_id(1): entry, task_id(2): entry})
        place.put_entry(store, task_id(1), damage(place.entry_of(store, task_id(1))))  # type: ignore[operator]
        assert store.lookup([task_id(1), task_id(2)]) == [None, entry]
        assert [event.task for event in store.events.of(DidRejectEntry)] == [task_id(1).hex()]
        assert store.events.warnings()[0]["event"] == "DidRejectEntry"
        store.store({task_id(1): entry})
        assert store.lookup([task_id(1)]) == [entry]

    def test_an_entry_replayed_under_another_task_is_a_miss(self, place: Place) -> None:
        store = place.open()
        store.store({task_id(1): MemoEntry(inline=b"one"), task_id(2): MemoEntry(inline=b"two")})
        place.put_entry(store, task_id(2), place.entry_of(store, task_id(1)))
        assert store.lookup([task_id(2)]) == [None]

    def test_an_entry_signed_with_another_secret_is_a_miss(self, place: Place) -> None:
        from incoop.base.checksums import Signer
        from incoop.memo.entry import encode_entries

        store = place.open()
        forged = encode_entries([(task_id(1), MemoEntry(inline=b"evil"))], Signer(b"guess"), 0)[0]
        place.put_entry(store, task_id(1), forged)
        assert store.lookup([task_id(1)]) == [None]

    def test_another_secret_is_refused_before_anything_is_judged_by_it(self, place: Place) -> None:
        place.open(secret=b"the first of two secrets").close()
        with pytest.raises(WrongSecret, match="secret"):
            place.open(secret=b"the second of two secrets")
        store = place.open(secret=b"the first of two secrets")
        assert not (place.folder / "memo" / "secret").exists()
        assert store.lookup([task_id(1)]) == [None]

    def test_the_secret_file_is_for_its_owner_only(self, place: Place) -> None:
        place.open().close()
        secret = place.folder / "memo" / "secret"
        assert secret.stat().st_mode & 0o777 == 0o600
        assert (place.folder / "memo").stat().st_mode & 0o777 == 0o700
        secret.chmod(0o644)
        with pytest.raises(NotOurs, match="read by other users"):
            place.open()
        secret.chmod(0o600)
        assert place.open().lookup([task_id(1)]) == [None]

    # -- packs -----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("compression", ["none", "zstd:1"])
    def test_one_block_of_a_pack_is_read_alone(self, place: Place, compression: str) -> None:
        store = place.open(compression=compression)
        blocks = [result_of(number, 70_000) for number in range(5)]
        pack = store.blobs.write(iter([blocks[0], bytearray(blocks[1]), memoryview(blocks[2]), *blocks[3:]]))
        assert store.blobs.size(pack) == 350_000
        block = store.blobs.read(pack, 140_000, 70_000)
        assert verify_block(block, block_hash(blocks[2]))
        assert store.blobs.read_many(pack, [(280_000, 70_000), (0, 10), (69_995, 10)]) == [
            blocks[4], blocks[0][:10], blocks[0][-5:] + blocks[1][:5]]  # fmt: skip
        assert store.blobs.write([b"".join(blocks)]) == pack, "the name follows the bytes, not how they were cut"

    def test_a_small_result_stays_in_redis_and_a_large_one_goes_to_a_pack(self, place: Place) -> None:
        store = place.open()
        small, large = kept(store.blobs, b"s" * INLINE_BYTES), kept(store.blobs, b"l" * (INLINE_BYTES + 1))
        assert (small.pack, small.inline) == (None, b"s" * INLINE_BYTES)
        assert large.pack is not None
        assert [payload(store.blobs, entry) for entry in (small, large)] == [b"s" * 1024, b"l" * 1025]

    @pytest.mark.parametrize("compression", ["none", "zstd:3"])
    @pytest.mark.parametrize("damage", ["flipped", "truncated", "emptied", "missing"])
    def test_a_damaged_pack_is_a_miss_and_recomputing_heals_it(
        self, place: Place, damage: str, compression: str
    ) -> None:
        store = place.open(compression=compression)
        assert run_generation(store, "job", [1, 2]) == (1, [1, 2])
        (entry,) = store.lookup([task_id(1)])
        assert entry is not None
        path = place.pack_path(entry.pack)
        path = path if path.exists() else path.with_suffix(".z")
        whole = path.read_bytes()
        if damage == "missing":
            path.unlink()
        else:
            broken = {"flipped": flip(whole, 100), "truncated": whole[: len(whole) // 2], "emptied": b""}[damage]
            path.write_bytes(broken)
        store.events.clear()
        assert run_generation(store, "job", [1, 2])[1] == [1]
        assert {event.pack for event in store.events.of(DidRejectPack)} == {entry.pack.hex() if entry.pack else ""}
        assert path.read_bytes() == whole
        assert run_generation(store, "job", [1, 2])[1] == []

    def test_a_lookup_can_probe_packs_before_a_plan_is_made(self, place: Place) -> None:
        store = place.open()
        run_generation(store, "job", [1, 2, 3])
        found = store.lookup([task_id(n) for n in (1, 2, 3)], probe_packs=True)
        assert all(found)
        place.pack_path(found[0].pack).unlink()  # type: ignore[union-attr]
        short = place.pack_path(found[1].pack)  # type: ignore[union-attr]
        short.write_bytes(short.read_bytes()[:-1])
        probed = store.lookup([task_id(n) for n in (1, 2, 3)], probe_packs=True)
        assert [entry is None for entry in probed] == [True, True, False]

    def test_a_worker_reads_and_writes_packs_without_redis(self, place: Place) -> None:
        store = place.open()
        shipped = pickle.dumps(store.worker_config())
        assert len(shipped) < 1000
        secret = (place.folder / "memo" / "secret").read_bytes()
        assert secret not in shipped and bytes.fromhex(secret.decode()) not in shipped, "a worker needs no secret"
        assert repr(store.worker_config().pack_key) not in repr(store.worker_config())
        script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).open().write([b'from', b' a worker']).hex())"
        done = subprocess.run([sys.executable, "-c", script], input=shipped, capture_output=True, check=True)
        assert read_whole(store.blobs, bytes.fromhex(done.stdout.decode().strip())) == b"from a worker"

    # -- generations -----------------------------------------------------------------------------------------------

    def test_the_last_generation_is_the_last_one_committed(self, place: Place) -> None:
        store = place.open()
        assert store.last_generation("job") is None
        first = store.begin_generation("job")
        assert store.commit_generation("job", first, b"one", [task_id(1)])
        second = store.begin_generation("job")
        assert second == first + 1
        last = store.last_generation("job")
        assert last is not None, "a run that did not commit leaves the one before"
        assert (last.number, last.record, last.live_count) == (first, b"one", 1)
        assert abs(last.when - time.time()) < 60
        store.commit_generation("job", second, b"two", b"".join([task_id(1), task_id(2)]))
        last = place.open().last_generation("job")
        assert last is not None
        assert (last.number, last.record, last.live_count) == (second, b"two", 2)
        assert store.last_generation("other job") is None

    def test_a_large_record_goes_to_the_blob_store(self, place: Place) -> None:
        store = place.open()
        record, live = os.urandom(16 * 100_000), os.urandom(16 * 100_000)
        number = store.begin_generation("large")
        store.commit_generation("large", number, record, live)
        last = store.last_generation("large")
        assert last is not None
        assert last.record == record
        with contextlib.closing(place.raw(store)) as client:
            assert sum(map(len, client.hgetall(store.keys.generations).values())) < 1000

    def test_two_commits_of_one_job_at_once_both_survive(self, place: Place) -> None:
        one, two = place.open(), place.open()
        numbers = [one.begin_generation("job"), two.begin_generation("job")]
        two.commit_generation("job", numbers[1], b"two", [task_id(2)])
        one.commit_generation("job", numbers[0], b"one", [task_id(1)])
        assert len(set(numbers)) == 2
        last = one.last_generation("job")
        assert last is not None
        assert (last.number, last.record) == (max(numbers), b"two")
        assert stats(one).jobs[0].generations == 2

    @pytest.mark.parametrize("size", [10, 100_000])
    def test_a_damaged_generation_gives_way_to_the_one_before(self, place: Place, size: int) -> None:
        store = place.open()
        for record in (b"1" * size, b"2" * size):
            store.commit_generation("job", store.begin_generation("job"), record, [task_id(1)])
        if size > 1000:
            newest = max((place.folder / "memo" / "packs").glob("??/*"), key=lambda path: path.stat().st_mtime_ns)
            newest.write_bytes(flip(newest.read_bytes(), 5))
        else:
            with contextlib.closing(place.raw(store)) as client:
                field = max(client.hkeys(store.keys.generations))
                client.hset(store.keys.generations, field, flip(client.hget(store.keys.generations, field), 150))
        last = store.last_generation("job")
        assert last is not None
        assert last.record == b"1" * size
        assert [event.number for event in store.events.of(DidRejectGeneration)] == [2]

    def test_hits_and_misses_are_counted_by_job(self, place: Place) -> None:
        store = place.open()
        run_generation(store, "words", [1, 2, 3, 4])
        run_generation(store, "words", [1, 2, 3, 5])
        run_generation(store, "other", [9])
        found = stats(store)
        by_job = {job.job: (job.runs, job.hits, job.misses, job.last, job.live) for job in found.jobs}
        assert by_job == {"words": (2, 3, 5, 2, 4), "other": (1, 0, 1, 1, 1)}
        assert found.entries == 6
        assert found.packs == 6
        assert found.sessions == 1
        assert found.hit_rate == pytest.approx(3 / 9)

    # -- faults ----------------------------------------------------------------------------------------------------

    def test_a_server_killed_in_the_middle_costs_work_and_never_the_result(self, place: Place) -> None:
        store = place.open(reply_seconds=5)
        run_generation(store, "job", [1, 2, 3])
        number = store.begin_generation("job")
        place.kill_server(store)
        found = store.lookup([task_id(1), task_id(2)])
        store.store({task_id(7): MemoEntry(inline=b"seven")})
        committed = store.commit_generation("job", number, b"", [task_id(1), task_id(7)])
        assert store.last_generation("job") is None or committed
        if place.private:
            assert all(found), "the private server is started again on its data"
            assert committed
            assert not store.session.link.lost
        else:
            assert found == [None, None]
            assert not committed
            assert store.session.link.lost
            assert len(store.events.of(DidLoseRedis)) == 1
            assert len(store.events.warnings()) == 1
            assert store.begin_generation("job") == 0
            assert run_generation(store, "job", [1, 2])[1] == [1, 2], "complete and right, without memo"
            assert len(store.events.of(DidLoseRedis)) == 1, "one warning"

    def test_after_a_restart_of_the_server_the_next_run_uses_the_memo_again(self, place: Place) -> None:
        store = place.open(reply_seconds=5)
        run_generation(store, "job", [1, 2, 3])
        place.kill_server(store)
        if place.server is not None:
            store.lookup([task_id(1)])
            assert store.session.link.lost
            place.server.start()
        number, computed = run_generation(store, "job", [1, 2, 3, 4])
        assert computed == [4]
        assert number == 2
        assert not store.session.link.lost

    def test_a_restart_between_two_calls_is_not_even_noticed(self, place: Place) -> None:
        store = place.open()
        run_generation(store, "job", [1, 2, 3])
        place.kill_server(store)
        if place.server is not None:
            place.server.start()
        assert all(store.lookup([task_id(1), task_id(2)]))
        assert store.events.warnings() == []

    def test_a_killed_session_leaves_its_results_to_the_next(self, place: Place) -> None:
        with looper(place, "--hold") as process:
            process.send_signal(signal.SIGKILL)
            process.wait()
        store = place.open()
        last = store.last_generation("loop")
        assert last is not None
        assert all(store.lookup([task_id(number) for number in range(5)]))
        assert verify(store, dry_run=True).clean
        assert stats(store).sessions == 1 or not place.private, "a lock does not outlive its process"

    def test_two_processes_at_once_lose_and_mix_nothing(self, place: Place) -> None:
        place.open().close()
        second = ("--rounds", "6", "--first", "20", "--job", "second")
        with looper(place, "--rounds", "6", "--first", "0") as one, looper(place, *second) as two:
            assert one.wait(60) == 0
            assert two.wait(60) == 0
        store = place.open()
        for numbers in (range(0, 30), range(20, 50)):
            found = store.lookup([task_id(number) for number in numbers])
            assert [payload(store.blobs, entry) if entry else None for entry in found] == [
                result_of(number) for number in numbers]  # fmt: skip
        assert {(job.job, job.generations) for job in stats(store).jobs} == {("loop", 6), ("second", 6)}
        assert verify(store, dry_run=True).clean

    def test_threads_share_one_session(self, place: Place) -> None:
        store = place.open()
        wrong = []

        def work(base: int) -> None:
            for number in range(base, base + 30):
                store.store({task_id(number): MemoEntry(inline=result_of(number, 100))})
                (entry,) = store.lookup([task_id(number)])
                if entry is None or entry.inline != result_of(number, 100):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(base,)) for base in (0, 100, 200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_a_forked_child_does_not_end_its_parents_session(self, place: Place) -> None:
        store = place.open()
        store.store({task_id(1): MemoEntry(inline=b"x")})
        pid = os.fork()
        if pid == 0:
            try:
                assert store.lookup([task_id(1)])[0] is not None
                store.close()
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        assert store.lookup([task_id(1)])[0] is not None
        assert store.events.events == []

    # -- formats and names -----------------------------------------------------------------------------------------

    def test_a_store_of_a_newer_format_is_refused(self, place: Place) -> None:
        store = place.open()
        with contextlib.closing(place.raw(store)) as client:
            client.hset(store.keys.meta, "format", STORE_FORMAT + 1)
        with pytest.raises(StoreTooNew, match="Upgrade incoop"):
            place.open()
        store.close()
        path = place.folder / "memo" / "store.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "format": STORE_FORMAT + 1, "more": True}))
        with pytest.raises(StoreTooNew, match=f"reads up to {STORE_FORMAT}"):
            place.open()

    def test_two_stores_on_one_server_do_not_mix(self, place: Place, tmp_path: Path) -> None:
        store = place.open()
        if place.private:
            # A private server serves one folder; borrow it for another.
            url = store.session.link.url
        else:
            assert place.server is not None
            url = place.server.url
        with MemoStore.open(tmp_path / "second", url) as second:
            run_generation(store, "job", [1])
            assert second.lookup([task_id(1)]) == [None]
            assert second.last_generation("job") is None
            run_generation(second, "job", [2])
            collect(second, Keep(last=0))
            assert stats(second).entries == 1, "pinned by its own session"
        assert store.lookup([task_id(1)])[0] is not None


@contextlib.contextmanager
def looper(place: Place, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A real process that works on the store; ready once it has committed a generation."""
    memo = ["--memo", place.server.url] if place.server is not None else []
    process = subprocess.Popen(
        [sys.executable, "-m", "memo.looper", str(place.folder), *memo, *options],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
