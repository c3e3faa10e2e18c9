"""Where work goes: little of it to processes of our own, anything to Spark where that was asked for."""

from __future__ import annotations

import pytest

from incoop.engine.running.where import BESIDE_SPARK_BYTES, PROCESS_BYTES, THREAD_BYTES, SparkNow, Where, where_to_run

NONE = SparkNow()
RUNNING = SparkNow(running=True)
GIVEN = SparkNow(given=True)
CLUSTER = SparkNow(running=True, given=True, clustered=True)
LATER_CLUSTER = SparkNow(given=True, clustered=True)


@pytest.mark.parametrize(
    ("fresh", "in_threads", "little", "spark", "where"),
    [
        pytest.param(0, None, False, NONE, Where.PROCESSES, id="nothing to read"),
        pytest.param(PROCESS_BYTES, None, False, NONE, Where.PROCESSES, id="as much as is little"),
        pytest.param(PROCESS_BYTES + 1, None, False, NONE, Where.SPARK, id="more is worth starting Spark"),
        pytest.param(BESIDE_SPARK_BYTES, None, False, RUNNING, Where.PROCESSES, id="so little that a job costs more"),
        pytest.param(BESIDE_SPARK_BYTES + 1, None, False, RUNNING, Where.SPARK, id="Spark that runs is used"),
        pytest.param(
            1, None, False, SparkNow(running=True, given=True), Where.SPARK, id="a session that was given is used"
        ),
        pytest.param(1, None, False, GIVEN, Where.SPARK, id="a master that was named is used"),
        pytest.param(1, None, False, LATER_CLUSTER, Where.SPARK, id="a cluster is used"),
        pytest.param(1, 1, False, NONE, Where.THREADS, id="programs are started from here"),
        pytest.param(1, 1, False, GIVEN, Where.THREADS, id="also where Spark would have to be started"),
        pytest.param(1, THREAD_BYTES, False, NONE, Where.THREADS, id="as much as its memory may hold"),
        pytest.param(1, THREAD_BYTES + 1, False, NONE, Where.PROCESSES, id="too much for this memory"),
        pytest.param(1, None, False, SparkNow(clustered=True), Where.SPARK, id="a cluster that nobody named"),
        pytest.param(1, 1, False, RUNNING, Where.PROCESSES, id="programs beside a running Spark"),
        pytest.param(1 << 30, 1, False, RUNNING, Where.SPARK, id="programs that a running Spark may start"),
        pytest.param(1, 1, True, RUNNING, Where.THREADS, id="so little that asking Spark costs more"),
        pytest.param(1, 1, True, CLUSTER, Where.SPARK, id="a cluster has its own files"),
        pytest.param(PROCESS_BYTES + 1, THREAD_BYTES + 1, True, NONE, Where.SPARK, id="programs with much to read"),
    ],
)
def test_work_goes_where_it_is_done_first(
    fresh: int, in_threads: int | None, little: bool, spark: SparkNow, where: Where
) -> None:
    assert where_to_run(fresh, in_threads, little, spark) is where


def test_the_bounds_and_the_words_of_events_are_those_of_the_docs() -> None:
    assert (THREAD_BYTES, PROCESS_BYTES, BESIDE_SPARK_BYTES) == (33_554_432, 100_663_296, 33_554_432)
    assert list(map(str, Where)) == ["threads", "processes", "spark"]
