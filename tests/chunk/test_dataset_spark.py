"""A stored version in Spark: the records that Spark itself reads from the same file."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from incoop.base.errors import BadCall
from incoop.inchdfs import Csv, Dataset, DatasetStore, FixedLength, Lines, expand, index_input, put
from incoop.inchdfs.cutting.spark_segments import spark_segments
from tests.chunk.samples import RABIN, length_prefixed, mixed_line_ends, table, text
from tests.chunk.samples import LengthPrefixed as Own
from tests.chunk.test_store import put_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def every_kind_of_broken_utf8() -> bytes:
    """Sequences that break each rule of UTF-8, and some that keep it, one a line."""
    first = [0x41, 0x80, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF]
    second = [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE2, 0xF0]
    rest = [0x41, 0x80, 0xBF, 0xE2]
    return b"".join(bytes(each) + b"|\n" for each in itertools.product(first, second, rest, rest))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(text(1, 200_000), id="lines of text"),
        pytest.param(text(1, 5000)[:-1] + b"x", id="no newline at the end"),
        pytest.param(mixed_line_ends(1, 50_000), id="mixed line ends"),
        pytest.param(b"a\rb\r\nc\n\rd\r", id="carriage returns"),
        pytest.param(every_kind_of_broken_utf8(), id="bytes that are no UTF-8"),
        pytest.param("a\u2028b\x0bc\x1cd\x85\n\ufeffe\n".encode(), id="characters that end lines elsewhere"),
        pytest.param(b"", id="an empty file"),
        pytest.param(b"\n\n\n", id="empty lines"),
        pytest.param(b"\0\n\0", id="zero bytes"),
    ],
)
def test_lines_are_those_that_spark_reads(
    tmp_path: Path, store: DatasetStore, spark: SparkSession, content: bytes
) -> None:
    path = tmp_path / "input.txt"
    path.write_bytes(content)
    put(store, expand(path), "data", settings=RABIN)
    dataset = Dataset(store, "data")
    expected = spark.sparkContext.textFile(str(path)).collect()
    assert list(dataset.records()) == expected
    assert dataset.rdd(spark).collect() == expected
    ours, theirs = dataset.dataframe(spark), spark.read.text(str(path))
    assert ours.schema == theirs.schema
    assert [row.value for row in ours.collect()] == [row.value for row in theirs.collect()] == expected


def test_a_byte_order_mark_stays_in_the_first_line_where_spark_drops_it(
    tmp_path: Path, store: DatasetStore, spark: SparkSession
) -> None:
    """The one known difference: a chunk does not know whether it begins a file."""
    path = tmp_path / "input.txt"
    path.write_bytes("\ufefffirst\nsecond\n".encode())
    put(store, expand(path), "data")
    assert list(Dataset(store, "data").records()) == ["\ufefffirst", "second"]
    assert spark.sparkContext.textFile(str(path)).collect() == ["first", "second"]


def test_other_records_make_an_rdd_but_no_dataframe_by_themselves(store: DatasetStore, spark: SparkSession) -> None:
    put_bytes(store, "table", table(1, 20_000), records=Csv(), settings=RABIN)
    dataset = Dataset(store, "table")
    assert dataset.rdd(spark).collect() == list(Csv().records(table(1, 20_000)))
    put_bytes(store, "bytes", text(1, 700), records=FixedLength(7))
    assert Dataset(store, "bytes").rdd(spark).count() == 100
    put_bytes(store, "raw", text(1, 700), records=Lines(encoding=None))
    for name in ("table", "bytes", "raw"):
        with pytest.raises(BadCall, match=r"rdd\(\)\.toDF"):
            Dataset(store, name).dataframe(spark)


def test_a_users_own_format_reads_in_spark(store: DatasetStore, spark: SparkSession) -> None:
    class Upper(Own):
        """Defined in a function: workers cannot import it."""

        def records(self, chunk: bytes):  # type: ignore[no-untyped-def]
            return (record.upper() for record in super().records(chunk))

    content = length_prefixed(1, 30_000)
    put_bytes(store, "own", content, records=Own(), settings=RABIN)
    expected = [record.upper() for record in Own().records(content)]
    assert Dataset(store, "own", Upper()).rdd(spark).collect() == expected


def test_large_versions_become_several_tasks(
    store: DatasetStore, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incoop.inchdfs.store.dataset._TASK_BYTES", 20_000)
    put_bytes(store, "large", text(1, 200_000), settings=RABIN)
    rdd = Dataset(store, "large").rdd(spark)
    assert 8 <= rdd.getNumPartitions() <= 12
    assert rdd.collect() == text(1, 200_000).decode().splitlines()


def test_an_input_can_be_indexed_by_spark_tasks(tmp_path: Path, store: DatasetStore, spark: SparkSession) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 200_000))
    by_tasks = index_input(store, path, settings=RABIN, run_segments=spark_segments(spark))
    alone = index_input(DatasetStore(tmp_path / "other"), path, settings=RABIN)
    assert by_tasks.root == alone.root
