"""Plain PySpark: the application's RDD code, from scratch every time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.apps.app import Answer, App
from bench.runners.base import Measured, Stopwatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PlainRdd:
    name = "plain"
    title = "PySpark RDD"

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def can(self, app: App) -> bool:
        return True

    def run(self, app: App, path: Path) -> Measured:
        with Stopwatch(self._spark) as watch:
            app.rdd(self._spark.sparkContext.textFile(str(path))).count()
        return watch.measured

    def answer(self, app: App, path: Path) -> Answer:
        return app.answer(app.rdd(self._spark.sparkContext.textFile(str(path))))
