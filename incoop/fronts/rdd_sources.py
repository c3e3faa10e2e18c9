"""Where the records of a program come from: local files, and plain Spark data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import RDD

from inchdfs.records import RecordFormat
from incoop.fronts.hadoop_paths import local_files
from incoop.fronts.rdd_import import ImportedBlocks
from incoop.fronts.rdd_lineage import Base, Unmemoized
from incoop.fronts.rdd_steps import Shape

if TYPE_CHECKING:
    from incoop.fronts.rdd_program import RddProgram


class Files(Base):
    """Local files, as `textFile` reads them."""

    shape = Shape.RECORDS

    def __init__(self, path: str, records: RecordFormat, plain: Callable[[], RDD[Any]], number: int) -> None:
        self.path, self.records, self._read = path, records, plain
        self.name = f"input {number}"
        self._plain: RDD[Any] | None = None

    def input(self) -> list[str]:
        return self._files()

    def _files(self) -> list[str]:
        files = local_files(self.path)
        if files is None:
            raise Unmemoized(f"{self.path} is read by Spark itself")
        return files

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            self._plain = self._read()
        return self._plain

    def partitions(self) -> int:
        return self.plain().getNumPartitions()

    def empty(self) -> bool:
        return not any(Path(file).stat().st_size for file in self._files())


class Imported(Base):
    """Elements of a plain RDD."""

    shape = Shape.STORED

    def __init__(self, program: RddProgram, rdd: RDD[Any], number: int, one_by_one: bool = False) -> None:
        self._rdd = rdd
        self._program, self._one_by_one = program, one_by_one
        self._blocks: ImportedBlocks | None = None
        self.name = f"data {number}"

    def input(self) -> ImportedBlocks:
        if self._blocks is None:
            self._blocks = ImportedBlocks(self._rdd, self._program.worker_config(), self._one_by_one)
        return self._blocks

    def plain(self) -> RDD[Any]:
        return self._rdd

    def partitions(self) -> int:
        return self._rdd.getNumPartitions()

    def empty(self) -> bool:
        return not self.input().output_blocks()
