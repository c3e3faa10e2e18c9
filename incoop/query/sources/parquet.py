"""Parquet: columns in row groups. What a file holds is read by row group (execution/parquet_blocks.py).

Contract: fields are found by name, as the names in the file are; files may have others, which are not looked at. Equal
rows make equal files, on one version of pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from incoop.query.errors import BadPlan
from incoop.query.sources.text_format import Format
from incoop.query.types import Field, Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch

# Pyarrow is imported where files are read or written, in workers: a run that reuses everything does not wait for it.

#: Rows of a row group that is written: what a query that reads the file maps again when one of them changed.
_ROWS_OF_A_GROUP = 1 << 15


@dataclass(frozen=True, slots=True)
class Parquet(Format):
    """Columns in row groups, with types of their own."""

    #: Digits behind the point of decimals that are written; those that are read may have others.
    scale: int = 18

    suffix: ClassVar[str] = ".parquet"

    def columns_of(self, table: Any, wanted: Sequence[int], warnings: Warnings) -> ColumnBatch:
        """What was read of a row group, whose columns are the wanted fields."""
        from incoop.query.expressions.batches import ColumnBatch
        from incoop.query.sources.arrow_values import to_our_column

        fields = self.known()
        kinds = tuple(fields[at].type for at in wanted)
        columns = [to_our_column(column, kind, warnings) for column, kind in zip(table.columns, kinds, strict=True)]
        return ColumnBatch(kinds, tuple(columns), table.num_rows)

    def known(self) -> tuple[Field, ...]:
        """The fields, which must be known."""
        return self.schema.known("a Parquet file")

    def file_of(self, rows: Iterable[Row]) -> Iterator[bytes]:
        import io

        import pyarrow as pa
        import pyarrow.parquet as pq

        from incoop.query.sources.arrow_values import file_type, names_of, to_file_column

        fields = self.known()
        if not fields:
            raise BadPlan("a Parquet file has one field at least.")
        names = names_of(fields)
        schema = pa.schema([(name, file_type(each.type, self.scale)) for name, each in zip(names, fields, strict=True)])
        out = io.BytesIO()
        left = iter(rows)
        with pq.ParquetWriter(out, schema) as writer:
            while some := list(islice(left, _ROWS_OF_A_GROUP)):
                padded = [row + (None,) * (len(fields) - len(row)) for row in some]
                columns = [
                    to_file_column([row[at] for row in padded], each.type, self.scale) for at, each in enumerate(fields)
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        yield out.getvalue()
