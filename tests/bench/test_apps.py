"""The applications: what they give on a few records, by every way through combiner and reducer, and on every runner."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bench import changes, data
from bench.apps import APPS
from bench.apps.app import App, fingerprint, same
from bench.jobs.kmeans import CENTRES
from bench.jobs.knn import NEIGHBOURS, QUERIES
from bench.runners.base import Runner, Stopwatch, installed
from bench.runners.duck import DuckDb
from bench.runners.frames import DataFrames
from bench.runners.memoized import Memoized, task_job
from bench.runners.plain import PlainRdd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def by_hand(app: App, lines: list[str], groups: int) -> dict[Any, Any]:
    """Map, combine groups of lines, then all groups, and reduce."""
    partial: dict[Any, list[Any]] = {}
    for number in range(groups):
        values: dict[Any, list[Any]] = {}
        for line in lines[number::groups]:
            for key, value in app.mapper(None, line):
                values.setdefault(key, []).append(value)
        for key, found in values.items():
            for out, value in app.combiner(key, found):
                partial.setdefault(out, []).append(value)
    return {out: value for key, found in partial.items() for out, value in app.reducer(key, found)}


def written(app: App, folder: Path, size: int = 100_000) -> list[str]:
    app.write(folder / "input.txt", size, 3)
    return (folder / "input.txt").read_text()[: size // 2].split("\n")[:-1]


@pytest.mark.parametrize("name", APPS)
def test_combining_in_other_groups_gives_the_same(name: str, tmp_path: Path) -> None:
    app = APPS[name]
    lines = written(app, tmp_path)
    whole = by_hand(app, lines, 1)
    for groups in (2, 7):
        other = by_hand(app, lines, groups)
        assert other == whole if app.exact else same(other, whole)


@pytest.mark.parametrize("name", APPS)
def test_data_follows_from_its_seed(name: str, tmp_path: Path) -> None:
    for file, seed in (("one", 3), ("again", 3), ("other", 4)):
        APPS[name].write(tmp_path / file, 100_000, seed)
    contents = [(tmp_path / file).read_bytes() for file in ("one", "again", "other")]
    assert contents[0] == contents[1] != contents[2]
    assert all(len(content) >= 100_000 and content.endswith(b"\n") for content in contents)


def test_what_the_text_applications_count() -> None:
    line = "b a b c"
    assert by_hand(APPS["words"], [line, line], 1) == {"a": 2, "b": 4, "c": 2}
    assert by_hand(APPS["bigrams"], [line], 1) == {("b", "a"): 1, ("a", "b"): 1, ("b", "c"): 1}
    assert by_hand(APPS["cooccurrence"], [line], 1) == {("a", "b"): 2, ("b", "b"): 1, ("a", "c"): 1, ("b", "c"): 1}


def test_kmeans_moves_centres_to_the_means_of_their_points(tmp_path: Path) -> None:
    lines = written(APPS["kmeans"], tmp_path)
    points = np.array([[float(each) for each in line.split()] for line in lines])
    nearest = np.linalg.norm(points[:, None] - CENTRES, axis=2).argmin(axis=1)
    expected = {int(centre): points[nearest == centre].mean(axis=0).tolist() for centre in np.unique(nearest)}
    assert same(by_hand(APPS["kmeans"], lines, 3), expected)


def test_neighbours_vote(tmp_path: Path) -> None:
    lines = written(APPS["knn"], tmp_path)
    rows = np.array([[float(each) for each in line.split()] for line in lines])
    labels, points = rows[:, 0].astype(int).tolist(), rows[:, 1:]
    answer = by_hand(APPS["knn"], lines, 3)
    for query, where in enumerate(QUERIES):
        order = np.linalg.norm(points - where, axis=1).argsort()[:NEIGHBOURS]
        votes = Counter(labels[each] for each in order)
        assert votes[answer[query]] == max(votes.values())


def test_a_log_line_is_understood_as_apache_writes_it() -> None:
    line = (
        '83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET /a.png?x=1 HTTP/1.1" 200 203023 "http://b/" "Mozilla/5.0"'
    )
    assert by_hand(APPS["clicks"], [line, "no log line"], 1) == {
        ("client", "83.149.9.216"): 1,
        ("page", "/a.png"): 1,
        ("status", "200"): 1,
    }


def test_points_lie_in_the_unit_cube(tmp_path: Path) -> None:
    data.write_points(tmp_path / "points", 100_000)
    points = np.loadtxt(tmp_path / "points")
    assert points.shape[1] == data.DIMENSIONS
    assert 0 <= points.min() < 0.01 and 0.99 < points.max() < 1


def test_a_text_of_ones_own_has_words_that_all_tools_agree_on(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("one\ttwo\u2003three \r\n\n  four".encode() + b"\xff\n")
    lines = data.real_text(tmp_path / "text").decode().split("\n")
    assert lines == ["one two three", "four\ufffd", ""]


def test_fingerprints_tell_answers_apart_whatever_their_order() -> None:
    pairs = [((one, other), len(one)) for one, other in combinations("abcdef", 2)]
    assert fingerprint(pairs) == fingerprint(reversed(pairs))
    assert fingerprint(pairs) != fingerprint([*pairs[1:], (pairs[0][0], 9)])


@pytest.mark.parametrize("name", APPS)
def test_every_runner_gives_the_same_answer_also_after_a_change(name: str, spark: SparkSession, tmp_path: Path) -> None:
    app = APPS[name]
    path, fresh = tmp_path / "input.txt", tmp_path / "fresh.txt"
    app.write(path, 100_000, 3)
    app.write(fresh, 100_000, 4)
    content = path.read_bytes()[:200_000]
    content = content[: content.rindex(b"\n") + 1]
    path.write_bytes(content)
    plain = PlainRdd(spark)
    others: list[Runner] = [DataFrames(spark), *([DuckDb()] if installed("duckdb") else [])]
    with Memoized(spark, tmp_path / "tree") as tree, Memoized(spark, tmp_path / "task", task_job) as task:
        first = tree.run(app, path)
        assert first.report["map"]["executed"] == first.report["map"]["tasks"] > 4
        task.run(app, path)
        path.write_bytes(changes.replace_chunks(content, 0.1, fresh.read_bytes(), 1))
        expected = plain.answer(app, path)
        update = tree.run(app, path)
        assert 0 < update.report["map"]["executed"] < update.report["map"]["tasks"]
        assert same(tree.last_answer(app), expected)
        assert same(task.answer(app, path), expected)
    assert all(same(other.answer(app, path), expected) for other in others if other.can(app))


def test_work_is_the_summed_time_of_tasks(spark: SparkSession) -> None:
    import time

    with Stopwatch(spark) as watch:
        spark.sparkContext.parallelize(range(4), 4).foreach(lambda _: time.sleep(0.3))
    assert watch.measured.work >= 1.2
    with Stopwatch(spark) as idle:
        pass
    assert idle.measured.work < 0.3
