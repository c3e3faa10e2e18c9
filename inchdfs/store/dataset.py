"""Read a stored version: as bytes, as records, and in Spark, with or without incoop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from incoop.base.errors import BadCall
from incoop.inchdfs.cutting.records import Lines, RecordFormat
from incoop.inchdfs.store.dataset_store import DatasetStore, VersionName
from incoop.inchdfs.store.manifest import Manifest, records_of
from incoop.inchdfs.store.packs import Location, read_chunk

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

#: Bytes that one Spark task reads: a few seconds of Python work.
_TASK_BYTES = 32 << 20


class Dataset:
    """One version of a stored dataset.

    Example:
        >>> import tempfile, pathlib, inchdfs
        >>> temporary = tempfile.TemporaryDirectory()
        >>> folder = pathlib.Path(temporary.name)
        >>> _ = (folder / "log.txt").write_text("first\\nsecond\\n")
        >>> store = inchdfs.DatasetStore(folder / "store")
        >>> inchdfs.put(store, inchdfs.expand(folder / "log.txt"), "logs").version
        VersionName(name='logs', version=1)
        >>> list(inchdfs.Dataset(store, "logs").records())
        ['first', 'second']
        >>> temporary.cleanup()
    """

    def __init__(self, store: DatasetStore, name: str, records: RecordFormat | None = None) -> None:
        self.store = store
        self.version: VersionName = store.resolve(name)
        self.manifest: Manifest = store.manifest(str(self.version))
        self._records = records

    @property
    def format(self) -> RecordFormat:
        """How the records are read: as they were stored, unless told otherwise."""
        return self._records or records_of(self.manifest.records_tag)

    def locations(self) -> list[Location]:
        """Where each chunk's bytes are, in order."""
        return self.store.index().locate(self.manifest.rows["id"])

    def chunks(self) -> Iterator[bytes]:
        """The bytes of each chunk, verified."""
        return (read_chunk(where) for where in self.locations())

    def records(self) -> Iterator[Any]:
        """Every record, in order."""
        return (record for chunk in self.chunks() for record in self.format.records(chunk))

    def rdd(self, spark: SparkSession) -> RDD[Any]:
        """The records as an RDD; Python workers read the packs themselves."""
        groups = _grouped(self.locations())
        form = self.format

        def read(group: list[Location]) -> Iterator[Any]:
            return (record for where in group for record in form.records(read_chunk(where)))

        return spark.sparkContext.parallelize(groups, max(1, len(groups))).flatMap(read)

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """The lines as a DataFrame with one column, `value`, as `spark.read.text` gives."""
        if not isinstance(self.format, Lines) or self.format.encoding is None:
            raise BadCall(
                f"only lines of text make a DataFrame by themselves, not {self.format}; use rdd().toDF(schema)."
            )
        return spark.createDataFrame(self.rdd(spark).map(lambda line: (line,)), "value string")


def _grouped(locations: list[Location]) -> list[list[Location]]:
    """Consecutive chunks in groups of about _TASK_BYTES."""
    groups: list[list[Location]] = []
    room = 0
    for where in locations:
        if room < where.length:
            groups.append([])
            room = _TASK_BYTES
        groups[-1].append(where)
        room -= where.length
    return groups
