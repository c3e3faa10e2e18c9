"""Files that are many, large, strange or hostile: said once where nothing can be taken, and no harm to the others."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from tests.ingest.shipper import Shipper, add, age, each_once, numbered


def test_more_files_than_may_be_open(tmp_path: Path, logs: Path) -> None:
    shipper = Shipper(tmp_path / "store", logs, most_open=3)
    for turn in range(3):
        for number in range(10):
            add(logs / f"{number}.log", numbered(number * 1000 + turn * 10, number * 1000 + turn * 10 + 10))
        for _ in range(4):
            shipper.poll()
        assert sum(stream.home is not None for stream in shipper.homes.streams) == 3
    (logs / "4.log").rename(logs / "4.log.1")
    add(logs / "4.log.1", b"late\n")
    shipper.poll()
    each_once(shipper, *(numbered(number * 1000, number * 1000 + 30) for number in range(10)), b"late\n")
    assert len(shipper.by_stream()) == 10


def test_more_files_than_may_be_open_none_of_which_ends_with_a_newline(tmp_path: Path, logs: Path) -> None:
    for number in range(10):
        add(logs / f"{number}.log", b"%d\nunfinished" % number)
    shipper = Shipper(tmp_path / "store", logs, most_open=3)
    for _ in range(4):
        shipper.poll()
    assert sorted(shipper.lines()) == [b"%d" % number for number in range(10)]
    for number in range(10):
        add(logs / f"{number}.log", b" now\n")
        for _ in range(2):
            shipper.poll()
    assert Counter(shipper.lines()) == Counter([b"unfinished now"] * 10 + [b"%d" % number for number in range(10)])


def test_a_small_budget_serves_every_file(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", numbered(0, 1000))
    add(logs / "b.log", numbered(5000, 5010))
    shipper.look()
    for _ in range(3):
        assert shipper.take(budget=1000) is not None
    assert numbered(5000, 5010) in shipper.content(), "the first is not served until it is done"
    assert len(shipper.content()) < 7000
    shipper.poll(budget=1000)
    each_once(shipper, numbered(0, 1000), numbered(5000, 5010))


def test_a_line_longer_than_a_batch(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", b"x" * 100_000 + b"\nshort\n")
    shipper.poll(budget=1000)
    assert shipper.lines() == [b"x" * 100_000, b"short"]


def test_a_line_without_end_is_said_and_does_not_stop_the_others(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incoop.inchdfs.ingest.whole_lines.LONGEST_LINE", 50_000)
    add(logs / "a.log", b"fine\n" + b"x" * 2_000_000 + b"\nlater\n")
    add(logs / "b.log", b"other\n")
    for _ in range(3):
        shipper.poll(budget=1000)
    assert shipper.lines() in ([b"fine", b"other"], [b"other", b"fine"], [b"other"])
    assert len(shipper.said) == 1 and "a line is longer than 50000 bytes" in shipper.said[0]


def test_files_that_cannot_be_read_are_said_once_and_do_not_stop_the_others(tmp_path: Path, logs: Path) -> None:
    (logs / "good.log").write_bytes(numbered(0, 5))
    (logs / "no.gz").write_bytes(b"this is no gzip")
    age(logs / "no.gz")
    os.mkfifo(tmp_path / "pipe")
    (logs / "link").symlink_to("nowhere")
    (logs / "loop").symlink_to(logs)
    shipper = Shipper(tmp_path / "store", logs, tmp_path / "pipe", tmp_path / "gone.log", "/dev/zero")
    for _ in range(3):
        shipper.poll()
    assert shipper.content() == numbered(0, 5)
    assert sorted(said.partition(":")[0] for said in shipper.said) == sorted(
        map(str, [logs / "no.gz", tmp_path / "pipe", tmp_path / "gone.log", "/dev/zero"])
    )
    (tmp_path / "gone.log").write_bytes(b"here it is\n")
    (logs / "no.gz").write_bytes(gzip.compress(b"mended\n"))
    shipper.poll()
    each_once(shipper, numbered(0, 5), b"here it is\nmended\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_taken_when_it_has_one(shipper: Shipper, logs: Path) -> None:
    (logs / "a.log").write_bytes(b"secret\n")
    (logs / "a.log").chmod(0)
    shipper.poll()
    assert shipper.content() == b"" and len(shipper.said) == 1
    (logs / "a.log").chmod(0o600)
    shipper.poll()
    assert shipper.content() == b"secret\n"


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".bz2", bz2.compress), (".zst", zstandard.ZstdCompressor().compress)],
)
def test_a_bomb_is_refused(
    shipper: Shipper, logs: Path, suffix: str, compress, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("incoop.inchdfs.files.sources._LONG_RECORD", 1 << 20)
    monkeypatch.setattr("incoop.inchdfs.files.sources._MOST_TIMES", 10)
    (logs / f"bomb{suffix}").write_bytes(compress(numbered(0, 10) * 20_000))
    assert (logs / f"bomb{suffix}").stat().st_size < 100_000
    age(logs / f"bomb{suffix}")
    (logs / "good.log").write_bytes(b"fine\n")
    shipper.poll()
    assert shipper.content() == b"fine\n"
    assert len(shipper.said) == 1 and "stands for more than 1048576 bytes" in shipper.said[0]


def test_names_that_are_no_text(tmp_path: Path, logs: Path) -> None:
    path = os.fsdecode(os.fsencode(logs) + b"/\xff\x1b[2J.log")
    Path(path).write_bytes(b"fine\n")
    shipper = Shipper(tmp_path / "store", logs)
    shipper.poll()
    shipper.kill()
    add(Path(path), b"more\n")
    shipper.poll()
    assert shipper.content() == b"fine\nmore\n" and len(shipper.by_stream()) == 1


def test_the_store_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"fine\n")
    shipper = Shipper(tmp_path / "store", tmp_path)
    for _ in range(3):
        shipper.poll()
        shipper.kill()
    assert shipper.content() == b"fine\n"


MEMORY = """
import resource, sys, threading
from incoop.inchdfs import DatasetStore
from incoop.inchdfs.ingest.follow import IngestOptions, ingest
ingest(DatasetStore("store"), ["small.log"], "logs", IngestOptions(), tell=print)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
done = ingest(DatasetStore("store"), ["large.log"], "logs", IngestOptions(), tell=print)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, done.bytes)
"""


def test_memory_does_not_grow_with_what_there_is_to_take(tmp_path: Path) -> None:
    (tmp_path / "small.log").write_bytes(numbered(0, 10))
    block = numbered(0, 50_000)
    with (tmp_path / "large.log").open("wb") as file:
        for number in range(150):
            file.write(b"block %d\n" % number + block)
    words = [sys.executable, "-c", MEMORY]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    grown, taken = map(int, done.stdout.split())
    assert taken == (tmp_path / "large.log").stat().st_size > 150 << 20
    assert grown < 64
