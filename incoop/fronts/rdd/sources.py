"""Where the records of a program come from: local files, and plain Spark data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import RDD

from incoop import inchdfs
from incoop.engine.blocks import ChunkBlock
from incoop.engine.inputs import BlockSource
from incoop.engine.stored import BlobReader
from incoop.fronts.common.made_blocks import MadeBlock, MadeBlocks, id_of
from incoop.fronts.rdd.hadoop_paths import OTHER_CODECS, local_files
from incoop.fronts.rdd.hadoop_splits import Sized, whole_file_splits
from incoop.fronts.rdd.imported_blocks import ImportedBlocks
from incoop.fronts.rdd.lineage import Base, Quietly, Unmemoized
from incoop.fronts.rdd.records import file_as_record
from incoop.fronts.rdd.steps import NarrowStep, Shape, read_light
from incoop.inchdfs.cutting.records import RecordFormat, WholeFile

if TYPE_CHECKING:
    from incoop.fronts.rdd.program import RddProgram

#: How Spark names a local file.
_LOCAL = "file:/"

#: Files whose bytes are not those of their lines.
_COMPRESSED = (".gz", ".bz2")

#: The lines of this many bytes are made at once: often all that a program wants to see of a file.
_PIECE = 1 << 16


class Files(Base):
    """Local files, as `textFile` reads them."""

    shape = Shape.RECORDS
    raw = True

    def __init__(
        self,
        program: RddProgram,
        path: str,
        records: RecordFormat,
        plain: Callable[[], RDD[Any]],
        number: int,
        splits: Callable[[list[Sized]], int | None] = lambda files: None,
    ) -> None:
        """`splits` says how many partitions Spark makes of files, where that is known without Spark."""
        self._program, self.path, self.records, self._read, self._splits = program, path, records, plain, splits
        self.name = f"input {number}"
        self._plain: RDD[Any] | None = None

    def input(self) -> inchdfs.Listing:
        return inchdfs.Listing(f"{self._program.folder or Path.cwd()} {self.path}", tuple(self._files()))

    def _files(self) -> list[str]:
        files = local_files(self.path, self._program.folder)
        if files is None:
            raise Unmemoized(f"{self.path} is read by Spark itself")
        return files

    def blocks(self) -> MadeBlocks:
        def chunks() -> list[MadeBlock]:
            manifest = self._program.session.index(self.input(), self.records)
            form = repr(self.records).encode()
            return [
                MadeBlock(
                    id_of("chunk", form, where.id), where.length, tail, partial(ChunkBlock(where).records, self.records)
                )
                for where, tail in zip(
                    inchdfs.locate(self._program.session.datasets, manifest),
                    manifest.rows["tail"].tolist(),
                    strict=True,
                )
            ]

        return MadeBlocks(chunks)

    def read(self, steps: Sequence[NarrowStep] = ()) -> Iterator[Any]:
        return read_light(steps, self._lines(), self.shape)

    def _lines(self) -> Iterator[Any]:
        """The lines as they stand in the files; nothing is read before it is asked for."""
        files = self._files()
        if any(file.endswith(_COMPRESSED) for file in files):
            yield from _records(self._program, self.blocks())
            return
        for file in files:
            with Path(file).open("rb") as opened:
                while piece := opened.read(_PIECE):
                    yield from self.records.records(piece + opened.readline())

    def unread_bytes(self) -> int:
        return sum(Path(file).stat().st_size for file in self._files())

    def plain(self) -> RDD[Any]:
        if self._plain is None:
            self._plain = self._read()
        return self._plain

    def partitions(self) -> int:
        files = local_files(self.path, self._program.folder) if self._program.unstarted else None
        known = self._splits([(file, Path(file).stat().st_size) for file in files]) if files is not None else None
        return known if known is not None else self.plain().getNumPartitions()

    def empty(self) -> bool:
        return not any(Path(file).stat().st_size for file in self._files())


def _records(program: RddProgram, source: BlockSource) -> Iterator[Any]:
    """What blocks hold, read here and now."""
    reader = BlobReader(program.worker_config().open())
    for block in source.output_blocks():
        yield from block.pairs(reader)


class WholeFiles(Base):
    """Local files, each a record of its path and its content, as `wholeTextFiles` reads them."""

    shape = Shape.STORED
    raw = True

    def __init__(
        self,
        program: RddProgram,
        path: str,
        plain: Callable[[], RDD[Any]],
        least: Callable[[], int],
        use_unicode: bool,
        number: int,
    ) -> None:
        """`least` says how many partitions the program wants at least."""
        self._program, self._path, self._read, self._least = program, path, cache(plain), least
        self._use_unicode = use_unicode
        self.name = f"files {number}"
        self._source: BlockSource | None = None

    def plain(self) -> RDD[Any]:
        return self._read()

    def input(self) -> BlockSource:
        if self._source is None:
            splits = self._splits()
            uris = [uri for split in splits for uri in split] if splits is not None else _listed(self.plain())
            if uris is None or any(uri.endswith(OTHER_CODECS) for uri in uris):
                self._source = ImportedBlocks(self.plain(), self._program.worker_config(), one_by_one=True)
            else:
                self._source = MadeBlocks(partial(self._files, uris))
        return self._source

    def _splits(self) -> list[list[str]] | None:
        """The files of each partition, in Spark's order, where that is known without Spark."""
        certain = self._program.unstarted and "," not in self._path
        files = local_files(self._path, self._program.folder) if certain else None
        if files is None:
            return None
        sizes = [Path(file).stat().st_size for file in files]
        return [[f"file:{files[number]}" for number in split] for split in whole_file_splits(sizes, self._least())]

    def read(self, steps: Sequence[NarrowStep] = ()) -> Iterator[Any]:
        return read_light(steps, _records(self._program, self.input()), self.shape)

    def partitions(self) -> int:
        splits = self._splits()
        return len(splits) if splits is not None else self.plain().getNumPartitions()

    def empty(self) -> bool:
        return not self.blocks().output_blocks()

    def _files(self, uris: list[str]) -> list[MadeBlock]:
        """A block for each file. Those that did not move since the last run are not read."""
        if not uris:
            return []
        session = self._program.session
        paths = tuple(uri.removeprefix(_LOCAL[:-1]) for uri in uris)
        manifest = session.index(
            inchdfs.Listing(f"{self._program.folder or Path.cwd()} {self._path}", paths), WholeFile()
        )
        places = iter(inchdfs.locate(session.datasets, manifest))
        made: list[MadeBlock] = []
        for uri, (entry, rows) in zip(uris, manifest.by_file(), strict=True):
            chunk = ChunkBlock(next(places)) if len(rows) else None
            content = chunk.id if chunk is not None else b""
            made.append(
                MadeBlock(
                    id_of("file", uri.encode(), content, bytes([self._use_unicode])),
                    max(1, entry.size),  # an empty file is a record, too
                    xxhash.xxh3_64_intdigest(uri.encode()),
                    partial(file_as_record, uri, chunk, self._use_unicode),
                )
            )
        return made


def _listed(rdd: RDD[Any]) -> list[str] | None:
    """The files that Spark will read for `wholeTextFiles`, in its order; None where they are not local."""
    uris: list[str] = []
    assert rdd.ctx._jvm is not None
    joined = rdd.ctx._jvm.org.apache.commons.lang3.ArrayUtils.toString
    try:
        partitions = rdd._jrdd.rdd().partitions()
    except Py4JJavaError as error:
        raise Quietly("Spark cannot list the files, and says so itself") from error
    for partition in partitions:
        split = partition.serializableHadoopSplit().value()
        # One answer for all paths of a partition; asking for them one by one takes as long as reading the files.
        text = joined(split.getPaths()).removeprefix("{").removesuffix("}")
        paths = re.split(f",(?={_LOCAL})", text)
        if len(paths) != split.getNumPaths() or not all(path.startswith(_LOCAL) for path in paths):
            return None
        uris += paths
    return uris


class Imported(Base):
    """Elements of a plain RDD."""

    shape = Shape.STORED

    def __init__(self, program: RddProgram, rdd: RDD[Any], number: int) -> None:
        self._program, self._rdd = program, rdd
        self._blocks: ImportedBlocks | None = None
        self.name = f"data {number}"

    def input(self) -> ImportedBlocks:
        if self._blocks is None:
            self._blocks = ImportedBlocks(self._rdd, self._program.worker_config())
        return self._blocks

    def plain(self) -> RDD[Any]:
        return self._rdd

    def partitions(self) -> int:
        return self._rdd.getNumPartitions()

    def empty(self) -> bool:
        return not self.blocks().output_blocks()


class Computed(Imported):
    """Elements that plain Spark computes in the place of a stage."""

    computed = True
