"""From generations to placement and back, and the caches that it rests on; no cluster needed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.parts.packs import BlockLost
from incoop.engine.report import RunReport
from incoop.engine.running.cluster import _Measured
from incoop.engine.running.shard_places import ShardPlaces
from incoop.engine.running.spark import Spark
from incoop.memo import WorkerConfig
from incoop.memo.cache import Traffic, cache_name, take_traffic
from incoop.scheduler.placement import GIGABIT, Task
from incoop.scheduler.spark_adapter import LONGEST_WAIT, SHORTEST_WAIT, Executor, choose_locations, wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Ran:
    cache: str
    moved: int = 0
    written: int = 0
    seconds: float = 1.0


GROUPS = [[0, 1], [2, 3]]


def test_shards_are_wished_where_they_ran() -> None:
    places = ShardPlaces.of_fact(None, 4)
    assert [task.memoized for task in places.tasks(GROUPS)] == [{}, {}]
    places.learn(GROUPS, [Ran("ash", 60, 40, 3.0), Ran("oak", 0, 20, 1.0)])
    first, second = places.tasks(GROUPS)
    assert first == Task(100, {"ash": 100}, 3.0)
    assert second == Task(20, {"oak": 20}, 1.0)
    # Other groups, of the same shards.
    (all_of_them,) = places.tasks([[0, 1, 2, 3]])
    assert all_of_them == Task(120, {"ash": 100, "oak": 20}, 4.0)


def test_a_stolen_shard_goes_back_to_the_cache_that_holds_more() -> None:
    places = ShardPlaces.of_fact(None, 4)
    places.learn(GROUPS, [Ran("ash", 1000), Ran("oak", 1000)])
    places.learn(GROUPS, [Ran("oak", 100), Ran("oak", 0)])
    assert places.tasks(GROUPS)[0].memoized == {"ash": 1000, "oak": 100}


def test_a_run_without_caches_teaches_no_place() -> None:
    places = ShardPlaces.of_fact(None, 4)
    places.learn(GROUPS, [Ran(""), Ran("")])
    assert places.as_fact() is None


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "ash", "oak", "elm", "fir", "yew"]), st.integers(0, 1000), st.integers(0, 1000)),
        min_size=1,
        max_size=20,
    )
)
def test_a_fact_survives_json(history: list[tuple[str, int, int]]) -> None:
    places = ShardPlaces.of_fact(None, 4)
    for cache, moved, written in history:
        places.learn(GROUPS, [Ran(cache, moved, written), Ran("", 0, 0)])
    fact = places.as_fact()
    assert ShardPlaces.of_fact(json.loads(json.dumps(fact)), 4).as_fact() == fact
    assert all(len(held) <= 4 for held in places.held)
    # Another number of shards is another job: nothing is known.
    assert ShardPlaces.of_fact(fact, 8).as_fact() is None


ASH, OAK, OAK_TOO = Executor("0", "10.0.0.1", 1), Executor("1", "10.0.0.2", 1), Executor("12", "10.0.0.2", 1)


def test_locations_name_every_executor_beside_the_cache() -> None:
    tasks = [Task(8, {"ash": 8}), Task(8, {"oak": 8}), Task(8)]
    assert choose_locations(tasks, {"ash": [ASH], "oak": [OAK, OAK_TOO]}) == [
        ["executor_10.0.0.1_0"],
        ["executor_10.0.0.2_1", "executor_10.0.0.2_12"],
        [],
    ]


def test_a_cache_that_left_is_no_location() -> None:
    assert choose_locations([Task(8, {"elm": 8})], {"ash": [ASH]}) == [[]]
    assert choose_locations([Task(8, {"elm": 8})], {}) == [[]]


def test_the_wait_follows_what_moving_would_take() -> None:
    assert wait_for([]) == SHORTEST_WAIT
    assert wait_for([Task(GIGABIT, {"ash": GIGABIT})]) == 1.0
    assert wait_for([Task(10**12, {"ash": 10**12})]) == LONGEST_WAIT


def test_bytes_are_counted_where_they_come_from(tmp_path: Path) -> None:
    here, there = (WorkerConfig(str(tmp_path / "packs"), b"s" * 32, cache=str(tmp_path / name)) for name in "ab")
    take_traffic()
    pack = here.open().write([b"x" * 1000])
    assert take_traffic() == Traffic(written=1000)
    here.open().read(pack, 0, 600)
    assert take_traffic() == Traffic(local=600)
    for expected in (Traffic(moved=600), Traffic(local=600)):
        there.open().read(pack, 0, 600)
        assert take_traffic() == expected
    there.open().read_many(pack, [(0, 600), (600, 400)])
    assert take_traffic() == Traffic(local=600, moved=400)


def test_an_emptied_cache_is_filled_again(tmp_path: Path) -> None:
    worker = WorkerConfig(str(tmp_path / "packs"), b"s" * 32, cache=str(tmp_path / "cache"))
    blobs = worker.open()
    pack = blobs.write([b"x" * 1000])
    blobs.forget_all_cached()
    take_traffic()
    assert blobs.read(pack, 0, 10) == worker.open().read(pack, 0, 10) == b"x" * 10
    assert take_traffic() == Traffic(local=10, moved=10)


def test_a_caches_name_goes_with_its_folder(tmp_path: Path) -> None:
    name = cache_name(tmp_path / "cache")
    assert name and name == cache_name(tmp_path / "cache") != cache_name(tmp_path / "other")
    moved = (tmp_path / "cache").rename(tmp_path / "moved")
    assert cache_name(moved) == name
    worker = WorkerConfig(str(tmp_path / "packs"), b"s" * 32, cache=str(moved))
    assert worker.open().holder == name


def test_a_node_says_where_its_own_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = WorkerConfig(str(tmp_path / "packs"), b"s" * 32, cache=str(tmp_path / "everywhere"))
    assert worker.cache_folder == tmp_path / "everywhere"
    monkeypatch.setenv("INCOOP_CACHE", str(tmp_path / "here"))
    assert worker.cache_folder == tmp_path / "here"
    monkeypatch.setenv("INCOOP_CACHE", "")
    assert worker.cache_folder == tmp_path / "everywhere"


def test_a_folder_that_cannot_be_used_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    worker = WorkerConfig(str(tmp_path / "packs"), b"s" * 32, cache=str(tmp_path / "file"))
    blobs = worker.open()
    pack = blobs.write([b"x" * 10])
    assert blobs.read(pack, 0, 10) == b"x" * 10
    assert worker.cache_name() == ""


def test_a_pack_that_is_lost_for_good_costs_the_cache_nothing_else(tmp_path: Path) -> None:
    worker = WorkerConfig(str(tmp_path / "packs"), b"s" * 32, cache=str(tmp_path / "cache"))
    blobs = worker.open()
    kept, gone = blobs.write([b"x" * 10]), blobs.write([b"y" * 10])
    calls = []

    def fails(item: int) -> BlockLost:
        calls.append(item)
        return BlockLost(gone, "missing")

    assert isinstance(_Measured(fails, worker)(7).answer, BlockLost)
    assert calls == [7, 7]
    take_traffic()
    worker.open().read_many(kept, [(0, 10)])
    assert take_traffic() == Traffic(local=10)


def test_the_report_tells_moved_bytes_only_where_there_are_caches() -> None:
    report = RunReport("words")
    assert "moved" not in str(report)
    assert report.as_dict()["bytes"]["moved"] == 0
    report.local_bytes["contract"], report.moved_bytes["contract"] = 9_000, 1_000
    assert "bytes of packs read: 9,000 from local caches, 1,000 moved" in str(report)
    assert report.as_dict()["bytes"]["stages"]["contract"] == {"local": 9_000, "moved": 1_000}


def test_on_one_machine_nothing_is_placed(spark: SparkSession, tmp_path: Path) -> None:
    assert Spark(spark, None).placed(WorkerConfig(str(tmp_path), b"s" * 32), GROUPS) is None


def test_on_one_machine_the_scheduler_is_not_even_imported() -> None:
    loaded = "[name for name in sys.modules if name.startswith('incoop.scheduler')]"
    found = f"import incoop, incoop.engine.driver, incoop.session, sys; print({loaded})"
    ran = subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
