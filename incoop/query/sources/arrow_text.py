"""Delimited text to columns by pyarrow's reader of CSV, where it reads what the plain way reads.

Contract: the columns that the plain way gives, and its warnings; or None, where the plain way has to be taken: rows
of several widths, a byte order mark, a row longer than a block. Fields that pyarrow would read by rules of its own
are taken as bytes and cast as expressions cast them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from incoop.query.expressions import columns
from incoop.query.expressions.batches import ColumnBatch, arrow_type, to_column
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Cast, Reference
from incoop.query.types import BYTES, DOUBLE, FLOAT, FLOATS, INT, LONG, TEXT, Field, Type
from incoop.query.warnings import Warnings

#: Types whose text pyarrow reads as we do, as far as it reads it at all, hexadecimal digits and NaN aside.
_DIRECT = (INT, LONG, FLOAT, DOUBLE, TEXT)
#: A block is parsed at once; a row has to fit one. Larger ones are no faster.
_BLOCK = 1 << 24


def read_columns(
    chunk: bytes,
    fields: Sequence[Field],
    wanted: Sequence[int],
    delimiter: str,
    warnings: Warnings,
    quoted: bool = False,
    keep_empty_lines: bool = True,
    width: int | None = None,
) -> ColumnBatch | None:
    """Columns of the wanted fields. `width` is how many fields the first row has; all others must have as many."""
    if chunk.startswith(b"\xef\xbb\xbf") or width is None:
        return None
    there = [at for at in wanted if at < width]
    kinds = {at: fields[at].type for at in there}
    as_bytes = {at for at, kind in kinds.items() if kind not in _DIRECT}
    if b"0x" in chunk or b"0X" in chunk:
        as_bytes |= {at for at, kind in kinds.items() if kind != TEXT}
    reading = _Reading(chunk, delimiter, quoted, keep_empty_lines, width)
    found = reading.read(kinds, as_bytes)
    if found is None and reading.regular:
        found = reading.read(kinds, as_bytes := set(there))
    if found is None:
        return None
    for at in there:  # "nan(1)" is NaN to pyarrow: look at what was written
        if kinds[at] in FLOATS and at not in as_bytes and pc.any(pc.is_nan(found[at])).as_py():
            again = reading.read({at: kinds[at]}, {at})
            assert again is not None
            found[at] = again[at]
            as_bytes.add(at)
    length = reading.length
    result = []
    for at in wanted:
        kind = fields[at].type
        if at not in found:
            result.append(to_column([None] * length, kind))
        elif at in as_bytes and kind != BYTES:
            result.append(_cast(found[at], kind, length, warnings))
        else:
            result.append(found[at])
    return ColumnBatch(tuple(fields[at].type for at in wanted), tuple(result), length)


def _cast(column: Any, kind: Type, length: int, warnings: Warnings) -> Any:
    batch = ColumnBatch((BYTES,), (column,), length)
    return columns.evaluate(Cast(Reference(0, BYTES), kind), batch, Evaluation(warnings))


class _Reading:
    """One chunk, read once or several times."""

    def __init__(self, chunk: bytes, delimiter: str, quoted: bool, keep_empty_lines: bool, width: int) -> None:
        self.chunk = chunk
        self.length = 0
        #: Whether all rows are of one width.
        self.regular = True
        self._names = [str(at) for at in range(width)]
        self._parse = csv.ParseOptions(
            delimiter=delimiter,
            quote_char='"' if quoted else False,
            double_quote=quoted,
            newlines_in_values=quoted,
            ignore_empty_lines=not keep_empty_lines,
            invalid_row_handler=self._irregular,
        )

    def _irregular(self, row: Any) -> str:
        self.regular = False
        return "error"

    def read(self, kinds: dict[int, Type], as_bytes: set[int]) -> dict[int, Any] | None:
        """Arrays by place; those to be cast are bytes. None where something cannot be read so."""
        names = [str(at) for at in kinds] or self._names[:1]
        types = {str(at): pa.binary() if at in as_bytes else arrow_type(kind) for at, kind in kinds.items()}
        try:
            table = csv.read_csv(
                pa.BufferReader(self.chunk),
                read_options=csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=self._names),
                parse_options=self._parse,
                convert_options=csv.ConvertOptions(
                    column_types=types or {self._names[0]: pa.binary()},
                    include_columns=names,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        self.length = table.num_rows
        return {at: _whole(table.column(str(at))) for at in kinds}


def _whole(column: Any) -> Any:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
