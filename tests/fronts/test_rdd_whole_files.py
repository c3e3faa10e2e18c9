"""`wholeTextFiles` and folders of text: a file that did not move is neither read nor mapped again."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop.base import file_stamps
from incoop.fronts.rdd.program import RddProgram
from incoop.inchdfs.store import index as indexing

from .harness import CHUNKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def inc(spark: SparkSession, base: Path) -> Iterator[incoop.Session]:
    with incoop.connect(base / "whole", spark=spark, chunks=CHUNKS) as session:
        yield session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    made.mkdir()
    for number in range(12):
        (made / f"{number}.txt").write_text(f"word{number} shared word{number % 5}\r\nline\n")
    (made / "empty.txt").touch()
    (made / "_hidden").write_text("not seen")
    (made / "odd name, é%20.txt").write_bytes(b"\xef\xbb\xbfmark \xff\xed\xa0\x80 odd")
    (made / "packed.txt.gz").write_bytes(gzip.compress(b"packed words"))
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose content the index looked at."""
    names: list[str] = []
    for name in ("chunk_file", "take_file"):
        monkeypatch.setattr(indexing, name, _noting(names, getattr(indexing, name)))
    # Trust the stamps of files that the test has just written.
    monkeypatch.setattr(file_stamps, "SETTLED_NS", -60 * 10**9)
    return names


def _noting(names: list[str], function: Callable[..., Any]) -> Callable[..., Any]:
    def noting(file: indexing.InputFile, *given: Any) -> Any:
        names.append(file.path.name)
        return function(file, *given)

    return noting


def words_of(named: tuple[str, str]) -> list[tuple[str, str]]:
    return [(word, named[0].rsplit("/", 1)[-1]) for word in named[1].split()]


def index(files: Any) -> list[tuple[str, list[str]]]:
    return sorted((word, sorted(names)) for word, names in files.flatMap(words_of).groupByKey().collect())


def change(folder: Path) -> None:
    (folder / "3.txt").write_text("word3 is another")


def add(folder: Path) -> None:
    (folder / "new.txt").write_text("a new file")


def remove(folder: Path) -> None:
    (folder / "5.txt").unlink()


def rename(folder: Path) -> None:
    (folder / "7.txt").rename(folder / "seven.txt")


def pack_again(folder: Path) -> None:
    (folder / "packed.txt.gz").write_bytes(gzip.compress(b"packed otherwise"))


def nothing(folder: Path) -> None:
    """Leave all as it is."""


#: What is done to the folder, one after the other -> files read, files mapped.
HISTORY: list[tuple[Callable[[Path], None], set[str], int]] = [
    (change, {"3.txt"}, 1),
    (add, {"new.txt"}, 1),
    (remove, set(), 0),
    (rename, {"seven.txt"}, 1),
    (pack_again, {"packed.txt.gz"}, 1),
    (nothing, set(), 0),
]


def program_of(inc: incoop.Session) -> RddProgram:
    inc._rdds = None  # as in a new process
    return inc.rdds


def test_only_files_that_changed_are_read_and_mapped(
    inc: incoop.Session, spark: SparkSession, folder: Path, read: list[str], base: Path
) -> None:
    assert index(program_of(inc).whole_text_files(str(folder))) == index(spark.sparkContext.wholeTextFiles(str(folder)))
    for edit, looked_at, mapped in HISTORY:
        edit(folder)
        read.clear()
        program = program_of(inc)
        found = index(program.whole_text_files(str(folder)))
        assert set(read) == looked_at, edit.__name__
        assert [report.map.executed for report in program.reports] == [mapped], edit.__name__
        assert found == index(spark.sparkContext.wholeTextFiles(str(folder))), edit.__name__
        assert program.notes == []
    with incoop.connect(base / "from-scratch", spark=spark) as anew:
        assert found == index(anew.wholeTextFiles(str(folder)))


@pytest.mark.parametrize("use_unicode", [True, False])
def test_files_come_as_spark_gives_them_in_its_order(
    inc: incoop.Session, spark: SparkSession, folder: Path, use_unicode: bool
) -> None:
    program = program_of(inc)
    for named in (str(folder), f"{folder}/*.txt", f"file://{folder}/1.txt,{folder}"):
        ours = program.whole_text_files(named, use_unicode=use_unicode)
        theirs = spark.sparkContext.wholeTextFiles(named, use_unicode=use_unicode)
        assert ours.map(lambda pair: pair).collect() == ours.collect() == theirs.collect()
        assert ours.getNumPartitions() == theirs.getNumPartitions()
    assert program.notes == []


def test_a_folder_that_grows_by_a_file_is_not_read_again(
    inc: incoop.Session, spark: SparkSession, folder: Path, read: list[str]
) -> None:
    (folder / "odd name, é%20.txt").unlink()  # Spark drops its byte order mark, so Spark reads it
    for _ in range(2):
        program = program_of(inc)
        assert program.text_file(str(folder)).map(len).sum() == spark.sparkContext.textFile(str(folder)).map(len).sum()
        if (folder / "new.txt").exists():
            assert read == ["new.txt"]
            assert [report.map.executed for report in program.reports] == [1]
        read.clear()
        add(folder)
