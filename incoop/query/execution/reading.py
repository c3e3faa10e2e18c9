"""The records of pieces as rows: bytes of files by their format, pairs of earlier stages by what they hold.

Contract: rows of a piece follow from that piece alone, whichever pieces are read beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from incoop.query.execution.held import Held, Types
from incoop.query.execution.keys import KeyForm
from incoop.query.sources.quoted import QuotedText, well_quoted
from incoop.query.sources.text_format import TextFormat
from incoop.query.types import Row
from incoop.query.warnings import Warnings

if TYPE_CHECKING:
    from incoop.query.expressions.batches import ColumnBatch


class PairShape(Enum):
    """What the pairs of a stage hold."""

    #: The value is a row.
    ROWS = "rows"
    #: The key is a row.
    KEYS = "keys"
    #: The key is a row but for its last field, which is the value.
    KEYS_AND_VALUE = "keys and value"
    #: The key is the number of a range of an ordered relation, the value its rows in their order.
    RANGES = "ranges"
    #: Key and value are the two fields of a row.
    PAIRS = "pairs"


class Reading(ABC):
    """How pieces become rows."""

    @abstractmethod
    def read(self, pieces: Sequence[Sequence[Any]], warnings: Warnings) -> Held: ...


@dataclass(frozen=True, slots=True)
class ReadText(Reading):
    """Bytes of files; each piece holds all of its bytes as one record, or none."""

    form: TextFormat
    wanted: tuple[int, ...] | None
    types: Types
    #: Whether pieces begin their files.
    first: bool = False

    def read(self, pieces: Sequence[Sequence[Any]], warnings: Warnings) -> Held:
        contents = [b"".join(records) for records in pieces]
        whole = contents[0] if len(contents) == 1 else b"".join(contents)
        if self.types is None:
            rows = [self.form.rows(each, warnings, self.wanted, self.first) for each in contents]
            numbers = np.repeat(np.arange(len(contents)), [len(each) for each in rows])
            return Held(None, numbers, None, [row for each in rows for row in each])
        if len(contents) > 1 and (counts := self._counted(whole, contents)) is not None:
            tally = Warnings()
            batch = self._columns(whole, tally)
            if batch.length == sum(counts):
                warnings.add(tally)
                return Held(self.types, np.repeat(np.arange(len(contents)), counts), batch)
        if len(contents) == 1:
            batch = self._columns(whole, warnings)
            return Held(self.types, np.zeros(batch.length, np.int64), batch)
        parts = [self._columns(each, warnings) for each in contents]
        numbers = np.repeat(np.arange(len(parts)), [each.length for each in parts])
        return Held(self.types, numbers, together(parts, self.types))

    def _columns(self, content: bytes, warnings: Warnings) -> ColumnBatch:
        return self.form.columns(content, warnings, self.wanted, self.first)

    def _counted(self, whole: bytes, contents: list[bytes]) -> list[int] | None:
        """How many rows each piece has, where that can be told without reading them: a row ends with a newline."""
        if self.first or whole.count(b"\r") != whole.count(b"\r\n"):
            return None
        if isinstance(self.form, QuotedText):
            if b"\n\n" in whole or b"\n\r\n" in whole or whole[:1] in (b"\n", b"\r"):
                return None  # empty lines are no rows
            if b'"' in whole:
                return self._outside_quotes(whole, contents) if well_quoted(whole, self.form.delimiter) else None
        counts = [each.count(b"\n") for each in contents]
        counts[-1] += bool(whole) and not whole.endswith(b"\n")
        return counts

    def _outside_quotes(self, whole: bytes, contents: list[bytes]) -> list[int]:
        data = np.frombuffer(whole, np.uint8)
        newlines = np.flatnonzero(data == ord("\n"))
        newlines = newlines[np.searchsorted(np.flatnonzero(data == ord('"')), newlines) % 2 == 0]
        ends = np.cumsum([len(each) for each in contents])
        behind = np.searchsorted(newlines, ends)
        counts: list[int] = np.diff(behind, prepend=0).tolist()
        counts[-1] += not whole.endswith(b"\n")
        return counts


def together(parts: Sequence[ColumnBatch], types: tuple[Any, ...]) -> ColumnBatch:
    """Batches one after the other."""
    import pyarrow as pa

    from incoop.query.expressions.batches import ColumnBatch

    columns: list[Any] = []
    for at in range(len(types)):
        several = [part.columns[at] for part in parts]
        if any(isinstance(each, list) for each in several):
            columns.append(
                [value for each in several for value in (each if isinstance(each, list) else each.to_pylist())]
            )
        else:
            columns.append(pa.concat_arrays(several))
    return ColumnBatch(types, tuple(columns), sum(part.length for part in parts))


@dataclass(frozen=True, slots=True)
class ReadPairs(Reading):
    """Pairs of an earlier stage."""

    shape: PairShape
    types: Types
    #: How keys are written, where rows are in them.
    keys: KeyForm | None = None

    def read(self, pieces: Sequence[Sequence[Any]], warnings: Warnings) -> Held:
        rows: list[Row] = []
        counts: list[int] = []
        ranges: list[int] = []
        for pairs in pieces:
            before = len(rows)
            if self.shape is PairShape.RANGES:
                for number, some in pairs:
                    rows += some
                    ranges += [number] * len(some)
            else:
                rows += self.rows(pairs)
            counts.append(len(rows) - before)
        numbers = np.repeat(np.arange(len(pieces)), counts)
        numbered = np.array(ranges, np.int64) if self.shape is PairShape.RANGES else None
        return Held(self.types, numbers, None, rows, numbered)

    def rows(self, pairs: Sequence[Any]) -> list[Row]:
        """The rows of some pairs."""
        if self.shape is PairShape.ROWS:
            return [row for _, row in pairs]
        if self.shape is PairShape.PAIRS:
            return [tuple(pair) for pair in pairs]
        if self.shape is PairShape.RANGES:
            return [row for _, some in pairs for row in some]
        assert self.keys is not None
        keys = [key for key, _ in pairs]
        if self.keys.types is None:
            assert self.shape is PairShape.KEYS, "only whole rows have any width"
            return list(map(self.keys.values, keys))
        columns = self.keys.columns(keys)
        if self.shape is PairShape.KEYS_AND_VALUE:
            columns.append([value for _, value in pairs])
        return list(zip(*columns, strict=True)) if columns else [()] * len(keys)
