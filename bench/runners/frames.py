"""Spark DataFrames: the text applications in the operations that Spark runs in the JVM, from scratch every time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.apps.app import Answer, App
from bench.jobs.cooccurrence import WINDOW
from bench.runners.base import Measured, Stopwatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _pairs(distance: int) -> str:
    """Every word of `w` with the one `distance` behind it."""
    rest = f"greatest(size(w) - {distance}, 0)"
    return f"zip_with(slice(w, 1, {rest}), slice(w, {distance + 1}, {rest}), (a, b) -> struct(a, b))"


#: Application -> the keys that a line's words `w` give, and the columns of a key.
_KEYS = {
    "words": ("w", ("key",)),
    "bigrams": (_pairs(1), ("key.a", "key.b")),
    "cooccurrence": (
        f"concat({', '.join(_pairs(distance) for distance in range(1, WINDOW + 1))})",
        ("least(key.a, key.b)", "greatest(key.a, key.b)"),
    ),
}


class DataFrames:
    name = "dataframes"
    title = "Spark DataFrames"

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def can(self, app: App) -> bool:
        return app.name in _KEYS

    def _counts(self, app: App, path: Path) -> DataFrame:
        keys, columns = _KEYS[app.name]
        lines = self._spark.read.text(str(path))
        found = lines.selectExpr("filter(split(value, ' '), word -> word <> '') as w").selectExpr(
            f"explode({keys}) as key"
        )
        named = found.selectExpr(*(f"{column} as k{number}" for number, column in enumerate(columns)))
        return named.groupBy(*named.columns).count()

    def run(self, app: App, path: Path) -> Measured:
        with Stopwatch(self._spark) as watch:
            self._counts(app, path).write.format("noop").mode("overwrite").save()
        return watch.measured

    def answer(self, app: App, path: Path) -> Answer:
        return app.answer(self._counts(app, path).rdd.map(_as_pair))


def _as_pair(row: Any) -> tuple[Any, int]:
    *key, count = row
    return (key[0] if len(key) == 1 else tuple(key)), count
