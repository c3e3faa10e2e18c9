"""Commands start worker processes early where an input was written since the last index, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.engine.running.processes import Processes
from incoop.engine.running.zygote_handle import Zygote, take_early
from incoop.engine.stages import TASKS
from incoop.fronts.common.early import prepare_processes


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A store that indexed something in the year 2001."""
    indexes = tmp_path / "store" / "inchdfs" / "inputs"
    indexes.mkdir(parents=True)
    (indexes / "an.manifest").touch()
    os.utime(indexes / "an.manifest", (10**9, 10**9))
    yield tmp_path / "store"
    if (left := take_early(TASKS)) is not None:
        left.stop()


def started(store: Path, *inputs: str, master: str | None = None) -> bool:
    prepare_processes(store, inputs, master)
    found = take_early(TASKS)
    if found is not None:
        found.stop()
    return found is not None


def written(path: Path, when: int) -> str:
    path.write_text("a line\n")
    os.utime(path, (when, when))
    os.utime(path.parent, (when, when))
    return str(path)


def test_an_input_that_was_written_since_starts_them(store: Path, tmp_path: Path) -> None:
    new, old = written(tmp_path / "new.txt", 10**9 + 1), written(tmp_path / "old.txt", 10**9 - 1)
    assert started(store, new) and started(store, old, new)
    assert started(store, str(tmp_path / "n*.txt"))
    assert not started(store, old)
    assert not started(store, str(tmp_path / "missing.txt"))
    assert not started(store, "inchdfs:/words")
    assert not started(store, new, master="local[2]"), "Spark was asked for"
    assert started(tmp_path / "no store yet", old)


def test_a_folder_with_a_new_file_starts_them(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    written(folder / "a.txt", 10**9 - 1)
    assert not started(store, str(folder))
    written(folder / "b.txt", 10**9 + 1)
    os.utime(folder, (10**9 - 1, 10**9 - 1))
    assert started(store, str(folder))


def test_the_first_session_takes_what_was_started_and_ends_it(store: Path, tmp_path: Path) -> None:
    prepare_processes(store, [written(tmp_path / "new.txt", 10**9 + 1)], None)
    processes = Processes(TASKS)
    processes.start()
    zygote = processes.zygote
    assert isinstance(zygote, Zygote) and take_early(TASKS) is None
    processes.stop()
    assert not zygote.lives


def test_what_nobody_needed_is_ended_with_the_session(store: Path, tmp_path: Path) -> None:
    prepare_processes(store, [written(tmp_path / "new.txt", 10**9 + 1)], None)
    Processes(TASKS).stop()
    assert take_early(TASKS) is None
