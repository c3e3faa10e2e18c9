"""Folders that somebody else made: deeper than any stack, with more ways through their links than anybody can walk."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.inchdfs import Dataset, DatasetStore, expand
from incoop.inchdfs.errors import InputUnreadable
from incoop.inchdfs.ingest.listing import LogListing, Troubles
from tests.cli.command import incoop_here

from .test_planted_store import AsOther

#: Levels: below the longest path that the system takes, and more than Python calls itself.
LEVELS = 1500


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A file in more folders than Python's stack holds, and one beside the first of them."""
    top = tmp_path / "deep"
    top.mkdir()
    handle = os.open(top, os.O_RDONLY)
    for _ in range(LEVELS):
        os.mkdir("a", dir_fd=handle)
        inner = os.open("a", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("x.log", os.O_WRONLY | os.O_CREAT, dir_fd=handle))
    os.close(handle)
    (top / "y.log").write_text("oak\n")
    yield top
    subprocess.run(["rm", "-rf", top], check=True)  # shutil.rmtree calls itself, too


@pytest.mark.timeout(60)
def test_folders_may_be_as_deep_as_they_like(deep: Path) -> None:
    said: list[str] = []
    assert [file.path.name for file in expand(deep)] == ["x.log", "y.log"]
    assert {Path(seen.path).name for seen in LogListing([str(deep)], Troubles(said.append), deep / "s").look()} == {
        "x.log",
        "y.log",
    }
    assert said == []


def test_a_pattern_that_is_too_deep_is_one_sentence(deep: Path) -> None:
    with pytest.raises(InputUnreadable, match="nested too deeply for a pattern"):
        expand(f"{deep}/**/*.log")
    said: list[str] = []
    assert LogListing([f"{deep}/**"], Troubles(said.append), deep / "s").look() == []
    assert len(said) == 1 and "nested too deeply" in said[0]


@pytest.mark.timeout(60)
def test_links_between_folders_end(tmp_path: Path) -> None:
    """Fourteen folders that link to each other: there are 236,975,164,805 ways through them."""
    for number in range(14):
        folder = tmp_path / "logs" / str(number)
        folder.mkdir(parents=True)
        (folder / "f.log").write_text(f"line {number}\n")
        for other in range(14):
            if other != number:
                (folder / f"to-{other}").symlink_to(f"../{other}")
    with pytest.raises(InputUnreadable, match="links lead to it in more than 100 ways"):
        expand(tmp_path / "logs")
    said: list[str] = []
    found = LogListing([str(tmp_path / "logs")], Troubles(said.append), tmp_path / "store").look()
    assert len({seen.inode for seen in found}) == 14 and 0 < len(said) <= 14
    done = incoop_here("ingest", tmp_path / "logs", "data", "--store", tmp_path / "store", cwd=tmp_path)
    assert done.returncode == 0 and "14 lines" in done.stderr, done.stderr


def test_links_of_other_users_lead_to_their_own_files_alone(tmp_path: Path, commons: Path, as_other: AsOther) -> None:
    """Whoever may write to a folder of logs would else have any file of ours taken."""
    (commons / "secrets").mkdir()
    (commons / "secrets" / "key.log").write_text("secret\n")
    logs = commons / "logs"

    def plant() -> None:
        logs.mkdir()
        (logs / "own.log").write_text("theirs\n")
        (logs / "link.log").symlink_to(logs / "own.log")
        (logs / "file.log").symlink_to(commons / "secrets" / "key.log")
        (logs / "own.log.1").symlink_to(commons / "secrets" / "key.log")
        (logs / "folder").symlink_to(commons / "secrets")

    as_other(plant)
    (logs / "ours.log").symlink_to(commons / "ours.txt")
    (commons / "ours.txt").write_text("ours\n")
    for sources in ([logs], [logs / "own.log", logs / "file.log"], [f"{logs}/*.log*"]):
        done = incoop_here("ingest", *sources, "data", "--store", tmp_path / "store", cwd=tmp_path)
        assert done.returncode == 0 and "a link of another user's (number 65534)" in done.stderr, done.stderr
    taken = b"".join(Dataset(DatasetStore(tmp_path / "store"), "data").chunks())
    assert sorted(taken.splitlines()) == [b"ours", b"theirs"]


def test_the_store_is_no_log_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "a.log").write_text("oak\n")
    (tmp_path / "link").symlink_to("store")
    (tmp_path / "b.log").write_text("ash\n")
    found = LogListing([str(tmp_path)], Troubles(print), tmp_path / "store").look()
    assert [seen.name for seen in found] == ["b.log"]
