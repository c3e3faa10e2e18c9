"""Several processes at one store, killed, interrupted and out of room: earlier versions stay as they were."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from incoop.inchdfs import ChunkSettings, Dataset, DatasetStore, collect, expand, put, verify
from incoop.inchdfs.errors import StoreBusy, StoreFull
from tests.chunk.commands import run, start
from tests.chunk.samples import RABIN, noise, text
from tests.chunk.test_store import cat, put_bytes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def assert_clean(store: DatasetStore) -> None:
    """Nothing is left but versions and the packs that they need."""
    collect(store)
    assert list(store.temporary.iterdir()) == []
    assert {path.suffix for path in store.packs.iterdir()} <= {".pack", ".index"}
    assert verify(store).damage == []
    needed = {id_ for name in store.names() for id_ in Dataset(store, name).manifest.rows["id"].tolist()}
    assert needed <= set(store.index().rows["id"].tolist())


def pack_sizes(folder: Path) -> list[int]:
    sizes = []
    for path in folder.glob("*.pack"):
        with suppress(FileNotFoundError):  # it got its name just now
            sizes.append(path.stat().st_size)
    return sizes


#: Moments of a put as they show in the store's folder.
MOMENTS = {
    "when it starts": lambda store: True,
    "when its pack is begun": lambda store: bool(pack_sizes(store.temporary)),
    "when its pack is half written": lambda store: max(pack_sizes(store.temporary), default=0) > 6_000_000,
    "when its pack has a name": lambda store: len(list(store.packs.glob("*.pack"))) > 1,
    "when its index has a name": lambda store: len(list(store.packs.glob("*.index"))) > 1,
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("command", [["put"], ["put", "--append"]], ids=["put", "append"])
def test_a_put_that_is_killed_leaves_the_previous_version(
    tmp_path: Path, folder: Path, command: list[str], moment: str
) -> None:
    store, first, second = DatasetStore(folder), text(1, 50_000), noise(1, 12_000_000)
    put_bytes(store, "data", first, settings=ChunkSettings(average=64 << 10))
    (tmp_path / "large").write_bytes(second)
    process = start(*command, tmp_path / "large", "data", "--store", folder)
    while process.poll() is None and not MOMENTS[moment](store):
        time.sleep(0.001)
    process.kill()
    process.communicate()
    grown = first + second if "--append" in command else second
    for _ in range(2):
        versions = store.versions("data")
        assert versions in ([1], [1, 2])  # killed after its version was made, before it could say so
        assert [cat(store, f"data@{version}") for version in versions] == [first, grown][: len(versions)]
        assert_clean(store)
    if versions == [1]:
        assert len(list(store.packs.glob("*.pack"))) == 1
        assert run(*command, tmp_path / "large", "data", "--store", folder)[0] == 0
    assert cat(store, "data") == grown


def test_an_interrupted_put_leaves_the_store_clean_and_exits_130(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "first").write_bytes(b"first\n")
    (tmp_path / "large").write_bytes(noise(1, 30_000_000))
    run("put", tmp_path / "first", "data", "--store", folder)
    store = DatasetStore(folder)
    process = start("put", tmp_path / "large", "data", "--store", folder, "--average", "8K")
    while process.poll() is None and not any(path.stat().st_size for path in store.temporary.glob("*.pack")):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().strip() == "incoop: interrupted; what was finished is kept"
    assert list(store.temporary.iterdir()) == []
    assert len(list(store.packs.iterdir())) == 2
    assert store.versions("data") == [1]
    assert_clean(store)


def test_two_puts_at_once_make_two_versions(tmp_path: Path, folder: Path) -> None:
    contents = [text(number, 400_000) for number in range(4)]
    for number, content in enumerate(contents):
        (tmp_path / str(number)).write_bytes(content)
    processes = [start("put", tmp_path / str(number), "data", "--store", folder) for number in range(4)]
    names = []
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        names.append(out.decode().strip())
    store = DatasetStore(folder)
    assert sorted(names) == ["data@1", "data@2", "data@3", "data@4"]
    assert [cat(store, name) for name in names] == contents
    assert_clean(store)


@pytest.mark.parametrize("exists", [True, False], ids=["to a dataset", "to none yet"])
def test_appends_at_once_lose_nothing(tmp_path: Path, folder: Path, exists: bool) -> None:
    lines = [f"line of process {number}\n".encode() * 2000 for number in range(4)]
    for number, content in enumerate(lines):
        (tmp_path / str(number)).write_bytes(content)
    (tmp_path / "first").write_bytes(b"first\n")
    if exists:
        run("put", tmp_path / "first", "data", "--store", folder)
    processes = [start("put", "--append", tmp_path / str(number), "data", "--store", folder) for number in range(4)]
    for process in processes:
        _, err = process.communicate()
        assert process.returncode == 0, err
    store = DatasetStore(folder)
    found = cat(store, "data")
    assert len(found) == 6 * exists + sum(map(len, lines))
    assert all(content in found for content in lines)
    assert len(store.versions("data")) == 4 + exists
    assert_clean(store)


def test_a_collection_refuses_while_another_process_puts(tmp_path: Path, folder: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = start("put", fifo, "data", "--store", folder)
    with fifo.open("wb") as pipe:  # opens when the put reads: it is running now, and waits for us
        store = DatasetStore(folder)
        with pytest.raises(StoreBusy):
            collect(store)
        pipe.write(text(1, 100_000))
    process.communicate()
    assert process.returncode == 0
    collect(store)
    assert cat(store, "data") == text(1, 100_000)


def test_readers_go_on_while_versions_are_removed_and_collected(tmp_path: Path, folder: Path) -> None:
    store = DatasetStore(folder)
    content = text(1, 400_000)
    put_bytes(store, "kept", content[:100_000], settings=RABIN)
    for number in range(4):
        put_bytes(store, "old", content + text(number, 50_000), settings=RABIN)
        reader = start("cat", "kept", "--store", folder)
        store.remove("old")
        collect(store)
        out, err = reader.communicate()
        assert (reader.returncode, out == content[:100_000]) == (0, True), err
    assert_clean(store)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB; only root can mount one."""
    mount = tmp_path / "small"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mount)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no right to mount a small file system")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_a_full_disk_is_an_error_and_leaves_earlier_versions(tmp_path: Path, small_disk: Path) -> None:
    store = DatasetStore(small_disk / "store")
    put_bytes_to(tmp_path, store, "data", text(1, 100_000))
    (tmp_path / "large").write_bytes(noise(1, 5_000_000))
    with pytest.raises(StoreFull, match="No space left on device"):
        put(store, expand(tmp_path / "large"), "data")
    code, out, said = run("put", tmp_path / "large", "data", "--store", small_disk / "store")
    assert (code, out) == (1, b"")
    assert said.startswith("incoop: cannot write to ")
    code, out, said = run("put", "-", "data", "--store", small_disk / "store", stdin=noise(1, 5_000_000))
    assert (code, out) == (1, b"")
    assert list(store.temporary.iterdir()) == []
    assert cat(store, "data") == text(1, 100_000)
    assert_clean(store)


def test_a_disk_that_is_full_to_the_last_byte_is_the_same(tmp_path: Path, small_disk: Path) -> None:
    """Small writes meet the end too: indexes, manifests, the format file."""
    store = DatasetStore(small_disk / "store")
    put_bytes_to(tmp_path, store, "data", text(1, 10_000))
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    for round_ in range(10):
        try:
            put_bytes_to(tmp_path, store, "data", noise(round_, 9000))
        except StoreFull:
            assert list(store.temporary.iterdir()) == []
            assert len(list(store.packs.glob("*.pack"))) == len(list(store.packs.glob("*.index")))
            collect(store)  # the pack of a version that came to nothing
            os.truncate(filler, filler.stat().st_size - 4096)
        for version in store.versions("data"):
            cat(store, f"data@{version}")
    assert len(store.versions("data")) > 1, "at last there was room"
    assert_clean(store)


def put_bytes_to(tmp_path: Path, store: DatasetStore, name: str, content: bytes) -> None:
    (tmp_path / "source").write_bytes(content)
    put(store, expand(tmp_path / "source"), name)


def test_a_file_size_limit_is_a_full_store_too(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "large").write_bytes(noise(1, 3_000_000))

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    process = start("put", tmp_path / "large", "data", "--store", folder, preexec_fn=limit)
    out, err = process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert "File too large" in err.decode()
    assert "Traceback" not in err.decode()
    assert DatasetStore(folder).names() == []


def test_a_file_without_permission_is_named() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    program = """
import os, sys, tempfile, pathlib
from incoop.cli.main import main
import incoop.cli.put, inchdfs, incoop.inchdfs.store.index
work = pathlib.Path(tempfile.mkdtemp())
work.chmod(0o777)
(work / "secret").write_bytes(b"x")
(work / "secret").chmod(0o600)
(work / "closed").mkdir(mode=0o700)
child = os.fork()
if not child:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    sys.argv = ["incoop", "put", str(work / sys.argv[1]), "data", "--store", str(work / "store")]
    main()
status = os.waitpid(child, 0)[1]
import shutil
shutil.rmtree(work)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    for name in ("secret", "closed"):
        done = subprocess.run([sys.executable, "-c", program, name], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert f"/{name}: Permission denied. Nothing was stored" in done.stderr
        assert "Traceback" not in done.stderr
