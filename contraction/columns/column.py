"""Many values as one column: typed where all are of one type, encoded one by one otherwise.

Contract: a column's bytes are canonical (the same values give the same bytes, whatever column they were cut from),
and `take`, `slice` and `concat` work on bytes, without decoding a value.

    text      one UTF-8 blob and lengths        all exactly str
    raw       one blob and lengths              all exactly bytes
    integer   the narrowest signed array        all exactly int, within 64 bits
    number    float64 array                     all exactly float
    none      nothing                           all None
    pair      columns of the first and second   all tuples of two
    any       encoded values and lengths        the rest
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.arrays import decoded_alike, encoded_alike
from incoop.contraction.columns.encoding import decode, encode
from incoop.contraction.columns.plain import plain_rows, values_of_rows

TEXT, RAW, INTEGER, NUMBER, NONE, PAIR, ANY = range(7)

#: Values of this many bytes on average are copied and compared one by one; shorter ones all at once, by an index of
#: every byte. Both cost the same at about 80 bytes.
_LONG = 100

Ints = npt.NDArray[np.int64]
Index = npt.NDArray[np.intp]


class Column:
    """Immutable. `kind` is one of the constants above."""

    __slots__ = ("blob", "children", "kind", "length", "numbers", "starts")

    def __init__(
        self,
        kind: int,
        length: int,
        *,
        blob: npt.NDArray[np.uint8] | None = None,
        starts: Ints | None = None,
        numbers: npt.NDArray[Any] | None = None,
        children: tuple[Column, Column] | None = None,
    ) -> None:
        self.kind, self.length = kind, length
        #: For text, raw and any: all bytes, and length + 1 offsets into them.
        self.blob, self.starts = blob, starts
        #: For integer (as int64) and number.
        self.numbers = numbers
        self.children = children

    @classmethod
    def of(cls, values: Sequence[Any]) -> Column:
        """Choose the kind that fits all values.

        Example:
            >>> Column.of(["a", "bc"]).to_list(), Column.of([1, None]).to_list()
            (['a', 'bc'], [1, None])
        """
        kinds = set(map(type, values))
        if len(kinds) != 1:
            return cls(NONE, 0) if not kinds else _any_column(values)
        (kind,) = kinds
        if kind is str:
            return _text_column(values)
        if kind is int:
            return _integer_column(values)
        if kind is float:
            return cls(NUMBER, len(values), numbers=np.array(values, np.float64))
        if kind is bytes:
            return _blob_column(RAW, values)
        if kind is type(None):
            return cls(NONE, len(values))
        if kind is tuple and set(map(len, values)) == {2}:
            return _pair([first for first, _ in values], [second for _, second in values])
        return _any_column(values)

    def __len__(self) -> int:
        return self.length

    def to_list(self) -> list[Any]:
        """Decode every value."""
        if self.kind == NONE:
            return [None] * self.length
        if self.numbers is not None:
            return list(self.numbers.tolist())
        if self.children is not None:
            return list(zip(self.children[0].to_list(), self.children[1].to_list(), strict=True))
        if self.kind == ANY and self._size is not None:
            assert self.blob is not None
            if (arrays := decoded_alike(self.blob, self.length)) is not None:
                return arrays
        if self.kind == ANY:
            assert self.blob is not None and self.starts is not None
            if (plain := values_of_rows(self.blob, self.starts)) is not None:
                return plain
        pieces = self._pieces()
        if self.kind == TEXT:
            return [str(piece, "utf-8", "surrogatepass") for piece in pieces]
        return pieces if self.kind == RAW else [decode(piece) for piece in pieces]

    @property
    def _size(self) -> int | None:
        """The bytes of each value, if all are as long and there are some."""
        if not self.length:
            return None
        sizes = self.sizes()
        return int(sizes[0]) if sizes[0] and (sizes == sizes[0]).all() else None

    def _pieces(self) -> list[bytes]:
        assert self.blob is not None and self.starts is not None
        data, ends = self.blob.tobytes(), self.starts.tolist()
        return [data[ends[i] : ends[i + 1]] for i in range(self.length)]

    def take(self, rows: Index) -> Column:
        """The values at `rows`, in that order."""
        if self.kind == NONE or not len(rows):
            return Column(NONE, len(rows))
        if self.numbers is not None:
            return Column(self.kind, len(rows), numbers=self.numbers[rows])
        if self.children is not None:
            return Column(PAIR, len(rows), children=(self.children[0].take(rows), self.children[1].take(rows)))
        assert self.blob is not None and self.starts is not None
        begins = self.starts[rows]
        sizes = self.starts[rows + 1] - begins
        starts = starts_of(sizes)
        if starts[-1] >= _LONG * len(rows):
            if (size := self._size) is not None:
                blob = self.blob.reshape(-1, size)[rows].ravel()
                return Column(self.kind, len(rows), blob=blob, starts=starts)._settled()
            blob = np.frombuffer(b"".join(self._at(rows)), np.uint8)
            return Column(self.kind, len(rows), blob=blob, starts=starts)._settled()
        # Each output byte's source: its value's beginning, plus how far into the value it is.
        source = np.repeat(begins - starts[:-1], sizes) + np.arange(starts[-1])
        return Column(self.kind, len(rows), blob=self.blob[source], starts=starts)._settled()

    def _at(self, rows: Index) -> list[memoryview]:
        """The bytes of the values at `rows`."""
        assert self.blob is not None and self.starts is not None
        data = np.ascontiguousarray(self.blob).data
        bounds = zip(self.starts[rows].tolist(), self.starts[rows + 1].tolist(), strict=True)
        return [data[begin:end] for begin, end in bounds]

    def sizes(self) -> Ints:
        """How many bytes each value has."""
        assert self.starts is not None
        return self.starts[1:] - self.starts[:-1]  # `np.diff` takes three times as long for some thousand

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        arrays = (self.blob, self.starts, self.numbers)
        below = sum(child.nbytes for child in self.children) if self.children is not None else 0
        return below + sum(each.nbytes for each in arrays if each is not None)

    def slice(self, low: int, high: int) -> Column:
        """The values from `low` up to `high`."""
        if self.kind == NONE or low == high:
            return Column(NONE, high - low)
        if self.numbers is not None:
            return Column(self.kind, high - low, numbers=self.numbers[low:high])
        if self.children is not None:
            first, second = self.children
            return Column(PAIR, high - low, children=(first.slice(low, high), second.slice(low, high)))
        assert self.blob is not None and self.starts is not None
        starts = self.starts[low : high + 1]
        blob = self.blob[starts[0] : starts[-1]]
        return Column(self.kind, high - low, blob=blob, starts=starts - starts[0])._settled()

    def _settled(self) -> Column:
        """A mixed column may hold values of one kind once it is cut: then it is that kind."""
        if self.kind != ANY:
            return self
        assert self.blob is not None and self.starts is not None
        tags = self.blob[self.starts[:-1]]
        first = bytes(tags[:1])
        # Only values of one tag, of which a typed column could be made, are worth decoding.
        if not (tags == tags[0]).all() or first not in (b"s", b"b", b"i", b"f", b"N", b"t"):
            return self
        if first == b"t" and not (self.blob[self.starts[:-1] + 1] == 2).all():
            return self
        return Column.of(self.to_list())


def concat(columns: Sequence[Column]) -> Column:
    """Columns one after the other. Columns of different kinds become one of encoded values."""
    columns = [column for column in columns if column.length]
    if not columns:
        return Column(NONE, 0)
    if len(columns) == 1:
        return columns[0]
    kind, length = columns[0].kind, sum(column.length for column in columns)
    if any(column.kind != kind for column in columns):
        return Column.of([value for column in columns for value in column.to_list()])
    if kind == NONE:
        return Column(NONE, length)
    if kind in (INTEGER, NUMBER):
        return Column(kind, length, numbers=np.concatenate([_numbers(column) for column in columns]))
    if kind == PAIR:
        firsts, seconds = zip(*(column.children or () for column in columns), strict=True)
        return Column(PAIR, length, children=(concat(firsts), concat(seconds)))
    blobs = [column.blob for column in columns if column.blob is not None]
    sizes = [column.sizes() for column in columns]
    return Column(kind, length, blob=np.concatenate(blobs), starts=starts_of(np.concatenate(sizes)))


def are_alike(columns: Sequence[Column]) -> bool:
    """Whether columns stand one after the other without a value being decoded.

    Example:
        >>> are_alike([Column.of([1]), Column.of([2])]), are_alike([Column.of([(1, 2)]), Column.of([(1, None)])])
        (True, False)
    """
    columns = [column for column in columns if column.length]
    if len({column.kind for column in columns}) > 1:
        return False
    children = [column.children for column in columns if column.children is not None]
    return all(are_alike(each) for each in zip(*children, strict=True))


def equal_rows(column: Column, here: Index, there: Index) -> npt.NDArray[np.bool_]:
    """For each pair of rows, whether their values have equal bytes."""
    if column.kind == NONE:
        return np.ones(len(here), np.bool_)
    if column.numbers is not None:
        bits = column.numbers.view(np.int64)  # tells 0.0 from -0.0, and finds NaN equal to itself
        same: npt.NDArray[np.bool_] = bits[here] == bits[there]
        return same
    if column.children is not None:
        return equal_rows(column.children[0], here, there) & equal_rows(column.children[1], here, there)
    assert column.blob is not None and column.starts is not None
    sizes = column.sizes()
    same = sizes[here] == sizes[there]
    lengths = sizes[here[same]]
    if int(lengths.sum()) >= _LONG * len(lengths) > 0:
        pairs = zip(column._at(here[same]), column._at(there[same]), strict=True)
        same[same] = [bytes(one) == bytes(other) for one, other in pairs]
        return same
    ends = np.cumsum(lengths)
    steps = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    one = column.blob[np.repeat(column.starts[here[same]], lengths) + steps]
    other = column.blob[np.repeat(column.starts[there[same]], lengths) + steps]
    if (differs := one != other).any():
        unequal = np.unique(np.repeat(np.arange(len(lengths)), lengths)[differs])
        same[np.flatnonzero(same)[unequal]] = False
    return same


def _numbers(column: Column) -> npt.NDArray[Any]:
    assert column.numbers is not None
    return column.numbers


def starts_of(sizes: npt.NDArray[Any]) -> Ints:
    """Offsets of groups with these sizes, and their total."""
    starts = np.empty(len(sizes) + 1, np.int64)
    starts[0] = 0
    np.cumsum(sizes, out=starts[1:])
    return starts


def _text_column(values: Sequence[str]) -> Column:
    joined = "".join(values)
    if joined.isascii():
        blob = np.frombuffer(joined.encode("ascii"), np.uint8)
        sizes = np.fromiter(map(len, values), np.int64, len(values))
        return Column(TEXT, len(values), blob=blob, starts=starts_of(sizes))
    return _blob_column(TEXT, [value.encode("utf-8", "surrogatepass") for value in values])


def _blob_column(kind: int, values: Sequence[bytes]) -> Column:
    sizes = np.fromiter(map(len, values), np.int64, len(values))
    return Column(kind, len(values), blob=np.frombuffer(b"".join(values), np.uint8), starts=starts_of(sizes))


def _integer_column(values: Sequence[int]) -> Column:
    try:
        return Column(INTEGER, len(values), numbers=np.array(values, np.int64))
    except OverflowError:
        return _any_column(values)


def _any_column(values: Sequence[Any]) -> Column:
    if (alike := encoded_alike(values)) is not None:
        blob, size = alike
        return Column(ANY, len(values), blob=blob, starts=np.arange(len(values) + 1, dtype=np.int64) * size)
    return _blob_column(ANY, plain_rows(values) or [encode(value) for value in values])


def _pair(firsts: list[Any], seconds: list[Any]) -> Column:
    return Column(PAIR, len(firsts), children=(Column.of(firsts), Column.of(seconds)))
