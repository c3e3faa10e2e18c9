"""`incoop ingest` as people call it: batches, following, stops, kills, standard input, and wrong calls."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shlex
import signal
import subprocess
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from incoop.inchdfs import Dataset, DatasetStore, collect
from tests.chunk.commands import INCOOP, run, start
from tests.cli.command import incoop_here


def lines_in(work: Path, name: str = "logs") -> list[bytes]:
    store = DatasetStore(work / "incoop-store")
    return [line.encode() for line in Dataset(store, name).records()] if store.versions(name) else []


def wait_for(true: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def nothing_is_left(work: Path) -> None:
    store = DatasetStore(work / "incoop-store")
    assert store.leftovers() == []
    assert [path.name for path in store.folder.rglob("*lock*")] == ["lock"]


def numbered(low: int, high: int) -> bytes:
    return b"".join(b"line %06d\n" % number for number in range(low, high))


def test_what_is_there_is_taken_and_the_next_call_takes_what_came(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(numbered(0, 100) + b"unfinished")
    code, out, said = run("ingest", "a.log", "logs", cwd=tmp_path)
    assert (code, out) == (0, b"logs@1\n")
    assert said == "1.2 KiB in 100 lines from 1 files; 10 B not taken yet\n"
    code, out, said = run("ingest", "a.log", "logs", "--last-line", "--report", "json", cwd=tmp_path)
    facts = json.loads(said)
    assert (code, out, facts["bytes"], facts["lines"], facts["version"]) == (0, b"logs@2\n", 10, 0, "logs@2")
    assert facts.keys() == {
        *("version", "files", "lag", "lines_a_second", "bytes", "lines", "batches", "seconds"),
    }
    code, out, said = run("ingest", "a.log", "logs", cwd=tmp_path)
    assert (code, out, said) == (0, b"logs@2\n", "0 B in 0 lines from 1 files\n")
    assert run("cat", "logs", cwd=tmp_path)[1] == (tmp_path / "a.log").read_bytes()
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_commits_what_is_there_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "a.log").write_bytes(numbered(0, 10))
    process = start("ingest", "a.log", "logs", "--follow", "--batch", "1000s", cwd=tmp_path)
    wait_for(lambda: len(lines_in(tmp_path)) == 10)
    with (tmp_path / "a.log").open("ab") as file:
        file.write(numbered(10, 20))
    process.send_signal(number)
    out, said = process.communicate(timeout=120)
    assert (process.returncode, out, said) == (
        0,
        b"logs@2\n",
        b"240 B in 20 lines from 1 files\n",
    )
    assert len(lines_in(tmp_path)) == 20
    nothing_is_left(tmp_path)


def test_a_second_ingest_is_refused_and_one_after_a_kill_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(numbered(0, 10))
    first = start("ingest", "a.log", "logs", "--follow", cwd=tmp_path)
    wait_for(lambda: len(lines_in(tmp_path)) == 10)
    code, out, said = run("ingest", "a.log", "logs", cwd=tmp_path)
    assert (code, out) == (1, b"")
    assert said.startswith(f"incoop: another ingest into logs is running (process {first.pid})")
    assert run("ingest", "a.log", "others", cwd=tmp_path)[0] == 0
    first.kill()
    first.communicate()
    assert run("ingest", "a.log", "logs", cwd=tmp_path)[:2] == (0, b"logs@1\n")
    nothing_is_left(tmp_path)


def test_killed_again_and_again_while_a_log_is_written_and_rotated(tmp_path: Path) -> None:
    done = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        for turn in range(40):
            with (tmp_path / "a.log").open("ab", buffering=0) as file:
                for _ in range(10):
                    file.write(numbered(written, written + 50))
                    written += 50
                    time.sleep(0.01)
            if turn % 4 == 3:
                (tmp_path / "a.log").rename(tmp_path / f"a.log.{turn}")
                if turn % 8 == 7:
                    subprocess.run(["gzip", f"a.log.{turn}"], cwd=tmp_path, check=True)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        process = start("ingest", "a.log*", "logs", "--follow", "--batch", "4K|0.05s", cwd=tmp_path)
        done.wait(0.7 + os.urandom(1)[0] / 512)
        process.kill()
        process.communicate()
    writer.join()
    assert run("ingest", "a.log*", "logs", cwd=tmp_path)[0] == 0
    assert Counter(lines_in(tmp_path)) == Counter(numbered(0, written).splitlines())
    nothing_is_left(tmp_path)


def test_standard_input_is_taken_by_time_and_to_its_end(tmp_path: Path) -> None:
    process = start("ingest", "-", "logs", "--batch", "0.2s", cwd=tmp_path, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"first\nsec")
    process.stdin.flush()
    wait_for(lambda: lines_in(tmp_path) == [b"first"])
    process.stdin.write(b"ond\nlast without end")
    process.stdin.flush()
    wait_for(lambda: lines_in(tmp_path) == [b"first", b"second"])
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and out.startswith(b"logs@")
    assert lines_in(tmp_path) == [b"first", b"second", b"last without end"]
    code, _, _ = run("ingest", "-", "logs", cwd=tmp_path, stdin=b"another run\n")
    assert code == 0
    assert lines_in(tmp_path) == [b"first", b"second", b"last without end", b"another run"]
    nothing_is_left(tmp_path)


def test_standard_input_that_is_stopped_keeps_what_was_read(tmp_path: Path) -> None:
    process = start("ingest", "-", "logs", "--batch", "1000s", cwd=tmp_path, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(numbered(0, 1000))
    process.stdin.flush()
    pipe = process.stdin
    wait_for(lambda: not any(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))))
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    process.communicate()
    assert process.returncode == 0
    assert lines_in(tmp_path) == numbered(0, 1000).splitlines()


def test_standard_input_in_small_batches_with_a_line_longer_than_one(tmp_path: Path) -> None:
    content = numbered(0, 500) + b"x" * 100_000 + b"\n" + numbered(500, 600)
    code, _, said = run("ingest", "-", "logs", "--batch", "4K", "--keep", "3", cwd=tmp_path, stdin=content)
    assert (code, lines_in(tmp_path)) == (0, content.splitlines()), said
    assert len(DatasetStore(tmp_path / "incoop-store").versions("logs")) == 3


def test_a_status_line_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(numbered(0, 10))
    main, terminal = pty.openpty()
    process = start("ingest", "a.log", "logs", "--follow", cwd=tmp_path, stderr=terminal)
    os.close(terminal)
    shown = b""
    while b"1 files, 0 B behind" not in shown:
        shown += os.read(main, 1000)
    process.terminate()
    process.communicate(timeout=120)
    os.close(main)


def test_another_put_meanwhile_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(numbered(0, 10))
    (tmp_path / "b.log").write_bytes(b"b\n")
    process = start("ingest", "a.log", "logs", "--follow", "--batch", "0.1s", cwd=tmp_path)
    wait_for(lambda: len(lines_in(tmp_path)) == 10)
    assert run("put", "--append", "b.log", "logs", cwd=tmp_path)[1] == b"logs@2\n"
    assert run("put", "b.log", "logs", cwd=tmp_path)[1] == b"logs@3\n"
    with (tmp_path / "a.log").open("ab") as file:
        file.write(numbered(10, 20))
    wait_for(lambda: len(lines_in(tmp_path)) == 21)
    process.terminate()
    process.communicate(timeout=120)
    assert Counter(lines_in(tmp_path)) == Counter((numbered(0, 20) + b"b\n").splitlines())


def test_a_collection_between_batches_takes_nothing_that_is_needed(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "incoop-store")
    for turn in range(30):
        with (tmp_path / "a.log").open("ab") as file:
            file.write(numbered(turn * 10, turn * 10 + 10))
        assert incoop_here("ingest", "a.log", "logs", "--keep", "2", cwd=tmp_path).returncode == 0
        if turn % 5 == 4:
            collect(store)
    assert lines_in(tmp_path) == numbered(0, 300).splitlines()
    assert len(list(store.packs.glob("*.pack"))) <= 6


@pytest.mark.parametrize("batch", ["1M|300ms", "500ms", "64m", "1.5h|2G", "2m", "7 days"])
def test_a_batch_is_a_size_a_time_or_both(tmp_path: Path, batch: str) -> None:
    (tmp_path / "a.log").write_bytes(b"oak\n")
    assert incoop_here("ingest", "a.log", "logs", "--batch", batch, cwd=tmp_path).returncode == 0


#: The words, what is said, the exit code.
WRONG = [
    (["ingest"], "Missing argument", 2),
    (["ingest", "a.log"], "Missing argument", 2),
    (["ingest", "gone.log", "logs"], "gone.log: there is no log file", 1),
    (["ingest", "*.nothing", "logs"], "there is no log file", 1),
    (["ingest", "a.log", "no name"], "is not a dataset name", 2),
    (["ingest", "a.log", "logs@3"], "without @3", 2),
    (["ingest", "-", "a.log", "logs"], "cannot be mixed", 2),
    (["ingest", "s3://bucket/a.log", "logs"], "s3 is not read here", 2),
    (["ingest", "a.log", "logs", "--batch", "often"], "is no batch; write a size (64M), a time (10s), or both", 2),
    (["ingest", "a.log", "logs", "--batch", "0s"], "is no batch", 2),
    (["ingest", "a.log", "logs", "--batch", "-4M"], "is no batch", 2),
    (["ingest", "a.log", "logs", "--keep", "0"], "--keep", 2),
    (["ingest", "a.log", "logs", "--average", "1"], "chunk sizes must satisfy", 2),
    (["ingest", "a.log", "table"], "not lines; name another dataset", 2),
    (["ingest", "a.log", "logs", "--average", "4K"], "leave those options out", 2),
    (["ingest", "pipe", "logs"], "there is no log file", 1),
]


@pytest.mark.parametrize(("words", "said", "code"), WRONG, ids=[" ".join(words) for words, _, _ in WRONG])
def test_a_wrong_call_says_what_is_wrong(tmp_path: Path, words: list[str], said: str, code: int) -> None:
    (tmp_path / "a.log").write_bytes(b"a,b\n")
    os.mkfifo(tmp_path / "pipe")
    incoop_here("put", "a.log", "table", "--records", "csv", cwd=tmp_path)
    incoop_here("ingest", "a.log", "logs", cwd=tmp_path)
    done = incoop_here(*words, cwd=tmp_path)
    assert done.returncode == code and said in done.stderr.replace("\n", " "), done.stderr
    assert "Traceback" not in done.stderr


def test_names_that_command_a_terminal_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "\x1b[2J.gz").write_bytes(b"no gzip")
    os.utime(tmp_path / "\x1b[2J.gz", (1, 1))
    (tmp_path / "a.log").write_bytes(b"fine\n")
    done = incoop_here("ingest", ".", "logs", cwd=tmp_path)
    assert done.returncode == 0 and "\x1b" not in done.stderr and "\\x1b[2J.gz: " in done.stderr


def test_more_files_than_the_system_lets_us_open(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(300):
        (tmp_path / "logs" / f"{number}.log").write_bytes(b"line %d\nunfinished" % number)
    call = f"ulimit -n 64; exec {shlex.join(INCOOP)} ingest logs logs"
    done = subprocess.run(["sh", "-c", call], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "in 300 lines from 300 files" in done.stderr, done.stderr
    assert Counter(lines_in(tmp_path)) == Counter(b"line %d" % number for number in range(300))


def test_closed_standard_input_is_said(tmp_path: Path) -> None:
    call = f"exec {shlex.join(INCOOP)} ingest - logs <&-"
    done = subprocess.run(["sh", "-c", call], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "standard input is closed" in done.stderr


def test_help_shows_examples() -> None:
    done = subprocess.run([*INCOOP, "ingest", "--help"], capture_output=True, text=True, check=True)
    assert "journalctl -f | incoop ingest - journal" in done.stdout
