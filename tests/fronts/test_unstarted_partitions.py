"""Partitions that are counted without Spark are Spark's."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from incoop.fronts.rdd.hadoop_paths import local_files
from incoop.fronts.rdd.hadoop_splits import frame_splits, text_splits, whole_file_splits
from incoop.fronts.rdd.slices import slices
from incoop.fronts.rdd.sources import _listed
from incoop.fronts.rdd.text_output import write_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Bytes; a block of Hadoop's, and what a file counts in Spark SQL, are 32 and 4 million.
SIZES = [0, 1, 7, 100, 5000, 3 << 20, 5 << 20, 35 << 20, 36 << 20, 70 << 20]


def _sized(folder: Path, sizes: list[int], suffix: str = ".txt") -> list[tuple[str, int]]:
    """Files of some sizes, with nothing in them."""
    folder.mkdir()
    for number, size in enumerate(sizes):
        with (folder / f"{number}{suffix}").open("wb") as file:
            file.truncate(size)
    files = local_files(str(folder))
    assert files is not None
    return [(file, Path(file).stat().st_size) for file in files]


@pytest.mark.parametrize("seed", range(12))
def test_files_have_as_many_partitions_as_in_spark(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.choice(SIZES) for _ in range(rng.randrange(1, 7))]
    files = _sized(tmp_path / "files", sizes, rng.choice([".txt", ".txt", ".gz"]))
    context, folder, least = spark.sparkContext, str(tmp_path / "files"), rng.choice([1, 2, 5, 40])
    assert text_splits(files, least) == context.textFile(folder, least).getNumPartitions()
    assert frame_splits(files, 2) == spark.read.text(folder).rdd.getNumPartitions()


@pytest.mark.parametrize("seed", range(12))
def test_whole_files_come_in_the_order_of_spark(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.choice([0, 1, 10, 500, 501, 4000]) for _ in range(rng.randrange(1, 30))]
    files = _sized(tmp_path / "files", sizes)
    least = rng.choice([1, 2, 3, 8])
    rdd = spark.sparkContext.wholeTextFiles(str(tmp_path / "files"), least)
    splits = whole_file_splits([size for _, size in files], least)
    assert [f"file:{files[number][0]}" for split in splits for number in split] == _listed(rdd)
    assert len(splits) == rdd.getNumPartitions()


def test_files_are_written_byte_for_byte_as_hadoop_writes_them(spark: SparkSession, tmp_path: Path) -> None:
    records = ["", "é\r", b"\xff bytes", ("a", 1.5), None, *("x" * size for size in (510, 511, 512, 513, 70_000))]
    spark.sparkContext.parallelize(records, 4).saveAsTextFile(str(tmp_path / "theirs"))
    assert write_text(tmp_path / "ours", slices(records, 4))
    theirs, ours = (
        {file.name: (file.read_bytes(), file.stat().st_mode) for file in (tmp_path / name).iterdir()}
        for name in ("theirs", "ours")
    )
    assert ours == theirs


@pytest.mark.parametrize(("elements", "partitions"), [(0, 3), (1, 4), (7, 3), (10, 4), (5000, 2), (3000, 7), (12, 12)])
def test_data_is_divided_as_in_spark(spark: SparkSession, elements: int, partitions: int) -> None:
    data = [str(number) for number in range(elements)]
    assert slices(data, partitions) == spark.sparkContext.parallelize(data, partitions).glom().collect()
