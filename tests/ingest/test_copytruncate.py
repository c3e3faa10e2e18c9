"""Logs that are copied and truncated: what is in a file or its copy arrives, and nothing twice."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from incoop.inchdfs.ingest.log_file import LogFile
from tests.ingest.shipper import Shipper, add, copytruncate, each_once, numbered


@pytest.mark.parametrize("killed", [False, True])
def test_copytruncate_takes_what_is_in_the_copy_once(shipper: Shipper, logs: Path, killed: bool) -> None:
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))  # not looked at before
    copytruncate(logs / "a.log", logs / "a.log.1")
    add(logs / "a.log", numbered(200, 250))
    if killed:
        shipper.kill()
    shipper.poll()
    add(logs / "a.log", numbered(250, 300))
    shipper.poll()
    each_once(shipper, numbered(0, 300))


@pytest.mark.parametrize("part", [0.3, 1.0], ids=["half copied", "copied"])
def test_a_restart_in_the_middle_of_a_copytruncate(shipper: Shipper, logs: Path, part: float) -> None:
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 150))
    content = (logs / "a.log").read_bytes()
    (logs / "a.log.1").write_bytes(content[: int(part * len(content))])
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 150))
    (logs / "a.log.1").write_bytes(content)
    shipper.poll()
    os.truncate(logs / "a.log", 0)
    shipper.poll()
    add(logs / "a.log", numbered(150, 180))
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 180))


def test_lines_taken_between_copy_and_truncate_are_kept_and_the_copy_is_not_taken_again(
    shipper: Shipper, logs: Path
) -> None:
    add(logs / "a.log", numbered(0, 100))
    shutil.copyfile(logs / "a.log", logs / "a.log.1")
    add(logs / "a.log", numbered(100, 120))
    shipper.poll()
    os.truncate(logs / "a.log", 0)
    for name in ("a.log.1", "a.log.2"):
        shipper.poll()
        shipper.kill()
        (logs / name).rename(logs / f"a.log.{int(name[-1]) + 1}")
    shipper.poll()
    each_once(shipper, numbered(0, 120))


@pytest.mark.parametrize("killed", [False, True])
def test_a_hole_of_nuls_that_a_writer_not_in_append_mode_leaves(shipper: Shipper, logs: Path, killed: bool) -> None:
    with (logs / "a.log").open("wb", buffering=0) as writer:
        for turn in range(3):
            writer.write(numbered(turn * 100, turn * 100 + 80))
            shipper.poll()
            copytruncate(logs / "a.log", logs / f"a.log-2024010{turn}")
            writer.write(numbered(turn * 100 + 80, turn * 100 + 100))
            if killed:
                shipper.kill()
            shipper.poll()
        assert (logs / "a.log").read_bytes().startswith(b"\0" * 1000)
    shipper.poll()  # the one before saw that the file is another one now
    each_once(shipper, numbered(0, 300))


def test_a_hole_that_is_larger_than_the_disk_costs_nothing(shipper: Shipper, logs: Path) -> None:
    with (logs / "a.log").open("wb") as file:
        file.truncate(1 << 40)
        began = time.monotonic()
        shipper.poll()
        file.seek(1 << 40)
        file.write(b"at last\n")
    shipper.poll()
    assert time.monotonic() - began < 60, "it read the hole"
    assert shipper.content() == b"at last\n"


@pytest.mark.parametrize("taken", [0, 300], ids=["a new log", "one that is known"])
@pytest.mark.parametrize("regrown", [200, 3000], ids=["shorter", "longer"])
def test_a_log_that_is_copied_and_truncated_while_it_is_read(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch, taken: int, regrown: int
) -> None:
    if taken:
        add(logs / "a.log", numbered(0, taken))
        shipper.poll()
    add(logs / "a.log", numbered(taken, 2000))
    shipper.look()
    monkeypatch.setattr("incoop.inchdfs.ingest.whole_lines._PIECE", 5000)
    real, reads = LogFile.read_into, 0

    def read_into(file: LogFile, position: int, target: memoryview) -> int:
        nonlocal reads
        reads += len(target) == 5000
        if reads == 3 and len(target) == 5000:
            copytruncate(logs / "a.log", logs / "a.log.1")
            add(logs / "a.log", numbered(5000, 5000 + regrown))
        return real(file, position, target)

    with monkeypatch.context() as patch:
        patch.setattr(LogFile, "read_into", read_into)
        shipper.take()
    assert reads >= 3
    for _ in range(2):
        shipper.poll()
    each_once(shipper, numbered(0, 2000), numbered(5000, 5000 + regrown))


def test_a_copy_that_was_seen_beside_its_log_is_read_to_its_end_when_the_log_is_truncated(
    shipper: Shipper, logs: Path
) -> None:
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))
    shutil.copyfile(logs / "a.log", logs / "a.log.1")
    shipper.look()
    os.truncate(logs / "a.log", 0)
    shipper.poll()
    each_once(shipper, numbered(0, 200))


def test_a_copy_of_what_was_never_taken_is_taken_when_its_log_is_another_one(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", numbered(0, 100))
    shutil.copyfile(logs / "a.log", logs / "a.log.1")
    shipper.look()
    os.truncate(logs / "a.log", 0)
    add(logs / "a.log", numbered(500, 800))  # longer than it was
    for _ in range(2):
        shipper.poll()
    each_once(shipper, numbered(0, 100), numbered(500, 800))
