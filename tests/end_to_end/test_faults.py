"""Whatever happens to the store, results stay right; what was lost is computed again, and said."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import incoop
from incoop import inchdfs
from incoop.engine.failures import ChangesLost, ResultLost
from incoop.memo import MemoStore, collect

from .histories import Files, as_set, by_hand, edited, random_history, some_lines, spark_jobs
from .jobs import COUNTING, JOBS, counting_total, counting_words, listed, total, words
from .places import Place, damage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LINES = some_lines(random.Random(4), 250)
WORD_COUNT = incoop.Job("word count", words, total, total)
LISTS = incoop.Job("lists", words, listed)
KINDS = pytest.mark.parametrize("job", [WORD_COUNT, LISTS], ids=lambda job: job.name)


def is_right(result: incoop.Result, job: incoop.Job, files: Files) -> bool:
    return as_set(result.collect()) == as_set(by_hand(job, files))


@pytest.mark.parametrize("seed", range(2))
@KINDS
def test_damaged_packs_between_runs_are_computed_again(job: incoop.Job, seed: int, place: Place) -> None:
    rng = random.Random(seed)
    version: Files = {"a.txt": LINES[:150], "b.txt": LINES[150:]}
    for _ in range(3):
        place.write(version)
        result = place.run(job)
        assert is_right(result, job, version)
        share = rng.choice([0.2, 0.6, 1.0])
        for pack in place.packs:
            if rng.random() < share:
                damage(pack, rng)
        version = edited(version, rng.choice(["insert", "change one word", "delete", "append", "nothing"]), rng)
    place.write(version)
    last = place.run(job)
    assert is_right(last, job, version)
    with place.scratch() as session:
        assert session.run(job, str(place.input)).root == last.root


@KINDS
@pytest.mark.parametrize("how", ["delete", "truncate", "flip"])
def test_damage_between_a_run_and_its_iteration_is_mended_and_said(job: incoop.Job, how: str, place: Place) -> None:
    files = {"input.txt": LINES}
    place.write(files)
    result = place.run(job)
    counters = dict(result.report.counters)
    for pack in place.packs:
        if how == "delete":
            pack.unlink()
        else:
            data = pack.read_bytes()
            pack.write_bytes(data[: len(data) // 2] if how == "truncate" else bytes(byte ^ 255 for byte in data))
    assert is_right(result, job, files)
    assert any("computed again" in warning for warning in result.report.warnings)
    assert result.report.counters == counters
    before = spark_jobs(place.spark)
    again = place.run(job)
    assert is_right(again, job, files)
    assert again.report.warnings == []
    assert spark_jobs(place.spark) == before  # what was computed again is kept


def test_a_lost_result_is_not_mixed_with_that_of_a_changed_input(place: Place) -> None:
    place.write(LINES)
    result = place.run(WORD_COUNT)
    for pack in place.packs:
        pack.unlink()
    place.write(LINES[:100])
    with pytest.raises(ResultLost):
        result.collect()
    assert is_right(place.run(WORD_COUNT), WORD_COUNT, {"input.txt": LINES[:100]})


def test_changes_after_damage_are_right_or_refused(place: Place) -> None:
    place.write(LINES)
    place.run(WORD_COUNT)
    old_packs = set(place.packs)
    place.write([*LINES, "appended"])
    result = place.run(WORD_COUNT)
    for pack in set(place.packs) - old_packs:
        pack.unlink()  # of the new run: it can be run again
    assert [(each.key, each.old, each.new) for each in result.changes()] == [("appended", None, 1)]
    for pack in old_packs:
        pack.unlink(missing_ok=True)
    place.write([*LINES, "appended", "again"])
    result = place.run(WORD_COUNT)
    for pack in place.packs:
        pack.unlink()
    with pytest.raises(ChangesLost):
        list(result.changes())
    assert is_right(result, WORD_COUNT, {"input.txt": [*LINES, "appended", "again"]})


@KINDS
def test_every_single_pack_may_be_lost(job: incoop.Job, place: Place) -> None:
    """After an update, each pack in turn: headers, blocks that older packs hold, records of generations."""
    versions = [LINES, [*LINES[:120], "one more line", *LINES[120:]], [*LINES[:60], "and another", *LINES[60:]]]
    place.write(versions[0])
    place.run(job)
    place.write(versions[1])
    place.run(job)
    for number, pack in enumerate(place.packs):
        if not pack.exists():
            continue
        pack.unlink()
        version = versions[number % 2 + 1]
        place.write(version)
        assert is_right(place.run(job), job, {"input.txt": version})


@KINDS
def test_a_killed_server_before_after_and_between_runs_costs_no_result(job: incoop.Job, place: Place) -> None:
    version: Files = {"input.txt": LINES}
    place.write(version)
    place.session  # noqa: B018 - opens it
    place.kill_server()
    result = place.run(job)
    place.kill_server()
    assert is_right(result, job, version)
    version = edited(version, "change one word", random.Random(1))
    place.write(version)
    assert is_right(place.run(job), job, version)
    place.kill_server()
    place.close_session()
    assert is_right(place.run(job), job, version)


@pytest.mark.parametrize("delay", [0.02, 0.15, 0.4])
def test_a_server_killed_during_a_run_costs_no_result(delay: float, place: Place) -> None:
    version: Files = {"input.txt": LINES}
    place.write(version)
    place.session  # noqa: B018 - opens it

    def kill() -> None:
        time.sleep(delay)
        with contextlib.suppress(ProcessLookupError, AssertionError):
            place.kill_server()

    killer = threading.Thread(target=kill)
    killer.start()
    result = place.run(WORD_COUNT)
    killer.join()
    assert is_right(result, WORD_COUNT, version)
    version = edited(version, "insert", random.Random(2))
    place.write(version)
    assert is_right(place.run(WORD_COUNT), WORD_COUNT, version)


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("job", [COUNTING[0], COUNTING[1]], ids=lambda job: job.name)
def test_forgotten_entries_are_computed_again(job: incoop.Job, share: float, place: Place) -> None:
    rng = random.Random(share)
    version: Files = {"input.txt": LINES}
    for edit in ("nothing", "change one word", "nothing", "insert"):
        version = edited(version, edit, rng)
        place.write(version)
        assert is_right(place.run(job), job, version)
        place.forget_entries(share, rng)
        if rng.random() < 0.5:
            place.forget_generations()
    last = place.run(job)
    assert is_right(last, job, version)
    with place.scratch() as session:
        scratch = session.run(job, str(place.input))
        assert scratch.root == last.root
        assert scratch.report.counters == last.report.counters


def test_a_wiped_memo_folder_starts_afresh(place: Place) -> None:
    version: Files = {"input.txt": LINES}
    place.write(version)
    first = place.run(WORD_COUNT)
    place.close_session()
    shutil.rmtree(place.store / "memo")
    again = place.run(WORD_COUNT)
    assert is_right(again, WORD_COUNT, version)
    assert again.root == first.root
    assert again.report.map.executed == again.report.map.tasks


@pytest.mark.parametrize("job", [WORD_COUNT, LISTS, COUNTING[0]], ids=lambda job: job.name)
def test_collecting_after_every_run_breaks_no_later_run_and_no_open_result(job: incoop.Job, place: Place) -> None:
    open_results: list[tuple[incoop.Result, Files]] = []
    for version in random_history(f"collect {job.name}", edits=5):
        place.write(version)
        result = place.run(job)
        open_results.append((result, version))
        with MemoStore.open(place.store, maintenance=True) as store:
            collect(store)
        assert is_right(result, job, version)
        assert result.report.warnings == []
    for result, version in open_results:
        assert is_right(result, job, version)
        assert result.report.warnings == []
        list(result.changes())
    place.close_session()
    with MemoStore.open(place.store, maintenance=True) as store:
        collected = collect(store)
        assert collected.generations_kept == 1
    before = spark_jobs(place.spark)
    last = place.run(job)
    assert is_right(last, job, version)
    assert spark_jobs(place.spark) == before
    assert last.report.warnings == []


def test_two_sessions_at_once_on_one_store_are_both_right(place: Place, base: Path, spark: SparkSession) -> None:
    """The same job from two threads, each with a session of its own, on inputs of their own that share most lines."""
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            rng = random.Random(name)
            folder = place.folder / name
            folder.mkdir()
            lines = list(LINES)
            with incoop.connect(place.store, spark=spark, chunks=place.chunks) as session:
                for _ in range(4):
                    (folder / "input.txt").write_text("".join(f"{line}\n" for line in lines))
                    result = session.run(job, str(folder))
                    assert is_right(result, job, {"input.txt": lines})
                    lines[rng.randrange(len(lines))] = f"{name} {rng.randrange(1000)}"
        except BaseException as error:
            failures.append(error)

    job = incoop.Job("both", counting_words, counting_total, total)
    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_any_job_survives_any_damage(seed: int, base: Path, spark: SparkSession) -> None:
    rng = random.Random(f"damage {seed}")
    job = rng.choice(JOBS)
    with contextlib.closing(Place(base, spark)) as place:
        for version in random_history(f"damage {seed}", edits=5):
            place.write(version)
            result = place.run(job)
            for pack in place.packs:
                if rng.random() < 0.15:
                    damage(pack, rng)
            if rng.random() < 0.2:
                place.forget_entries(0.5, rng)
            assert is_right(result, job, version)


@pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs root")
def test_a_full_disk_fails_the_run_cleanly_and_the_store_stays_usable(base: Path, spark: SparkSession) -> None:
    mount = Path(tempfile.mkdtemp(dir=base))
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(mount)], capture_output=True)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        text = base / "much.txt"
        text.write_text(
            "".join(f"line {number} of many, with a word of its own {number:x}\n" for number in range(150_000))
        )
        job = incoop.Job("full disk", words, total, total)
        with incoop.connect(mount / "store", spark=spark, chunks=inchdfs.ChunkSettings(average=1 << 16)) as session:
            with pytest.raises(incoop.IncoopError, match="cannot write a pack"):
                session.run(job, str(text))
            subprocess.run(["mount", "-o", "remount,size=200m", str(mount)], check=True)
            result = session.run(job, str(text))
        assert result.report.keys_total > 150_000
        assert not list((mount / "store" / "memo" / "packs" / "tmp").glob("*"))
    finally:
        subprocess.run(["umount", "--lazy", str(mount)], check=True)
