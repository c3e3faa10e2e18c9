"""Packs on folders, other filesystems and behind a cache."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incoop.base.checksums import block_hash
from incoop.base.errors import BadCall
from incoop.memo import BlobStore, PackUnreadable, PackWriteFailed, WorkerConfig
from incoop.memo.cache import CachedFiles
from incoop.memo.events import DidRejectPack, EventLog
from incoop.memo.files import split_name

from .places import read_whole, result_of


@pytest.fixture(params=["folder", "file url", "memory"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    kinds = {"folder": str(tmp_path / "p"), "file url": f"file://{tmp_path}/q", "memory": f"memory://{tmp_path}/m"}
    return kinds[request.param]


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("compression", ["none", "zstd:1"])
def test_a_pack_is_the_same_wherever_it_lies(where: str, compression: str, cached: bool, tmp_path: Path) -> None:
    config = WorkerConfig(where, b"s", compression, cache=str(tmp_path / "c") if cached else None)
    blobs = pickle.loads(pickle.dumps(config)).open()
    whole = result_of(1, 150_000) + b"a" * 100_000
    pack = blobs.write([whole[:1000], whole[1000:]])
    assert blobs.size(pack) == len(whole)
    for _ in range(2):
        assert blobs.read_many(pack, [(0, 10), (149_990, 20), (249_999, 1), (5, 0)]) == [
            whole[:10], whole[149_990:150_010], b"a", b""]  # fmt: skip
    blobs.check(pack)
    assert read_whole(blobs, pack) == whole
    assert [one.id for one in blobs.scan()] == [pack]
    assert list(blobs.files.scan_temporary()) == []
    with pytest.raises(PackUnreadable, match="truncated"):
        blobs.read(pack, 249_999, 2)
    assert blobs.delete(pack)
    with pytest.raises(PackUnreadable, match="missing"):
        blobs.read(pack, 0, 1)
    assert list(blobs.scan()) == []


def test_a_pack_is_found_in_whichever_form_it_was_written(tmp_path: Path) -> None:
    plain, packed = (WorkerConfig(str(tmp_path), b"s", kind).open() for kind in ("none", "zstd:3"))
    one, two = plain.write([b"one" * 1000]), packed.write([b"two" * 1000])
    assert read_whole(packed, one) == b"one" * 1000
    assert read_whole(plain, two) == b"two" * 1000
    assert packed.write([b"one" * 1000]) == one, "the name does not depend on the form"


def test_a_name_from_another_secret_is_not_accepted(tmp_path: Path) -> None:
    intruder, store = WorkerConfig(str(tmp_path), b"guess").open(), WorkerConfig(str(tmp_path), b"secret").open()
    pack = intruder.write([pickle.dumps("evil")])
    with pytest.raises(PackUnreadable, match="keyed checksum"):
        read_whole(store, pack)


def test_files_that_are_not_packs_are_left_alone(tmp_path: Path) -> None:
    blobs = WorkerConfig(str(tmp_path), b"s").open()
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "README").write_text("mine")
    (tmp_path / "note").write_text("mine too")
    assert list(blobs.scan()) == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_any_damage_to_a_compressed_pack_is_noticed(tmp_path: Path, data: st.DataObject) -> None:
    events = EventLog()
    blobs = WorkerConfig(str(tmp_path), b"s", "zstd:1").open(events=events)
    whole = b"".join(b"%d " % number for number in range(30_000))
    pack = blobs.write([whole])
    path = tmp_path / split_name(pack.hex() + ".z")
    raw = bytearray(path.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    path.write_bytes(raw[: data.draw(st.sampled_from([len(raw), len(raw) // 2, 10, 0]))])
    fresh = WorkerConfig(str(tmp_path), b"s", "zstd:1").open(events=events)
    got = fresh.read_region(pack, 0, len(whole), block_hash(whole))
    assert got in (None, whole), "zstd ignores a few bits of a frame's header; what is given is always right"
    assert (got is None) == bool(events.of(DidRejectPack))


def test_a_broken_source_of_parts_leaves_nothing(tmp_path: Path) -> None:
    blobs = WorkerConfig(str(tmp_path), b"s").open()

    def parts() -> Iterator[bytes]:
        yield b"first"
        raise RuntimeError("the mapper failed")

    with pytest.raises(RuntimeError, match="the mapper failed"):
        blobs.write(parts())
    assert list(blobs.files.scan_temporary()) == []
    assert list(blobs.scan()) == []


@pytest.mark.parametrize("text", ["lz4", "zstd:99", "zstd:x", ""])
def test_an_unknown_compression_is_a_wrong_call(text: str) -> None:
    with pytest.raises(BadCall, match="zstd:1"):
        WorkerConfig("memory://x", b"s", text).open()


def test_an_unknown_filesystem_is_a_wrong_call() -> None:
    with pytest.raises(BadCall, match="cannot be opened"):
        WorkerConfig("nosuch://bucket", b"s").open()


# -- disk full -------------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    folder.mkdir()
    options = f"size={size},mode=0700"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("compression", ["none", "zstd:1"])
def test_a_full_disk_fails_one_write_cleanly(tmp_path: Path, compression: str) -> None:
    with small_disk(tmp_path / "disk", "1m"):
        blobs = WorkerConfig(str(tmp_path / "disk" / "packs"), b"s", compression).open()
        kept = blobs.write([result_of(1, 100_000)])
        with pytest.raises(PackWriteFailed, match=os.strerror(errno.ENOSPC)) as caught:
            blobs.write(result_of(number, 1 << 20) for number in range(4))
        assert "incoop gc" in str(caught.value)
        assert list(blobs.files.scan_temporary()) == []
        assert read_whole(blobs, kept) == result_of(1, 100_000)
        assert read_whole(blobs, blobs.write([b"still works" * 100])) == b"still works" * 100


def test_a_file_size_limit_fails_one_write_cleanly(tmp_path: Path) -> None:
    blobs = WorkerConfig(str(tmp_path), b"s").open()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(PackWriteFailed, match=os.strerror(errno.EFBIG)):
            blobs.write([result_of(1, 3 << 20)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(blobs.files.scan_temporary()) == []


def test_an_error_survives_the_trip_from_an_executor() -> None:
    error = pickle.loads(pickle.dumps(PackWriteFailed("/packs", "disk full")))
    assert (error.where, error.cause) == ("/packs", "disk full")
    assert str(error) == str(PackWriteFailed("/packs", "disk full"))


def test_fsync_is_an_option(tmp_path: Path) -> None:
    blobs = WorkerConfig(str(tmp_path), b"s", fsync=True).open()
    assert read_whole(blobs, blobs.write([b"x" * 5000])) == b"x" * 5000


# -- the node's cache ------------------------------------------------------------------------------------------------


def held(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("??/*"))


def caching(tmp_path: Path, limit: int, events: EventLog | None = None) -> tuple[BlobStore, BlobStore]:
    """A blob store at the origin, and one behind a cache."""
    origin = WorkerConfig(str(tmp_path / "origin"), b"s")
    cached = WorkerConfig(str(tmp_path / "origin"), b"s", cache=str(tmp_path / "cache"), cache_bytes=limit)
    return origin.open(), cached.open(events=events)


def test_what_was_read_here_is_read_here_again(tmp_path: Path) -> None:
    origin, cached = caching(tmp_path, 1 << 20)
    pack = origin.write([result_of(1, 10_000)])
    assert cached.read(pack, 100, 50) == result_of(1, 10_000)[100:150]
    assert held(tmp_path / "cache") == 50, "one block, not the pack"
    origin.delete(pack)
    assert cached.read(pack, 100, 50) == result_of(1, 10_000)[100:150]
    with pytest.raises(PackUnreadable):
        cached.read(pack, 0, 50)


def test_what_was_written_here_is_read_here(tmp_path: Path) -> None:
    origin, cached = caching(tmp_path, 1 << 20)
    pack = cached.write([result_of(1, 10_000)])
    assert read_whole(origin, pack) == result_of(1, 10_000)
    origin.delete(pack)
    assert cached.read(pack, 5000, 100) == result_of(1, 10_000)[5000:5100]


def test_the_cache_keeps_to_its_limit_and_drops_the_least_recently_used(tmp_path: Path) -> None:
    origin, cached = caching(tmp_path, 10_000)
    packs = [origin.write([result_of(number, 1000)]) for number in range(20)]
    for number, pack in enumerate(packs):
        cached.read(pack, 0, 1000)
        cached.read(packs[0], 0, 1000)
        assert held(tmp_path / "cache") <= 10_000
        os.utime(tmp_path / "cache" / packs[0].hex()[:2] / f"{packs[0].hex()}@0+1000", (number + 10, number + 10))
        for path in (tmp_path / "cache").glob(f"??/{pack.hex()}@*"):
            os.utime(path, (number, number))
    assert (tmp_path / "cache" / packs[0].hex()[:2] / f"{packs[0].hex()}@0+1000").exists()
    assert not list((tmp_path / "cache").glob(f"??/{packs[1].hex()}@*"))
    cached.read(origin.write([result_of(99, 20_000)]), 0, 20_000)
    assert held(tmp_path / "cache") <= 10_000, "what is larger than the cache goes past it"


def test_a_damaged_cache_is_dropped_and_the_origin_read(tmp_path: Path) -> None:
    events = EventLog()
    origin, cached = caching(tmp_path, 1 << 20, events)
    whole = result_of(1, 10_000)
    pack = origin.write([whole])
    digest = block_hash(whole[:100])
    cached.read(pack, 0, 100)
    (item,) = (tmp_path / "cache").glob("??/*")
    item.write_bytes(bytes(100))
    assert cached.read_region(pack, 0, 100, digest) == whole[:100]
    assert events.events == []
    origin_path = tmp_path / "origin" / split_name(pack.hex())
    origin_path.write_bytes(bytes(10_000))
    item.write_bytes(bytes(100))
    assert cached.read_region(pack, 0, 100, digest) is None
    assert len(events.of(DidRejectPack)) == 1


def test_a_full_local_disk_only_means_that_nothing_is_cached(tmp_path: Path) -> None:
    with small_disk(tmp_path / "cache", "64k"):
        origin, cached = caching(tmp_path, 1 << 20)
        pack = origin.write([result_of(1, 200_000)])
        assert cached.read(pack, 0, 200_000) == result_of(1, 200_000)
        assert isinstance(cached.files, CachedFiles)
        assert list((tmp_path / "cache" / "tmp").iterdir()) == []


def test_workers_share_a_cache(tmp_path: Path) -> None:
    origin, _ = caching(tmp_path, 40_000)
    packs = [origin.write([result_of(number, 2000)]) for number in range(30)]
    config = WorkerConfig(str(tmp_path / "origin"), b"s", cache=str(tmp_path / "cache"), cache_bytes=40_000)
    script = (
        "import pickle, sys\n"
        "config, packs = pickle.load(sys.stdin.buffer)\n"
        "blobs = config.open()\n"
        "for _ in range(3):\n"
        "    for pack in packs: blobs.check(pack)\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) for _ in range(2)]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(pickle.dumps((config, packs)))
        worker.stdin.close()
    assert [worker.wait(60) for worker in workers] == [0, 0]
    assert held(tmp_path / "cache") <= 45_000
