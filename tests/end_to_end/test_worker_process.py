"""What shortens the time between two tasks is in force in Spark's workers, and nowhere else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from incoop.engine.running.spark import Spark
from incoop.engine.running.worker_process import settle


def settled(_: int) -> tuple[int, bool]:
    worker = getattr(sys.modules["__main__"], "worker", None)
    return gc.get_freeze_count(), getattr(worker, "reads_at_once", False)


@pytest.fixture
def unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_a_worker_that_ran_a_task_is_settled(spark: SparkSession) -> None:
    ours = Spark(spark, None)
    # Spark may give a task to a worker that has run none: then that one is settled behind it.
    for _ in range(5):
        ours.run("first", len, [[1], [2]])
        found = ours.run("second", settled, [1, 2])
        if any(frozen > 1000 and at_once for frozen, at_once in found):
            return
    pytest.fail(f"no worker is settled: {found}")


def test_a_process_that_is_no_worker_of_spark_is_left_alone(unfrozen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    main: Any = sys.modules["__main__"]
    monkeypatch.setattr(main, "worker", print, raising=False)
    settle()
    assert main.worker is print


def test_a_task_that_fails_leaves_a_worker_that_works(spark: SparkSession) -> None:
    ours = Spark(spark, None)
    with pytest.raises(Exception, match="invalid literal"):
        ours.run("fails", int, ["x"])
    assert ours.run("works", int, ["1"]) == [1]
