"""`-reducer aggregate`: Hadoop's aggregate package, for keys such as `LongValueSum:word`.

Contract: the combiner's output is valid input for itself and for the reducer. Reports are those of Hadoop, to the byte:
64-bit sums, doubles as Java prints them, texts compared by their UTF-16 units.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import groupby

from incoop.base.errors import IncoopError
from incoop.fronts.streaming.lines import KeyRule

_TWO_TO_64 = 1 << 64


class BrokenRecord(IncoopError):
    """A mapper printed a line that `-reducer aggregate` cannot read."""

    def __init__(self, line: str, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why

    def __str__(self) -> str:
        return (
            f"-reducer aggregate cannot read the record {self.line!r}: {self.why}. "
            "Lines have to be like LongValueSum:name TAB number."
        )


def java_double(number: float) -> str:
    """A double as Java prints it.

    Example:
        >>> java_double(100.0), java_double(1.5e10), java_double(0.00001)
        ('100.0', '1.5E10', '1.0E-5')
    """
    if math.isnan(number) or math.isinf(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        text = format(Decimal(repr(number)), "f")
        return text if "." in text else text + ".0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    shown = "".join(map(str, digits)).rstrip("0")
    assert isinstance(exponent, int)
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{exponent + len(digits) - 1}"


def _long(value: bytes) -> int:
    if not value.lstrip(b"+-").isdigit() or not -(1 << 63) <= int(value) < 1 << 63:
        raise ValueError(f"{value.decode('utf-8', 'replace')!r} is no 64-bit integer")
    return int(value)


def _wrapped(total: int) -> int:
    return (total + _TWO_TO_64 // 2) % _TWO_TO_64 - _TWO_TO_64 // 2


def _decimal(number: int) -> bytes:
    return b"%d" % number


def _units(value: bytes) -> bytes:
    return value.decode("utf-8", "replace").encode("utf-16-be", "surrogatepass")


def _long_sum(values: list[bytes]) -> list[bytes]:
    return [_decimal(_wrapped(sum(map(_long, values))))]


def _long_max(values: list[bytes]) -> list[bytes]:
    return [_decimal(max(map(_long, values)))]


def _long_min(values: list[bytes]) -> list[bytes]:
    return [_decimal(min(map(_long, values)))]


def _double_sum(values: list[bytes]) -> list[bytes]:
    return [java_double(sum(map(float, values))).encode()]


def _text_max(values: list[bytes]) -> list[bytes]:
    return [max(values, key=_units)]


def _text_min(values: list[bytes]) -> list[bytes]:
    return [min(values, key=_units)]


def _distinct(values: list[bytes]) -> list[bytes]:
    return sorted(set(values))


def _histogram(values: list[bytes]) -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for value in values:
        text, tab, count = value.rpartition(b"\t")
        counts[text if tab else value] += _long(count) if tab else 1
    return counts


def _counted(values: list[bytes]) -> list[bytes]:
    return [value + b"\t" + _decimal(count) for value, count in sorted(_histogram(values).items())]


def _distribution(values: list[bytes]) -> list[bytes]:
    """Number of distinct values; least, median, greatest, average and standard deviation of their counts."""
    counts = sorted(_histogram(values).values())
    average = sum(counts) / len(counts)
    spread = 0.0
    for count in counts:
        spread += (count - average) * (count - average)
    numbers = [len(counts), counts[0], counts[len(counts) // 2], counts[-1]]
    texts = [*map(str, numbers), java_double(average), java_double(math.sqrt(spread / len(counts)))]
    return ["\t".join(texts).encode()]


Fold = Callable[[list[bytes]], list[bytes]]

#: Kind -> (what a combiner makes of values, what a reducer does).
_KINDS: dict[bytes, tuple[Fold, Fold]] = {
    b"LongValueSum": (_long_sum, _long_sum),
    b"LongValueMax": (_long_max, _long_max),
    b"LongValueMin": (_long_min, _long_min),
    b"DoubleValueSum": (_double_sum, _double_sum),
    b"StringValueMax": (_text_max, _text_max),
    b"StringValueMin": (_text_min, _text_min),
    b"UniqValueCount": (_distinct, lambda values: [_decimal(len(set(values)))]),
    b"ValueHistogram": (_counted, _distribution),
}


def aggregate(lines: Iterable[bytes], rule: KeyRule, combine: bool) -> list[bytes]:
    r"""Combine or reduce sorted lines.

    Example:
        >>> aggregate([b"LongValueSum:a\t1", b"LongValueSum:a\t2"], KeyRule(), combine=False)
        [b'a\t3']
    """
    found: list[bytes] = []
    for key, group in groupby(map(rule.split, lines), key=lambda each: each[0]):
        values = [value for _, _, value in group]
        kind, colon, name = key.partition(b":")
        if not colon or kind not in _KINDS:
            known = ", ".join(each.decode() for each in _KINDS)
            raise BrokenRecord(key.decode("utf-8", "replace"), f"it does not begin with one of {known} and a colon")
        fold = _KINDS[kind][0 if combine else 1]
        try:
            results = fold(values)
        except ValueError as error:
            raise BrokenRecord(key.decode("utf-8", "replace"), str(error)) from None
        found += [(key if combine else name) + rule.separator + result for result in results]
    return found
