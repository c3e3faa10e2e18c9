"""Jobs of many kinds, with the traps that keys, values and order set."""

from __future__ import annotations

import datetime
import decimal
from collections import namedtuple
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import incoop
from incoop import Job

Pairs = Iterator[tuple[Any, Any]]


def words(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield word, 1


def numbers(_: Any, line: str) -> Pairs:
    for number, word in enumerate(line.split()):
        yield word, int(word[1:]) * (1 if number % 2 else -1)


def huge_numbers(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield word[:2], int(word[1:]) ** 20 - (1 << 63)


def eighths(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield word, int(word[1:]) / 8


def sums_and_counts(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield word, (int(word[1:]), 1)


def lengths(_: Any, line: str) -> Pairs:
    for number, word in enumerate(line.split()):
        yield word, len(line) * 8 + number


def whole_lines(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield word[:2], line


def line_lists(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield word[:2], [line]


def few_pairs(_: Any, line: str) -> Pairs:
    if "7" in line:
        yield line[:2], len(line)


def nothing(_: Any, line: str) -> Pairs:
    yield from ()


Point = namedtuple("Point", "x y")

ODD_KEYS: list[Any] = [
    None,
    0,
    0.0,
    -0.0,
    False,
    1,
    1.0,
    True,
    (1, 2),
    (1.0, 2),
    Point(1, 2),
    (1, (2, (None, "x"))),
    (True, (2.0, (None, "x"))),
    (),
    ("one",),
    2**80,
    float(2**80),
    -7,
    0.5,
    decimal.Decimal("0.5"),
    float("inf"),
    "k" * 5000,
    "k",
    "",
    b"",
    b"k",
    "né中\U0001f600",
    "\ud800 alone",
    "\udcff",
    frozenset({1, "a"}),
    frozenset({1.0, "a"}),
    datetime.date(2024, 2, 29),
]


def odd_keys(_: Any, line: str) -> Pairs:
    for word in line.split():
        yield ODD_KEYS[int(word[1:]) % len(ODD_KEYS)], len(line)


def keys_with_nan(_: Any, line: str) -> Pairs:
    for word in line.split():
        number = int(word[1:])
        yield (float("nan"), (float("nan"), number % 3), number % 5)[number % 3], number


@dataclass(frozen=True)
class Money:
    """A value of a class of the user's own."""

    amount: decimal.Decimal
    unit: str = "EUR"


ODD_VALUES: list[Any] = [
    None,
    True,
    1,
    1.5,
    float("nan"),
    -0.0,
    2**100,
    "text",
    "\udc80",
    b"raw",
    [],
    [1, [2, [3, None]]],
    (1, 2),
    (1, 2, 3),
    {"a": 1, "b": [2]},
    {1, 2, 3},
    frozenset({"x"}),
    Money(decimal.Decimal("1.10")),
    datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    Point(1, "y"),
    complex(1, -2),
    range(5),
    bytearray(b"ab"),
]


def odd_values(_: Any, line: str) -> Pairs:
    for word in line.split():
        number = int(word[1:])
        yield word[:2], ODD_VALUES[number % len(ODD_VALUES)]


def total(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, sum(values)


def smallest(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, min(values)


def largest(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, max(values)


def slow_total(key: Any, values: Iterable[Any]) -> Pairs:
    """No fold that the engine knows."""
    result = 0
    for value in values:
        result += value
    yield key, result


def add_pairs(key: Any, values: Iterable[Any]) -> Pairs:
    amount = count = 0
    for one, many in values:
        amount, count = amount + one, count + many
    yield key, (amount, count)


def average(key: Any, values: Iterable[Any]) -> Pairs:
    ((_, (amount, count)),) = add_pairs(key, values)
    yield key, amount / count


def concatenated(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, [item for value in values for item in value]


def listed(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, list(values)


def drop_zero(key: Any, values: Iterable[Any]) -> Pairs:
    """Drops a key whose values add up to nothing, and is called again on what it gives."""
    amount = sum(values)
    if amount:
        yield key, amount


def three_largest(key: Any, values: Iterable[Any]) -> Pairs:
    for value in sorted(values, reverse=True)[:3]:
        yield key, value


def as_text(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, " ".join(map(str, values))


def other_keys(key: Any, values: Iterable[Any]) -> Pairs:
    """No pair for some keys, several for others, most under another key."""
    amount = sum(values)
    for number in range(amount % 4):
        yield f"{number} of {amount % 7}", amount
    if amount % 5 == 0:
        yield [key], None


def counting_words(_: Any, line: str) -> Pairs:
    incoop.counter("lines", sample=line)
    for word in line.split():
        incoop.counter(f"words with {word[1]}")
        yield word, 1


def counting_total(key: Any, values: Iterable[Any]) -> Pairs:
    amount = sum(values)
    incoop.counter("keys", sample=str(key))  # of which none are kept
    incoop.counter("occurrences", amount)
    if amount % 2:
        incoop.counter("odd")
        yield key, amount


def counting_combiner(key: Any, values: Iterable[Any]) -> Pairs:
    incoop.counter("combined")
    yield key, sum(values)


def counting_fractions(_: Any, line: str) -> Pairs:
    incoop.counter("lines")
    for word in line.split():
        yield word, 0.5


JOBS = [
    Job("word count", words, total, total),
    Job("sums without a known fold", numbers, slow_total, slow_total),
    Job("sums that fold on integers, of any size", huge_numbers, total, total),
    Job("sums of floats", eighths, total, total),
    Job("minima", lengths, smallest, smallest),
    Job("maxima", lengths, largest, largest),
    Job("averages", sums_and_counts, average, add_pairs),
    Job("lists in order", whole_lines, listed),
    Job("lists in order, combined", line_lists, concatenated, concatenated),
    Job("reducer with other keys", words, other_keys, total),
    Job("reducer with other keys, not combined", words, other_keys),
    Job("few pairs", few_pairs, total, total),
    Job("nothing", nothing, total, total),
    Job("nothing, not combined", nothing, listed),
    Job("odd keys", odd_keys, total, total),
    Job("odd keys, not combined", odd_keys, listed),
    Job("odd values", odd_values, listed),
    Job("not a number", keys_with_nan, total, total),
    Job("not a number, not combined", keys_with_nan, listed),
    Job("combiner that drops keys", numbers, drop_zero, drop_zero),
    Job("combiner with several values", lengths, three_largest, three_largest),
    Job("one shard", words, total, total, shards=1),
    Job("many shards", words, listed, shards=256),
]

COUNTING = [
    Job("counters", counting_words, counting_total, total),
    Job("counters, not combined", counting_words, counting_total),
    Job("counters of a combiner", counting_words, counting_total, counting_combiner),
    Job("counters where a fold was tried in vain", counting_fractions, total, total),
]
