"""An edit of a program's input maps the leaves that came, wherever its functions see a record at a time."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop import inchdfs
from incoop.engine.stages.map_contract.leaves import LEAF
from incoop.engine.stages.map_contract.mapping import RecordsMapper
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.fingerprint import fingerprint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Chunks of some hundred leaves.
AVERAGE = 64 << 10

LINES = [f"w{number % 997} w{number % 13} {number % 31} {'.' * (number % 50)}" for number in range(8000)]

Program = Callable[[Any], Any]


def words(lines: Any) -> Any:
    return lines.flatMap(str.split).filter(lambda word: word != "w3").map(lambda word: (word, 1))


def numbers(lines: Any) -> Any:
    return lines.map(str.split).keyBy(lambda parts: parts[0]).mapValues(lambda parts: int(parts[2]))


BY_RECORD: dict[str, Program] = {
    "a sum": lambda lines: sorted(words(lines).reduceByKey(operator.add).collect()),
    "a sum of floats": lambda lines: sorted(
        words(lines).mapValues(lambda _: 0.1).reduceByKey(lambda a, b: a + b).mapValues(lambda v: round(v, 6)).collect()
    ),
    "a maximum": lambda lines: sorted(numbers(lines).reduceByKey(max).collect()),
    "lists that are changed": lambda lines: sorted(
        (key, sorted(values))
        for key, values in numbers(lines).mapValues(lambda v: [v]).reduceByKey(lambda a, b: a.extend(b) or a).collect()
    ),
    "groups": lambda lines: sorted((key, sorted(values)) for key, values in numbers(lines).groupByKey().collect()),
    "distinct": lambda lines: sorted(words(lines).keys().distinct().collect()),
    "records alone": lambda lines: lines.filter(lambda line: "w5" in line).map(str.upper).collect(),
    "a sort": lambda lines: numbers(lines).sortByKey().keys().collect(),
}

BY_CHUNK: dict[str, Program] = {
    "partitions": lambda lines: sorted(
        words(lines).mapPartitions(lambda part: list(part)).reduceByKey(operator.add).collect()
    ),
    "a combiner of its own": lambda lines: sorted(
        numbers(lines).combineByKey(lambda v: [v], lambda a, v: [*a, v], operator.add).mapValues(sorted).collect()
    ),
}


def mapped_of_update(program: Program, folder: Path, spark: SparkSession) -> tuple[list[int], int]:
    """Bytes that each stage mapped after a line was inserted, and those of the input; results are PySpark's."""
    text = folder / "lines.txt"
    mapped: list[int] = []
    with incoop.connect(folder / "store", spark=spark, chunks=inchdfs.ChunkSettings(average=AVERAGE)) as inc:
        for lines in (LINES, [*LINES[:4000], "w5 w996 1000", *LINES[4000:]]):
            text.write_text("".join(f"{line}\n" for line in lines))
            inc._rdds = None  # as in a new process
            assert program(inc.textFile(str(text))) == program(spark.sparkContext.textFile(str(text)))
            assert inc.rdds.notes == []
            mapped = [report.fresh_bytes for report in inc.rdds.reports]
    return mapped, text.stat().st_size


@pytest.mark.parametrize("name", BY_RECORD)
def test_an_inserted_line_maps_its_leaf(name: str, spark: SparkSession, tmp_path: Path) -> None:
    mapped, _ = mapped_of_update(BY_RECORD[name], tmp_path, spark)
    # The sample that a sort is divided by is taken of chunks.
    assert sorted(mapped)[0 if name != "a sort" else -2] <= LEAF * 8
    assert 0 < mapped[0 if name != "a sort" else 1] <= LEAF * 8


@pytest.mark.parametrize("name", BY_CHUNK)
def test_functions_that_see_more_than_a_record_map_chunks(name: str, spark: SparkSession, tmp_path: Path) -> None:
    mapped, size = mapped_of_update(BY_CHUNK[name], tmp_path, spark)
    assert AVERAGE / 8 < mapped[0] < size


def test_what_maps_by_leaf_is_another_function_than_what_maps_by_chunk() -> None:
    assert fingerprint(RecordsMapper(list)) != fingerprint(ChunkMapper(list))
