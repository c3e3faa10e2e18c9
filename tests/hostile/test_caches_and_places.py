"""A node's cache, and places for packs that fsspec serves: what lies there in a pack's place costs time, never more."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

import incoop
from incoop.base.checksums import block_hash
from incoop.base.own_files import NotOurs
from incoop.memo import BlobStore, MemoStore, PackUnreadable, WorkerConfig, verify
from incoop.memo.cache import cache_name
from incoop.memo.events import DidGoWithoutCache, EventLog
from incoop.memo.fsspec_files import FsspecFiles
from tests.memo.places import read_whole, result_of, run_generation

from .conftest import Deed

AsOther = Callable[[Deed], None]
KEY = b"s" * 32
WHOLE = result_of(1, 200_000)


def other_file(path: Path) -> None:
    path.write_bytes(WHOLE)
    os.chown(path, 65534, 65534)


#: What may lie in the place of a file.
THINGS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": lambda path: (path / "in it").mkdir(parents=True),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("/no/such/file"),
    "nothing": lambda path: path.write_bytes(b""),
    "junk": lambda path: path.write_bytes(b"\xff" * 70_000),
    "too much": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40),
    "a file of another user": other_file,
}


def put_there(what: str, path: Path) -> None:
    if what == "a file of another user" and os.geteuid() != 0:
        pytest.skip("only root can make one")
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    THINGS[what](path)


@pytest.fixture
def caches(tmp_path: Path) -> Iterator[WorkerConfig]:
    config = WorkerConfig(str(tmp_path / "origin"), KEY, cache=str(tmp_path / "cache"))
    yield config
    # As another process finds it.
    from incoop.memo import cache_folder

    cache_folder._uses.clear()


def region(blobs: BlobStore, pack: bytes) -> bytes | None:
    return blobs.read_region(pack, 1000, 50_000, block_hash(WHOLE[1000:51_000]))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", THINGS)
@pytest.mark.parametrize("compression", ["none", "zstd:1"])
@pytest.mark.parametrize("kind", ["whole", "ranges"])
def test_what_is_no_item_of_a_cache_is_read_from_the_origin(
    tmp_path: Path, caches: WorkerConfig, what: str, compression: str, kind: str
) -> None:
    config = WorkerConfig(caches.blobs, KEY, compression, cache=caches.cache)
    if kind == "whole":
        pack = config.open().write([WHOLE])
    else:
        pack = WorkerConfig(caches.blobs, KEY, compression).open().write([WHOLE])
        assert region(config.open(), pack) == WHOLE[1000:51_000]
    items = list((tmp_path / "cache").glob("??/*@*"))
    assert items
    for path in items:
        put_there(what, path)
    blobs = config.open()
    assert region(blobs, pack) == WHOLE[1000:51_000]
    assert read_whole(blobs, pack) == WHOLE
    # And it is cached again, in the same place.
    blobs.files.forget(blobs._name(pack, compression != "none"))  # type: ignore[attr-defined]
    assert region(blobs, pack) == WHOLE[1000:51_000]
    if compression == "none":  # else it is asked how long it is
        WorkerConfig(caches.blobs, KEY).open().delete(pack)
        assert region(config.open(), pack) == WHOLE[1000:51_000]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["name", "tmp", "evicting"])
@pytest.mark.parametrize("what", THINGS)
def test_what_a_cache_itself_needs_is_made_anew(tmp_path: Path, caches: WorkerConfig, name: str, what: str) -> None:
    config = WorkerConfig(caches.blobs, KEY, cache=caches.cache, cache_bytes=60_000)
    blobs = config.open()
    blobs.write([WHOLE[:50_000]])
    put_there(what, tmp_path / "cache" / name)
    blobs = config.open()
    assert len(cache_name(tmp_path / "cache")) == 16 == len(blobs.holder)
    # Each makes the one before leave.
    packs = [blobs.write([WHOLE[at : at + 50_000]]) for at in (0, 1, 2)]
    assert len(list((tmp_path / "cache").glob("??/*@whole"))) == 1
    assert not list((tmp_path / "cache" / "tmp").glob("*-*"))
    assert read_whole(blobs, packs[0]) == WHOLE[:50_000]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", THINGS)
def test_what_is_no_shelf_of_a_cache_holds_nothing(tmp_path: Path, caches: WorkerConfig, what: str) -> None:
    pack = WorkerConfig(caches.blobs, KEY).open().write([WHOLE])
    blobs = caches.open()
    put_there(what, tmp_path / "cache" / pack.hex()[:2])
    for _ in range(2):
        assert region(blobs, pack) == WHOLE[1000:51_000]
    assert blobs.write([WHOLE]) == pack


def test_a_cache_removes_nothing_that_is_not_its_own(tmp_path: Path, caches: WorkerConfig) -> None:
    """A folder with other things in it may be named by mistake, and a shelf may be a link to a precious place."""
    cache, precious = tmp_path / "cache", tmp_path / "precious"
    mine = [cache / "mine" / "a.txt", cache / "ab" / "b.txt", cache / "tmp" / "c.txt", precious / f"{'ab' * 16}@whole"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(70_000))
    for number in range(256):
        if not (cache / f"{number:02x}").exists() and number % 2:
            (cache / f"{number:02x}").symlink_to(precious)
    cache.chmod(0o700)
    blobs = WorkerConfig(caches.blobs, KEY, cache=caches.cache, cache_bytes=60_000).open()
    for number in range(8):
        blobs.write([result_of(number, 50_000)])
    blobs.forget_all_cached()
    assert all(path.stat().st_size == 70_000 for path in mine)
    assert sorted(path.name for path in precious.iterdir()) == [mine[-1].name], "and nothing went there"


def test_a_cache_of_another_user_is_refused_by_a_session_and_gone_without_by_a_task(
    tmp_path: Path, commons: Path, as_other: AsOther, caplog: pytest.LogCaptureFixture
) -> None:
    as_other(lambda: (commons / "cache").mkdir(mode=0o777))
    (commons / "cache").chmod(0o777)
    with pytest.raises(NotOurs, match=r"belongs to another user.*cache folder of their own: cache=DIR"):
        MemoStore.open(tmp_path / "store", cache=commons / "cache")
    MemoStore.open(tmp_path / "store").close()
    config = WorkerConfig(str(tmp_path / "packs"), KEY, cache=str(commons / "cache"))
    with caplog.at_level(logging.WARNING, "incoop.memo"):
        for _ in range(3):
            assert read_whole(config.open(), config.open().write([WHOLE])) == WHOLE
    assert [record.levelname for record in caplog.records] == ["WARNING"], "said once"
    assert config.cache_name() == "" and list((commons / "cache").iterdir()) == []


def test_a_cache_that_others_may_write_to_is_refused_until_it_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    with pytest.raises(NotOurs, match="chmod go-w"):
        MemoStore.open(tmp_path / "store", cache=tmp_path / "cache")
    (tmp_path / "cache").chmod(0o755)
    with MemoStore.open(tmp_path / "store", cache=tmp_path / "cache") as store:
        store.blobs.write([WHOLE])
    modes = {path.lstat().st_mode & 0o077 for path in (tmp_path / "cache").rglob("*")}
    assert modes == {0}, "what is in it is for its owner alone"


def test_a_cache_that_cannot_be_is_said_and_gone_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "loop", tmp_path / ("x" * 300), "a\0b"):
        with MemoStore.open(tmp_path / "store", cache=place) as store:
            (gone,) = store.events.of(DidGoWithoutCache)
            assert "cannot be used" in str(gone) and any("cannot be used" in told for told in store.losses())
            run_generation(store, "job", [1, 2, 3])
            assert run_generation(store, "job", [1, 2, 3])[1] == []


def test_a_cache_on_a_full_disk_fails_no_write(small_disk: Path, tmp_path: Path) -> None:
    config = WorkerConfig(str(tmp_path / "origin"), KEY, cache=str(small_disk / "cache"))
    blobs = config.open()
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk)
    ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - 50_000))
    large = result_of(2, 3 << 20)
    pack = blobs.write([large[at : at + 9999] for at in range(0, len(large), 9999)])
    assert read_whole(blobs, pack) == large
    assert list((small_disk / "cache" / "tmp").iterdir()) == []
    ballast.unlink()
    blobs.write([large])
    assert list((small_disk / "cache").glob("??/*@whole"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert read_whole(config.open(), pack) == large
    assert read_whole(blobs, blobs.write([WHOLE])) == WHOLE


def test_a_cache_that_is_removed_under_a_worker_fails_nothing(tmp_path: Path, caches: WorkerConfig) -> None:
    blobs = caches.open()
    pack = blobs.write([WHOLE])
    shutil.rmtree(tmp_path / "cache")
    assert region(blobs, pack) == WHOLE[1000:51_000]
    assert read_whole(blobs, blobs.write([WHOLE[:5000]])) == WHOLE[:5000]


def test_what_a_killed_worker_left_in_a_cache_goes_with_the_next(tmp_path: Path, caches: WorkerConfig) -> None:
    program = (
        "import pickle, sys, time\n"
        "config = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "def slowly():\n"
        "    yield bytes(3 << 20)\n"
        "    print('now', flush=True)\n"
        "    time.sleep(60)\n"
        "config.open().write(slowly())\n"
    )
    import pickle

    words = [sys.executable, "-c", program, pickle.dumps(caches).hex()]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == b"now\n"
        left = list((tmp_path / "cache" / "tmp").iterdir())
        worker.kill()
    assert len(left) == 1
    (tmp_path / "cache" / f".name.{worker.pid}-{'ab' * 8}").write_bytes(b"ab")
    caches.open()
    assert list((tmp_path / "cache" / "tmp").iterdir()) == []
    assert not list((tmp_path / "cache").glob(".name.*"))


def test_what_is_verified_is_the_store_and_not_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCOOP_CACHE", str(tmp_path / "cache"))
    with MemoStore.open(tmp_path / "store") as store:
        run_generation(store, "job", [1, 2, 3])
    for path in (tmp_path / "cache").glob("??/*@*"):
        path.write_bytes(bytes(path.stat().st_size))
    with MemoStore.open(tmp_path / "store", maintenance=True) as store:
        assert verify(store).clean


# Places that fsspec serves.


@pytest.fixture(params=["local", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    url = f"{request.param}://{tmp_path}/place"
    yield url
    fs = fsspec.filesystem("memory")
    if fs.exists(f"{tmp_path}/place"):
        fs.rm(f"{tmp_path}/place", recursive=True)


def in_the_place_of_a_pack(fs: Any, path: str, what: str) -> None:
    fs.rm(path)
    if what == "a folder":
        fs.makedirs(f"{path}/in it")
        fs.pipe_file(f"{path}/in it/file", b"x")
    else:
        fs.pipe_file(path, {"nothing": b"", "junk": b"\xff" * 70_000, "as long": bytes(len(WHOLE))}[what])


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", ["a folder", "nothing", "junk", "as long"])
@pytest.mark.parametrize("compression", ["none", "zstd:1"])
def test_junk_in_the_place_of_a_pack_is_a_miss_and_writing_it_again_mends_it(
    place: str, what: str, compression: str
) -> None:
    events = EventLog()
    blobs = WorkerConfig(place, KEY, compression).open(events=events)
    pack = blobs.write([WHOLE])
    fs, root = fsspec.core.url_to_fs(place)
    (path,) = (each for each in fs.find(root) if pack.hex() in each)
    in_the_place_of_a_pack(fs, path, what)
    blobs = WorkerConfig(place, KEY, compression).open(events=events)
    assert region(blobs, pack) is None and len(events.events) == 1
    with pytest.raises(PackUnreadable):
        blobs.check(pack)
    assert blobs.write([WHOLE]) == pack
    assert read_whole(blobs, pack) == WHOLE
    in_the_place_of_a_pack(fs, path, what)
    assert blobs.delete(pack) and list(blobs.scan()) == [] == list(blobs.files.scan_temporary())
    assert not fs.exists(path)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", THINGS)
def test_a_local_place_of_fsspec_is_a_folder_of_ours(tmp_path: Path, what: str) -> None:
    blobs = WorkerConfig(f"local://{tmp_path}/place", KEY).open(events=EventLog())
    pack = blobs.write([WHOLE])
    (path,) = (tmp_path / "place").glob("??/*")
    put_there(what, path)
    assert region(blobs, pack) in (None, WHOLE[1000:51_000])  # another user's copy may be whole
    assert len(list(blobs.scan())) <= 1
    assert blobs.write([WHOLE]) == pack
    assert read_whole(blobs, pack) == WHOLE


def test_a_store_with_packs_in_such_places_is_right(tmp_path: Path, place: str) -> None:
    fs, root = fsspec.core.url_to_fs(place)
    with MemoStore.open(tmp_path / "store", blobs=place) as store:
        run_generation(store, "job", [1, 2, 3])
    for path in fs.find(root):
        fs.pipe_file(path, b"junk")
    with MemoStore.open(tmp_path / "store", blobs=place, maintenance=True) as store:
        assert not verify(store).clean
    with MemoStore.open(tmp_path / "store", blobs=place) as store:
        run_generation(store, "job", [1, 2, 3])
        assert run_generation(store, "job", [1, 2, 3])[1] == []


class Refusing(fsspec.AbstractFileSystem):
    """A file system whose library has errors of its own, with what it was given in them."""

    protocol = "refusing"

    class Refused(Exception):
        pass

    def __getattribute__(self, name: str) -> Any:
        if name in ("open", "makedirs", "mv", "rm_file", "cat_ranges", "info", "find", "isdir"):
            raise Refusing.Refused("key hunter2 is not known\x1b[2J")
        return super().__getattribute__(name)


def test_errors_of_a_library_are_ours_and_show_no_key(tmp_path: Path) -> None:
    fsspec.register_implementation("refusing", Refusing, clobber=True)
    files = FsspecFiles("refusing://bucket/memo")
    name = "ab" * 16
    calls: list[Callable[[], object]] = [
        files.create, lambda: files.publish("x", name), lambda: files.discard("x"), lambda: files.read(name, [(0, 1)]),
        lambda: files.size(name), lambda: files.delete(name), lambda: list(files.scan()),
        lambda: list(files.scan_temporary()),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(OSError, match="failed with Refused") as failed:
            call()
        assert "hunter2" not in str(failed.value)
    store = MemoStore.open(tmp_path / "store", blobs="refusing://bucket/memo")
    with store, pytest.raises(incoop.IncoopError) as refused:
        store.blobs.write([WHOLE])
    assert "hunter2" not in str(refused.value)
    with pytest.raises(incoop.IncoopError):
        WorkerConfig("refusing://x", KEY, options=(("nonsense", object()),)).open().read(bytes(16), 0, 1)
