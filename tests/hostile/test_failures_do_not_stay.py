"""A failure is one sentence with a remedy; it leaves nothing behind, and the next run works."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import incoop
from incoop.inchdfs import DatasetStore, expand, put
from incoop.memo import MemoStore
from tests.cli.command import CALL
from tests.cli.command import incoop as command
from tests.memo.conftest import servers_below

from .conftest import COUNTED


def one_screen(said: str) -> bool:
    """A sentence or two, not what Python says of an error in our code."""
    return said.startswith("incoop: ") and "Traceback" not in said and said.count("\n") <= 10


def on_a_file(place: Path) -> Path:
    place.write_text("a file")
    return place


def in_a_loop(place: Path) -> Path:
    place.symlink_to(place)
    return place


def below_a_file(place: Path) -> Path:
    place.write_text("a file")
    return place / "store"


STORES: dict[str, Callable[[Path], Path]] = {
    "on a file": on_a_file,
    "below a file": below_a_file,
    "a link to itself": in_a_loop,
    "a name too long": lambda place: place / ("x" * 5000),
    "a path too long": lambda place: place.joinpath(*["long-name"] * 600),
    "a null character": lambda place: place / "a\0b",
}


@pytest.mark.parametrize("how", STORES)
def test_a_store_that_cannot_be_is_one_sentence(tmp_path: Path, how: str) -> None:
    store = STORES[how](tmp_path / "place")
    (tmp_path / "words.txt").write_text("oak\n")
    for call in (
        lambda: MemoStore.open(store),
        lambda: incoop.connect(store),
        lambda: put(DatasetStore(store), expand(tmp_path / "words.txt"), "data"),
    ):
        with pytest.raises(incoop.IncoopError) as refused:
            call()
        assert re.search("store|path", str(refused.value)) and "\n" not in str(refused.value)


def test_a_session_that_was_closed_runs_nothing(tmp_path: Path) -> None:
    from .test_output_folder import JOB

    (tmp_path / "words.txt").write_text("oak\n")
    session = incoop.connect(tmp_path / "store")
    session.close()
    for call in (
        lambda: session.run(JOB, tmp_path / "words.txt"),
        lambda: session.explain(JOB, tmp_path / "words.txt"),
        lambda: session.verify(JOB, tmp_path / "words.txt", 1.0),
        lambda: session.textFile(str(tmp_path / "words.txt")).collect(),
        lambda: session.spark,
    ):
        with pytest.raises(incoop.IncoopError, match="closed"):
            call()
    assert session._workforce.processes._zygote is None
    assert servers_below(tmp_path) == []


def test_a_full_disk_does_not_stay(small_disk: Path, tmp_path: Path) -> None:
    """In a program that lives on: what it left is gone, and with room there the same session works."""
    from .test_output_folder import JOB

    lines = "".join(f"word{number} larch\n" for number in range(60_000))
    (tmp_path / "words.txt").write_text(lines)
    with incoop.connect(small_disk / "store") as session:
        ballast = small_disk / "ballast"
        with ballast.open("wb") as file:
            free = os.statvfs(small_disk)
            file.write(bytes(free.f_bavail * free.f_frsize - 200_000))
        with pytest.raises(incoop.IncoopError) as failed:
            session.run(JOB, tmp_path / "words.txt")
        assert "space" in str(failed.value)
        assert list((small_disk / "store").rglob("tmp/*")) == []
        ballast.unlink()
        assert dict(session.run(JOB, tmp_path / "words.txt"))["larch"] == 60_000
        assert list((small_disk / "store").rglob("tmp/*")) == []
    with incoop.connect(small_disk / "store") as session:
        result = session.run(JOB, tmp_path / "words.txt")
        assert result.report.map.executed == 0
        ballast.write_bytes(b"")
        free = os.statvfs(small_disk)
        ballast.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - 8192)))
        with pytest.raises(incoop.IncoopError, match="cannot write part files"):
            result.save(small_disk / "out")
        ballast.unlink()
        result.save(small_disk / "out")


def test_a_disk_too_full_to_begin_is_one_sentence(small_disk: Path, job_file: Path) -> None:
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk)
    ballast.write_bytes(bytes(free.f_bavail * free.f_frsize))
    for call in (lambda: incoop.connect(small_disk / "store"), lambda: MemoStore.open(small_disk / "store")):
        with pytest.raises(incoop.IncoopError, match="cannot use the store"):
            call()
    words = job_file.parent / "words.txt"
    done = command("run", job_file, words, "--store", small_disk / "store")
    assert done.returncode == 1 and one_screen(done.stderr), done.stderr
    ballast.unlink()
    assert command("run", job_file, words, "--store", small_disk / "store").stdout == COUNTED


@pytest.mark.timeout(60)
def test_too_few_open_files_are_one_sentence_soon(job_file: Path) -> None:
    """The server says so in its log and is gone: it is not waited for."""
    call = [sys.executable, "-c", CALL, "run", job_file, job_file.parent / "words.txt", "--store", "store"]
    words = ["bash", "-c", 'ulimit -n 20; exec "$@"', "bash", *map(str, call)]
    done = subprocess.run(words, cwd=job_file.parent, capture_output=True, text=True)
    assert done.returncode == 1 and one_screen(done.stderr) and "ulimit -n" in done.stderr, done.stderr
    assert command(*call[3:], cwd=job_file.parent).stdout == COUNTED


def test_a_read_only_disk_is_one_sentence(small_disk: Path, job_file: Path) -> None:
    words = job_file.parent / "words.txt"
    assert command("run", job_file, words, "--store", small_disk / "store").stdout == COUNTED
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for call in (["run", job_file, words], ["gc"], ["verify"], ["stats"], ["put", words, "words"]):
        done = command(*call, "--store", small_disk / "store")
        assert done.returncode == 1 and one_screen(done.stderr), (call, done.stderr)
    with pytest.raises(incoop.IncoopError, match="cannot use the store"):
        MemoStore.open(small_disk / "store")
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    assert servers_below(small_disk) == []
    assert command("run", job_file, words, "--store", small_disk / "store").stdout == COUNTED


def test_output_to_a_full_disk_is_one_sentence(job_file: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", CALL, "run", str(job_file), str(tmp_path / "words.txt"), "--report", "none"],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 1 and one_screen(done.stderr), done.stderr


def test_what_a_killed_run_left_the_next_command_clears_away(tmp_path: Path, job_file: Path) -> None:
    store = tmp_path / "store"
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time, incoop\n"
        "def slowly(_, line):\n    time.sleep(60)\n    yield line, 1\n"
        "job = incoop.Job('slow', mapper=slowly, memoize=False)\n"
    )
    words = [sys.executable, "-c", CALL, "run", str(slow), str(tmp_path / "words.txt"), "--store", str(store)]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not list(store.glob("unmemoized-*")) or not servers_below(tmp_path):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # As a worker that was killed in the middle of a pack and of a put leaves them.
    (store / "memo" / "packs" / "tmp").mkdir(parents=True, exist_ok=True)
    (store / "memo" / "packs" / "tmp" / f"{process.pid}-{'ab' * 8}").write_bytes(b"half")
    (store / "memo" / f".store.json.{process.pid}-{'cd' * 8}").write_bytes(b"half")
    (store / "inchdfs" / "temporary" / f"{process.pid}-{'ef' * 8}.pack").write_bytes(b"half")
    done = command("run", job_file, tmp_path / "words.txt", "--store", store)
    assert done.stdout == COUNTED, done.stderr
    left = {path.name for path in store.rglob("*") if str(process.pid) in path.name}
    assert left == set()
    assert servers_below(tmp_path) == []


def test_the_folder_of_a_command_whose_task_was_killed_goes_with_the_next_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incoop.fronts.streaming import task_folders

    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp" / "incoop-task-of nobody").mkdir(parents=True)
    (tmp_path / "tmp" / "another").mkdir()
    program = (
        "from incoop.fronts.streaming.task_folders import task_folder\n"
        "with task_folder() as folder:\n"
        "    (folder / 'file').touch()\n"
        "    print(folder, flush=True)\n"
        "    input()\n"
    )
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as task:
        assert task.stdout is not None
        folder = Path(task.stdout.readline().strip())
        monkeypatch.setattr(task_folders, "_NEW", -1.0)
        task_folders.clear_task_folders()
        assert [path.name for path in sorted((tmp_path / "tmp").iterdir())] == ["another", folder.name], "it lives"
        task.kill()
    (tmp_path / "words.txt").write_text("oak\n")
    job = ["-input", tmp_path / "words.txt", "-output", tmp_path / "out", "-mapper", "cat", "-reducer", "NONE"]
    from tests.cli.command import incoop_here

    done = incoop_here("streaming", *job, "--store", tmp_path / "store", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["another"]


def test_a_terminal_is_not_commanded(tmp_path: Path) -> None:
    name = "\x1b[2J\x1b]0;owned\x07.txt"
    done = command("put", tmp_path / name, "data", "--store", tmp_path / "store")
    assert done.returncode == 1 and "\\x1b[2J" in done.stderr and "\x1b" not in done.stderr
    done = command("run", "x.py", "y", "--\x1b[2J")
    assert done.returncode == 2 and "\x1b" not in done.stderr


@pytest.fixture(scope="module")
def redis_7(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Redis whose log has several parts, and a list of them: the machine's, or Debian's, unpacked into a folder."""
    folder = tmp_path_factory.mktemp("redis-7")
    packages = ["redis-server", "redis-tools", "liblzf1", "libjemalloc2"]
    if (found := shutil.which("redis-server")) is None or not has_parts(found):
        if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
            pytest.skip("there is no Redis 7 here, and no apt-get to get one")
        got = subprocess.run(["apt-get", "download", *packages], cwd=folder, capture_output=True, timeout=120)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True)
        libraries = {str(path.parent) for path in folder.rglob("*.so.*")}
        found = str(folder / "redis-server")
        server = folder / "usr" / "bin" / "redis-server"
        Path(found).write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={":".join(libraries)} exec {server} "$@"\n')
        Path(found).chmod(0o755)
        if not has_parts(found):
            pytest.skip(f"there is no Redis 7 here, and apt-get gave none: {got.stderr.decode()[-200:]}")
    return Path(found)


def has_parts(server: str) -> bool:
    done = subprocess.run([server, "--version"], capture_output=True, text=True)
    found = re.search(r"v=(\d+)\.", done.stdout)
    return found is not None and int(found[1]) >= 7


@pytest.mark.parametrize("damage", ["empty", "junk", "a part gone", "the list gone"])
def test_a_damaged_list_of_redis_7_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis_7: Path, damage: str
) -> None:
    from incoop.memo.binary import OVERRIDE
    from incoop.memo.events import DidFindEmptyMemo, DidSetAsideMemo

    monkeypatch.setenv(OVERRIDE, str(redis_7))
    MemoStore.open(tmp_path / "store").close()
    parts = tmp_path / "store" / "memo" / "server" / "appendonlydir"
    if damage == "a part gone":
        (parts / "appendonly.aof.1.base.rdb").unlink()
    elif damage == "the list gone":
        (parts / "appendonly.aof.manifest").unlink()
    else:
        (parts / "appendonly.aof.manifest").write_text("" if damage == "empty" else "what is this")
    with MemoStore.open(tmp_path / "store") as store:
        assert store.events.of(DidFindEmptyMemo if damage == "the list gone" else DidSetAsideMemo)
    with MemoStore.open(tmp_path / "store") as store:
        assert not store.events.events
