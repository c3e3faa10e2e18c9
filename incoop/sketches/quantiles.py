"""Quantiles of numbers to within 0.8 % of each.

Contract: a sketch counts how many numbers are in each bin, and nothing else: its bytes are the bins in their order with
their counts. Bins are cut from the bits of a float (its exponent and the first bits of its fraction), so that no
logarithm decides, which could be another on another machine.

Reference: Masson et al., "DDSketch", VLDB 2019; its bins are powers of a base, ours the same width on average.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from incoop.base.errors import BadCall

#: Bits of a float's fraction that tell bins apart: a bin is at most 1/64 wide, its middle at most 1/128 = 0.8 % away.
_FRACTION_BITS = 6
_SHIFT = 52 - _FRACTION_BITS

#: How far a quantile may be from the number that it is of; numbers below 1e-300 are as good as zero.
RELATIVE_ERROR = 2.0 ** -(_FRACTION_BITS + 1)

_BIN = np.dtype([("bin", "<i4"), ("count", "<u8")])

_FLOAT, _BITS, _ENTRY = struct.Struct("<d"), struct.Struct("<Q"), struct.Struct("<iQ")
_MAGNITUDE, _INFINITE = (1 << 63) - 1, 0x7FF << 52


class Quantiles:
    """Quantiles of numbers to within 0.8 % of each, by counting the numbers in bins of that relative width.

    Example:
        >>> took = Quantiles.merged([Quantiles([0.1, 0.2]), Quantiles([0.4])])
        >>> took.count, round(took.quantile(0.5), 3)
        (3, 0.2)
    """

    __slots__ = ("_data",)

    def __init__(self, values: Iterable[float] = ()) -> None:
        if isinstance(values, str | bytes):
            raise BadCall("Quantiles takes numbers as a list or another iterable.")
        counts = Counter(map(_bin_of, values))
        self._data = b"".join([_ENTRY.pack(bin_, count) for bin_, count in sorted(counts.items())])

    @classmethod
    def merged(cls, sketches: Iterable[Quantiles]) -> Quantiles:
        """The sketch of all numbers of some sketches."""
        several = [*sketches]
        if len(several) == 1:
            return several[0]
        entries = np.frombuffer(b"".join(each._data for each in several), _BIN)
        bins, places = np.unique(entries["bin"], return_inverse=True)
        counts = np.zeros(len(bins), np.uint64)
        np.add.at(counts, places, entries["count"])
        merged = np.empty(len(bins), _BIN)
        merged["bin"], merged["count"] = bins, counts
        return cls._of(merged.tobytes())

    def __or__(self, other: Quantiles) -> Quantiles:
        return Quantiles.merged([self, other])

    @property
    def count(self) -> int:
        """How many numbers there are, exactly."""
        return int(np.frombuffer(self._data, _BIN)["count"].sum())

    def quantile(self, share: float) -> float:
        """The number below which that share of the others lies: 0.5 is the median, 0 the smallest, 1 the largest.

        It is at most `RELATIVE_ERROR` of it away from the number at `int(share * (count - 1))` in sorted order.
        """
        if not 0 <= share <= 1:
            raise BadCall(f"a quantile is asked for by a share from 0 to 1, not {share!r:.80}.")
        entries = np.frombuffer(self._data, _BIN)
        if not len(entries):
            raise BadCall("there is no quantile of no numbers.")
        place = int(share * (self.count - 1))
        found = int(entries["bin"][np.searchsorted(np.cumsum(entries["count"]), place, side="right")])
        return _middle(found) if found >= 0 else 0.0 - _middle(-1 - found)

    @classmethod
    def _of(cls, data: bytes) -> Self:
        made = cls.__new__(cls)
        made._data = data
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _quantiles, (self._data,)

    def __eq__(self, other: object) -> bool:
        return type(other) is Quantiles and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __bytes__(self) -> bytes:
        return self._data

    def __repr__(self) -> str:
        return f"<quantiles of {self.count:,} numbers>"


def _quantiles(data: bytes) -> Quantiles:
    return Quantiles._of(data)


def _bin_of(number: float) -> int:
    """The bin of a number: those of negative ones are below zero."""
    try:
        (bits,) = _BITS.unpack(_FLOAT.pack(number))
    except (struct.error, OverflowError) as error:
        raise BadCall(f"Quantiles takes numbers that a float can hold, not {number!r:.80}.") from error
    magnitude: int = bits & _MAGNITUDE
    if magnitude >= _INFINITE:
        raise BadCall(f"Quantiles takes finite numbers, not {number!r}. Leave it out.")
    if magnitude == bits or not magnitude:  # -0.0 is zero
        return magnitude >> _SHIFT
    return -1 - (magnitude >> _SHIFT)


def _middle(bin_: int) -> float:
    """The middle of a bin; zero has one of its own."""
    if bin_ == 0:
        return 0.0
    (low,), (high,) = (_FLOAT.unpack(_BITS.pack(at << _SHIFT)) for at in (bin_, bin_ + 1))
    return float(low + (min(high, math.nextafter(math.inf, 0)) - low) / 2)
