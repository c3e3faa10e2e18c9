"""Keys that are equal though they look different, keys that look alike and are not, and keys that cannot be told."""

from __future__ import annotations

import enum
import ipaddress
import math
import re
import uuid
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd


class One(enum.IntEnum):
    ONE = 1


class Letter(str, enum.Enum):  # noqa: UP042 - what it was before there was StrEnum
    A = "a"


class Letters(enum.StrEnum):
    A = "a"


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 2


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1


class Word(str):
    """Text by another name; shown otherwise."""

    __slots__ = ()

    def __str__(self) -> str:
        return "a word"


class Number(int):
    pass


class Packet(bytes):
    __slots__ = ()

    def __bytes__(self) -> bytes:
        return b"something else"


class Turned(tuple[Any, ...]):
    """A tuple that is walked backwards, and equals a plain one all the same."""

    __slots__ = ()

    def __iter__(self) -> Any:
        return reversed(tuple.__getitem__(self, slice(None)))


class Point(NamedTuple):
    x: float
    y: float


Pair = namedtuple("Pair", "first second")


class Day(date):
    pass


@dataclass(frozen=True)
class Tagged:
    """Equal whatever its note is."""

    name: str
    number: float
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class Labelled(Tagged):
    """Another class: equal to none of the above."""


class Inherited(Tagged):
    """Of a class that is not decorated itself."""


@dataclass(frozen=True, order=True, slots=True)
class Slotted:
    tagged: Any
    values: tuple[Any, ...] = ()


class Folded:
    """Says by itself what it compares."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folded) and self.text.lower() == other.text.lower()

    def __hash__(self) -> int:
        return hash(self.text.lower())

    def __incoop_key__(self) -> Any:
        return ("Folded", self.text.lower())


EAST = timezone(timedelta(hours=2))
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")

#: Groups of keys that a dict takes for one, and single keys. In what order they come decides which one is shown.
KEYS: list[Any] = [
    *(
        5,
        np.int64(5),
        np.uint8(5),
        np.float16(5),
        1,
        1.0,
        True,
        np.float32(1),
        np.bool_(True),
        Decimal(1),
        Decimal("1.00"),
        Fraction(1),
        1 + 0j,
    ),
    *(One.ONE, Number(1), Bits.LOW, np.complex64(1j), 1j),
    *(0, 0.0, -0.0, False, Decimal("-0"), Fraction(0), np.float64(-0.0)),
    *(0.5, Decimal("0.5"), Fraction(1, 2), np.float16(0.5)),
    *(0.1, Decimal("0.1"), Fraction(1, 10), np.float32(0.1)),
    *(2**70, float(2**70), 2**70 + 1, -1, -2),
    *(math.inf, Decimal("Infinity"), np.float32("inf"), -math.inf),
    *("a", Word("a"), Letter.A, Letters.A, np.str_("a")),
    *(b"a", Packet(b"a"), np.bytes_(b"a"), b"a\0", "a\0"),
    *("1", "", "\ud800", "ä", "ä", None, ()),
    *((1, 2), (1.0, 2), Point(1, 2), Pair(1, 2), (True, Decimal(2)), Turned((1, 2)), Turned((2, 1)), (2, 1)),
    *(("a", 1), ("a", True), (Letter.A, Fraction(1)), ("a", (1, None)), (Word("a"), (1.0, None))),
    *((1, 2, 3), (1.0, 2.0, 3.0), (1,), (1.0,), ((1, 2), (3, "a")), ((True, 2), (Decimal(3), Letters.A))),
    *(frozenset({1, 2}), frozenset({2.0, True}), frozenset({Point(1, 2)}), frozenset({(1, 2)}), frozenset()),
    *(NOON, NOON.astimezone(EAST), NOON.astimezone(BERLIN), NOON.replace(tzinfo=None), pd.Timestamp(NOON)),
    *(np.datetime64("2024-05-01T12"), np.datetime64("2024-05-01T12:00", "us"), pd.Timestamp("2024-05-01T12")),
    *(pd.Timestamp("2024-05-01T12:00:00.000000001"), pd.Timestamp("2024-05-01T12:00:00.000000001", tz=UTC)),
    *(datetime(2024, 5, 1), datetime(2024, 5, 1, fold=1), date(2024, 5, 1), Day(2024, 5, 1)),
    *(datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN), datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1)),
    *(datetime(2024, 10, 27, 0, 30, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, tzinfo=UTC)),
    *(datetime.min.replace(tzinfo=EAST), datetime.min.replace(tzinfo=timezone(timedelta(hours=2), "east"))),
    *(time(12, tzinfo=UTC), time(14, tzinfo=EAST), time(12), time(12, fold=1), time(1, tzinfo=EAST)),
    *(timedelta(seconds=1), np.timedelta64(1, "s"), np.timedelta64(1000, "ms"), pd.Timedelta("1s")),
    *(np.timedelta64(1, "us"), timedelta(microseconds=1), pd.Timedelta("1ns")),
    *(uuid.UUID(int=7), uuid.UUID(int=7, is_safe=uuid.SafeUUID.safe), 7),
    *(PurePosixPath("a/b"), Path("a/b"), PureWindowsPath("a/b"), PureWindowsPath("A/B"), "a/b"),
    *(ipaddress.ip_address("10.0.0.1"), ipaddress.ip_interface("10.0.0.1/32"), ipaddress.ip_network("10.0.0.1/32")),
    *(range(0), range(1, 1), range(0, 3, 2), range(0, 4, 2), range(3)),
    *(UTC, timezone(timedelta(0), "zulu"), re.compile("a"), re.compile("a", re.IGNORECASE)),
    *(Colour.RED, Colour.CRIMSON, Colour.GREEN, int, float, len, ...),
    *(Tagged("a", 1, "first"), Tagged("a", 1.0, "second"), Tagged("a", 2), Labelled("a", 1), Inherited("a", 1)),
    *(Inherited("a", True, "third"), Slotted(Tagged("a", 1, "x"), (1,)), Slotted(Tagged("a", True), (1.0,))),
    *((Tagged("a", 1, "first"), 1), (Tagged("a", 1, "other"), True)),
    *(Folded("Tree"), Folded("tree"), (Folded("TREE"), 1), (Folded("tree"), 1.0)),
    *(range(2), range(1, 3), range(0, 9, 3), range(1), range(0, 1, 5), range(2, 3)),
    *(ipaddress.ip_address("0.0.0.7"), ipaddress.ip_address("::7"), ipaddress.ip_address("::7%eth0")),
    *(ipaddress.ip_network("::/96"), ipaddress.ip_interface("::7/128"), ipaddress.ip_network("::7/128")),
    *(complex(0.0, 1), complex(-0.0, 1), re.compile(b"a"), timezone(timedelta(hours=1))),
]


class Insensitive(str):
    """Text with a rule of its own."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(self.lower())


class Scattered(str):
    """Equal as text is, but hashed otherwise: a dict tells it from equal text."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 7


class Rounded(float):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and round(self) == round(other)

    def __hash__(self) -> int:
        return hash(round(self))


class Bag(tuple[Any, ...]):
    """A tuple without an order."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bag) and sorted(self) == sorted(other)

    def __hash__(self) -> int:
        return hash(frozenset(self))


class Nothing:
    """No equality: every object is a key of its own."""

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True, eq=False)
class Alone:
    name: str


@dataclass(frozen=True)
class Own:
    """A data class that compares by a rule of its own."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.name.lower() == other.name.lower()

    def __hash__(self) -> int:
        return hash(self.name.lower())


class Level(enum.Enum):
    LOW = 1
    HIGH = 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Level)

    def __hash__(self) -> int:
        return 1


class Loose(enum.Enum):
    """Compared by a rule of its own, hashed as any."""

    LOW = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loose)

    __hash__ = enum.Enum.__hash__


class Strict(enum.Enum):
    """Hashed by a rule of its own."""

    LOW = 1

    def __hash__(self) -> int:
        return 1


class Meta(type):
    def __eq__(cls, other: object) -> bool:
        return isinstance(other, Meta)

    def __hash__(cls) -> int:
        return 1


class Made(metaclass=Meta):
    pass


class Hashed:
    """No equality, but a hash."""

    def __hash__(self) -> int:
        return 1


UNFIT: dict[str, Any] = {
    "text with a rule of its own": Insensitive("Tree"),
    "text with a hash of its own": Scattered("tree"),
    "a number with a rule of its own": Rounded(1.2),
    "a tuple with a rule of its own": Bag((1, 2)),
    "an object without equality": Nothing("a"),
    "a data class without equality": Alone("a"),
    "a data class with its own": Own("Tree"),
    "an enum with its own": Level.LOW,
    "an enum with its own equality": Loose.LOW,
    "an enum with a hash of its own": Strict.LOW,
    "a class whose class has an equality of its own": Made,
    "an object with a hash of its own": Hashed(),
    "months, which equal numbers": np.timedelta64(1, "M"),
    "bytes that numpy cuts": np.bytes_(b"a\0"),
    "in a pair": ("a", Own("Tree")),
    "in a tuple in a tuple": (1, 2, ((Insensitive("Tree"),), 3)),
    "in a set": frozenset({Rounded(2.5)}),
    "in a field": Tagged("a", Rounded(1.0)),
}
