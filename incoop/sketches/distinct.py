"""How many different values there are, to within a few percent, in at most a few kilobytes.

Contract: the bytes of a sketch are those of its registers, in the form that takes fewer of them: all registers, or
those that are not zero. So they follow from the set of values alone.

References: Flajolet et al., "HyperLogLog", AofA 2007; Ertl, "New cardinality estimation algorithms for HyperLogLog
sketches", arXiv 1702.01284, whose estimate needs no tables of biases.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import xxhash

from incoop.base.errors import BadCall
from incoop.contraction.columns.encoding import encode

#: 2 ** 12 registers: a standard error of 1.04 / 64 = 1.6 %, in at most 4 KiB.
PRECISION = 12

#: Below 4 there are too few registers to estimate from; above 16 a register has no number of two bytes.
_PRECISIONS = range(4, 17)

#: A register that is not zero, while these take fewer bytes than all registers.
_ENTRY = np.dtype([("register", "<u2"), ("rank", "u1")])


class Distinct:
    """How many different values there are (HyperLogLog). Two are one if they are equal and of one type.

    Example:
        >>> Distinct.merged([Distinct(["ann", "bob"]), Distinct(["bob"])]).count()
        2
    """

    __slots__ = ("_data", "precision")

    def __init__(self, values: Iterable[Any] = (), precision: int = PRECISION) -> None:
        if precision not in _PRECISIONS:
            raise BadCall(f"Distinct has a precision from 4 to 16, not {precision!r:.80}.")
        if isinstance(values, str | bytes):
            raise BadCall("Distinct takes values as a list or another iterable: Distinct([value]) for one.")
        ranks: dict[int, int] = {}
        rest = 64 - precision
        for value in values:
            hashed = _hash(value)
            register, rank = hashed >> rest, rest - (hashed & (1 << rest) - 1).bit_length() + 1
            if rank > ranks.get(register, 0):
                ranks[register] = rank
        self.precision = precision
        self._data = _sparse(sorted(ranks.items()), precision)

    @classmethod
    def merged(cls, sketches: Iterable[Distinct]) -> Distinct:
        """The sketch of all values of some sketches, which must have one precision."""
        several = [*sketches]
        if not several:
            return cls()
        precision = several[0].precision
        if any(each.precision != precision for each in several):
            raise BadCall("only sketches of one precision can be merged. Make all of them with the same.")
        if len(several) == 1:
            return several[0]
        size = 1 << precision
        dense = [each._data for each in several if len(each._data) == size]
        registers = np.zeros(size, np.uint8)
        for data in dense:
            np.maximum(registers, np.frombuffer(data, np.uint8), out=registers)
        entries = np.frombuffer(b"".join(each._data for each in several if len(each._data) != size), _ENTRY)
        np.maximum.at(registers, entries["register"], entries["rank"])
        return cls._of(_packed(registers), precision)

    def __or__(self, other: Distinct) -> Distinct:
        return Distinct.merged([self, other])

    def count(self) -> int:
        """About how many different values there are: with a standard error of 1.04 / sqrt(2 ** precision)."""
        size, rest = 1 << self.precision, 64 - self.precision
        counts = np.bincount(self._registers(), minlength=rest + 2).tolist()
        total = size * _tau(1 - counts[rest + 1] / size)
        for rank in range(rest, 0, -1):
            total = 0.5 * (total + counts[rank])
        total += size * _sigma(counts[0] / size)
        return round(size * size / (2 * math.log(2)) / total)

    def _registers(self) -> npt.NDArray[np.uint8]:
        size = 1 << self.precision
        if len(self._data) == size:
            return np.frombuffer(self._data, np.uint8)
        registers = np.zeros(size, np.uint8)
        entries = np.frombuffer(self._data, _ENTRY)
        registers[entries["register"]] = entries["rank"]
        return registers

    @classmethod
    def _of(cls, data: bytes, precision: int) -> Self:
        made = cls.__new__(cls)
        made._data, made.precision = data, precision
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _distinct, (self._data, self.precision)

    def __eq__(self, other: object) -> bool:
        return type(other) is Distinct and (self._data, self.precision) == (other._data, other.precision)

    def __hash__(self) -> int:
        return hash((self._data, self.precision))

    def __bytes__(self) -> bytes:
        return self._data

    def __repr__(self) -> str:
        return f"<about {self.count():,} different values>"


def _distinct(data: bytes, precision: int) -> Distinct:
    return Distinct._of(data, precision)


def _hash(value: Any) -> int:
    if type(value) is str:
        return xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass"))
    return xxhash.xxh3_64_intdigest(encode(value), seed=1)


def _sparse(entries: list[tuple[int, int]], precision: int) -> bytes:
    packed = b"".join([register.to_bytes(2, "little") + bytes((rank,)) for register, rank in entries])
    if len(packed) < 1 << precision:
        return packed
    registers = np.zeros(1 << precision, np.uint8)
    registers[[register for register, _ in entries]] = [rank for _, rank in entries]
    return registers.tobytes()


def _packed(registers: npt.NDArray[np.uint8]) -> bytes:
    """Registers in the form that takes fewer bytes."""
    there = np.flatnonzero(registers)
    if len(there) * _ENTRY.itemsize >= len(registers):
        return registers.tobytes()
    entries = np.empty(len(there), _ENTRY)
    entries["register"], entries["rank"] = there, registers[there]
    return entries.tobytes()


def _sigma(share: float) -> float:
    """Ertl's correction for registers that are zero."""
    if share == 1:
        return math.inf
    power, total, before = 1.0, share, -1.0
    while total != before:
        share *= share
        before = total
        total += share * power
        power += power
    return total


def _tau(share: float) -> float:
    """Ertl's correction for registers that are full."""
    if share in (0, 1):
        return 0.0
    power, total, before = 1.0, 1 - share, -1.0
    while total != before:
        share = math.sqrt(share)
        before = total
        power *= 0.5
        total -= (1 - share) ** 2 * power
    return total / 3
