"""gc, stats and verify on the command line."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from incoop.memo import MemoStore

from .places import Place, run_generation, task_id
from .servers import RealServer


def incoop(*words: object) -> subprocess.CompletedProcess[str]:
    call = "import sys; from incoop.cli.main import main; sys.argv[0] = 'incoop'; main()"
    return subprocess.run([sys.executable, "-c", call, *map(str, words)], capture_output=True, text=True, timeout=60)


@pytest.fixture
def used(folder: Path) -> Path:
    with MemoStore.open(folder) as store:
        run_generation(store, "word count", [1, 2, 3])
        run_generation(store, "word count", [2, 3, 4])
    return folder


@pytest.mark.parametrize("command", ["gc", "stats", "verify"])
def test_a_store_that_does_not_exist_is_an_error_and_nothing_is_created(tmp_path: Path, command: str) -> None:
    done = incoop(command, "--store", tmp_path / "nowhere")
    assert done.returncode == 1
    assert "there is no memo store" in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["gc", "stats", "verify"])
def test_help_shows_an_example(command: str) -> None:
    done = incoop(command, "--help")
    assert done.returncode == 0
    assert f"incoop {command}" in done.stdout
    assert "Examples:" in done.stdout
    for option in ("--store", "--memo", "--report"):
        assert option in done.stdout


@pytest.mark.parametrize(
    "words", [["gc", "--max-age", "soon"], ["gc", "--keep", "-1"], ["gc", "--max-bytes", "x"], ["stats", "more"],
              ["verify", "--memo", "http://x"]],
)  # fmt: skip
def test_a_wrong_call_has_exit_code_2(used: Path, words: list[str]) -> None:
    assert incoop(*words, "--store", used).returncode == 2


def test_gc_says_what_it_would_do_then_does_it(used: Path) -> None:
    planned = incoop("gc", "--dry-run", "--store", used, "--report", "json")
    assert planned.returncode == 0
    assert "memo: would remove 1 generations, 1 entries, 1 packs (2.9 KiB)" in planned.stdout
    facts = json.loads(planned.stderr.splitlines()[-1])
    assert facts["memo"]["entries_dropped"] == 1
    done = incoop("gc", "--store", used)
    assert "memo: removed 1 generations, 1 entries, 1 packs (2.9 KiB)" in done.stdout
    assert done.stderr == "", "no progress in a pipe"
    assert "removed 0 generations" in incoop("gc", "--store", used).stdout
    everything = incoop(
        "gc", "--keep", "0", "--max-age", "1d", "--max-bytes", "1G", "--max-entries", "9", "--store", used
    )
    assert "removed 1 generations, 3 entries, 3 packs" in everything.stdout


def test_gc_names_the_sessions_it_waits_for(used: Path) -> None:
    with MemoStore.open(used) as store:
        store.begin_generation("word count")
        done = incoop("gc", "--store", used, "--keep", "0")
        assert f"1 running ({os.uname().nodename}:{os.getpid()})" in done.stdout


def test_stats_count_by_job(used: Path) -> None:
    done = incoop("stats", "--store", used, "--report", "json")
    assert done.returncode == 0
    assert "entries   4" in done.stdout
    assert "word count            2     2             3     2     33.3%" in done.stdout
    facts = json.loads(done.stderr.splitlines()[-1])
    assert (facts["entries"], facts["packs"], facts["jobs"][0]["live"]) == (4, 4, 3)
    assert facts["hit_rate"] == facts["jobs"][0]["hit_rate"] == pytest.approx(1 / 3)


def test_verify_reports_then_drops_damage(used: Path) -> None:
    assert incoop("verify", "--store", used).stdout.endswith("all good\n")
    with MemoStore.open(used) as store:
        (entry,) = store.lookup([task_id(2)])
        assert entry is not None
        Place(used, None).pack_path(entry.pack).write_bytes(b"damaged")
    for words in (["--dry-run"], []):
        done = incoop("verify", "--store", used, "--report", "json", *words)
        assert done.returncode == 1
        assert "pack is damaged" in done.stdout
        facts = json.loads(done.stderr.splitlines()[-1])
        assert (facts["clean"], facts["entries_without_pack"]) == (False, 1)
    assert incoop("verify", "--store", used).returncode == 0


def test_the_commands_take_the_address_of_a_server(folder: Path) -> None:
    place = Place(folder, RealServer(folder.parent / "redis", "password"))
    try:
        with place.open() as store:
            run_generation(store, "job", [1])
        assert place.server is not None
        done = incoop("stats", "--store", folder, "--memo", place.server.url)
        assert done.returncode == 0
        assert "entries   1" in done.stdout
        wrong = incoop("gc", "--store", folder)
        assert wrong.returncode == 1
        assert "Open it with the memo address" in wrong.stderr
        place.server.kill()
        lost = incoop("verify", "--store", folder, "--memo", place.server.url)
        assert lost.returncode == 1
        assert "cannot reach Redis" in lost.stderr
        assert "horse" not in lost.stderr
    finally:
        place.close()


def test_progress_is_shown_on_a_terminal_only(used: Path) -> None:
    leader, follower = pty.openpty()
    call = "import sys; from incoop.cli.main import main; sys.argv[0] = 'incoop'; main()"
    command = [sys.executable, "-c", call, "verify", "--store", str(used)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower) as process:
        assert process.wait(60) == 0
    os.close(follower)
    shown = os.read(leader, 10_000).decode()
    os.close(leader)
    assert "entries" in shown
    assert shown.endswith("\x1b[K")
