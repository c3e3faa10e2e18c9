"""What a function captured counts by content, whatever it is written in, or is refused by name; never a raw error."""

from __future__ import annotations

import array
import collections
import concurrent.futures
import contextvars
import copy
import csv
import ctypes
import datetime
import decimal
import fractions
import functools
import hashlib
import io
import ipaddress
import itertools
import json
import mmap
import operator
import pickle
import queue
import random
import re
import socket
import sqlite3
import string
import struct
import sys
import threading
import types
import typing
import uuid
import weakref
import zlib
import zoneinfo
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from incoop.fingerprint import CannotFingerprint, fingerprint
from incoop.inchdfs.cutting.records import Csv, Delimited, FixedLength, Lines, RecordFormat, WholeFile


class Node:
    """Something that can be referred to weakly."""

    def __init__(self, value: Any) -> None:
        self.value = value


ALIVE = {value: Node(value) for value in (1, 2)}


def _advanced(iterator: Any, steps: int) -> Any:
    for _ in range(steps):
        next(iterator)
    return iterator


def _compare(sign: int) -> Any:
    return lambda a, b: sign * (a - b)


def _variable(value: int) -> contextvars.ContextVar[int]:
    return contextvars.ContextVar("limit", default=value)


def _frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


#: What makes the object, from a 1 or a 2: the two must differ, two of the same must not.
BY_CONTENT: dict[str, Callable[[int], Any]] = {
    "a data frame": lambda n: _frame(a=[1, n], b=["x", None]),
    "a data frame's labels": lambda n: pd.DataFrame({"a": [1, 2]}, index=["x", f"y{n}"]),
    "a data frame's column names": lambda n: pd.DataFrame({f"a{n}": [1, 2]}),
    "a data frame's order of columns": lambda n: _frame(a=[1], b=[1])[["a", "b"] if n == 1 else ["b", "a"]],
    "a data frame's types": lambda n: _frame(a=np.array([1, 2], f"i{4 * n}")),
    "a data frame of levels": lambda n: pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, n)])),
    "a data frame of dates": lambda n: _frame(a=pd.date_range(f"2020-01-0{n}", periods=3, tz="Europe/Berlin")),
    "a series": lambda n: pd.Series([1.5, n]),
    "a series' name": lambda n: pd.Series([1], name=f"s{n}"),
    "a series of categories": lambda n: pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["a", "b", f"c{n}"])),
    "a series of texts": lambda n: pd.Series(["a", None, str(n)], dtype="string"),
    "a series of nullable numbers": lambda n: pd.Series([1, None, n], dtype="Int64"),
    "an index": lambda n: pd.Index(["a", str(n)]),
    "an index of a range": lambda n: pd.RangeIndex(0, 10, n),
    "an index of dates": lambda n: pd.date_range("2020-01-01", periods=n),
    "categories": lambda n: pd.Categorical(["a"], categories=["a", f"b{n}"]),
    "a timestamp": lambda n: pd.Timestamp(f"2020-01-0{n}", tz="Europe/Berlin"),
    "a time span": lambda n: pd.Timedelta(n, "D"),
    "a period": lambda n: pd.Period(f"2020-0{n}"),
    "an interval": lambda n: pd.Interval(0, n),
    "an offset": lambda n: pd.offsets.MonthEnd(n),
    "a group-by": lambda n: _frame(a=[1, 2], b=[n, 3]).groupby("a"),
    "an Arrow array": lambda n: pa.array([1, None, n]),
    "an Arrow array's type": lambda n: pa.array([1], pa.int32() if n == 1 else pa.int64()),
    "an Arrow table": lambda n: pa.table({"a": [1, n], "b": ["x", None]}),
    "an Arrow batch": lambda n: pa.record_batch({"a": [1, n]}),
    "an Arrow schema": lambda n: pa.schema([(f"a{n}", pa.int64())]),
    "an Arrow type": lambda n: pa.int32() if n == 1 else pa.int64(),
    "an Arrow scalar": lambda n: pa.scalar(n),
    "a generator of numpy": lambda n: np.random.default_rng(n),
    "a generator of numpy that drew": lambda n: [rng := np.random.default_rng(7), rng.random(n)][0],
    "numpy's older generator": lambda n: np.random.RandomState(n),
    "bits of numpy": lambda n: np.random.PCG64(n),
    "a seed of numpy": lambda n: np.random.SeedSequence(n),
    "a polynomial of numpy": lambda n: np.polynomial.Polynomial([1, n]),
    "a data type of numpy": lambda n: np.dtype([(f"a{n}", "i4")]),
    "a function of numpy": lambda n: np.add if n == 1 else np.multiply,
    "a vectorized function": lambda n: np.vectorize(len if n == 1 else abs),
    "a generator": lambda n: random.Random(n),
    "a match": lambda n: re.match("a+(b?)", "a" * n + "b"),
    "a count": lambda n: itertools.count(n),
    "a count that counted": lambda n: _advanced(itertools.count(), n),
    "a cycle": lambda n: itertools.cycle([1, n + 1]),
    "a chain": lambda n: itertools.chain([1], [n]),
    "a product": lambda n: itertools.product([1], [n]),
    "an iterator over a list": lambda n: _advanced(iter([1, 1, 1]), n),
    "an iterator over a text": lambda n: iter("a" * n),
    "an iterator over a dict": lambda n: iter({n: 1}),
    "a map": lambda n: map(len if n == 1 else abs, [1]),
    "a zip": lambda n: zip([n], [1], strict=True),
    "the values of a dict": lambda n: {"a": n}.values(),
    "the items of a dict": lambda n: {"a": n}.items(),
    "an array": lambda n: array.array("i", [1, n]),
    "an array's type": lambda n: array.array("i" if n == 1 else "q", [1]),
    "a deque": lambda n: collections.deque([1, n]),
    "a number of C": lambda n: ctypes.c_int(n),
    "an array of C": lambda n: (ctypes.c_int * 3)(1, 2, n),
    "a compiled struct": lambda n: struct.Struct("<i" if n == 1 else ">i"),
    "a hash": lambda n: hashlib.sha256(b"a" * n),
    "a hash's algorithm": lambda n: hashlib.new("sha256" if n == 1 else "sha512"),
    "a hash without a length": lambda n: hashlib.shake_128(b"a" * n),
    "a time zone": lambda n: zoneinfo.ZoneInfo("Europe/Berlin" if n == 1 else "Europe/Paris"),
    "an offset from UTC": lambda n: datetime.timezone(datetime.timedelta(hours=n)),
    "a weak reference": lambda n: weakref.ref(ALIVE[n]),
    "a dict of weak values": lambda n: weakref.WeakValueDictionary({"a": ALIVE[n]}),
    "a dict of weak keys": lambda n: weakref.WeakKeyDictionary({ALIVE[1]: n}),
    "a set of weak references": lambda n: weakref.WeakSet([ALIVE[n]]),
    "a text stream": lambda n: io.StringIO("a" * n),
    "a text stream's position": lambda n: [stream := io.StringIO("aaa"), stream.read(n)][0],
    "a byte stream": lambda n: io.BytesIO(b"a" * n),
    "a view of memory": lambda n: memoryview(array.array("i", [1, n])),
    "a namespace": lambda n: types.SimpleNamespace(a=n),
    "a generic type": lambda n: list[int] if n == 1 else list[str],
    "an optional type": lambda n: typing.Optional[int] if n == 1 else typing.Optional[str],  # noqa: UP045
    "a partial method": lambda n: functools.partialmethod(Node.__init__, n),
    "an order by comparison": lambda n: functools.cmp_to_key(_compare(1 if n == 1 else -1)),
    "a fraction": lambda n: fractions.Fraction(n, 3),
    "a decimal": lambda n: decimal.Decimal(n),
    "a context of decimals": lambda n: decimal.Context(prec=n),
    "an id": lambda n: uuid.UUID(int=n),
    "a path": lambda n: PurePosixPath(f"a{n}"),
    "a network": lambda n: ipaddress.ip_network(f"10.{n}.0.0/16"),
    "a counter": lambda n: collections.Counter("a" * n),
    "a chain of maps": lambda n: collections.ChainMap({"a": n}, {"b": 1}),
    "a user's dict": lambda n: collections.UserDict(a=n),
    "a dict with a default": lambda n: collections.defaultdict(list if n == 1 else set),
    "a context variable": _variable,
    "a getter": lambda n: operator.itemgetter(n),
    "a caller": lambda n: operator.methodcaller("a", n),
    "a template": lambda n: string.Template("$a" * n),
    "an error": lambda n: ValueError(n),
    "a decoder of JSON": lambda n: json.JSONDecoder(parse_float=float if n == 1 else decimal.Decimal),
    "a csv dialect": lambda n: csv.get_dialect("excel" if n == 1 else "excel-tab"),
    "a read-only dict": lambda n: types.MappingProxyType({"a": n}),
}


@pytest.mark.parametrize("name", BY_CONTENT)
def test_an_object_counts_by_content(name: str) -> None:
    make = BY_CONTENT[name]
    assert fingerprint([make(1)]) == fingerprint([make(1)])
    assert fingerprint([make(1)]) != fingerprint([make(2)])


#: What only a module's global can be, which each process makes for itself; an iterator over a dict arrives as another.
STAYS = {
    "a match", "the values of a dict", "the items of a dict", "a compiled struct", "a hash", "a hash's algorithm",
    "a hash without a length", "a weak reference", "a dict of weak values", "a dict of weak keys", "a context variable",
    "a set of weak references", "a view of memory", "an order by comparison", "a decoder of JSON", "a csv dialect",
    "a read-only dict", "an iterator over a dict", "a partial method", "an array of C",
    # Python 3.12 and 3.13 warn when one of these is pickled.
    "a count", "a count that counted", "a cycle", "a chain", "a product",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BY_CONTENT.keys() - STAYS))
def test_an_object_that_travelled_counts_as_before(name: str) -> None:
    here = BY_CONTENT[name](1)
    assert fingerprint([pickle.loads(pickle.dumps(here))]) == fingerprint([here])


REFUSED: dict[str, Callable[[], Any]] = {
    "a lock": threading.Lock,
    "a condition": threading.Condition,
    "an event": threading.Event,
    "variables of a thread": threading.local,
    "a queue": queue.Queue,
    "a C queue": queue.SimpleQueue,
    "a pool": lambda: concurrent.futures.ThreadPoolExecutor(1),
    "a future": concurrent.futures.Future,
    "a socket": socket.socket,
    "a database": lambda: sqlite3.connect(":memory:"),
    "a compressor": zlib.compressobj,
    "a pointer": lambda: ctypes.pointer(ctypes.c_int(3)),
    "a function of C": lambda: ctypes.CDLL(None).strlen,
    "memory of a file": lambda: mmap.mmap(-1, 10),
    "an open file": Path(__file__).open,
    "a csv writer": lambda: csv.writer(io.StringIO()),
    "a csv reader": lambda: csv.reader([]),
    "a generator": lambda: (x for x in ()),
    "a frame": lambda: sys._getframe(),
    "a context": contextvars.copy_context,
    "a weak proxy": lambda: weakref.proxy(ALIVE[1]),
    "a source of entropy": random.SystemRandom,
    "an iterator of numpy": lambda: np.nditer(np.arange(3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_content_is_refused_with_its_type_and_the_way_to_it(name: str) -> None:
    handle = REFUSED[name]()
    with pytest.raises(CannotFingerprint) as caught:
        fingerprint({"model": [handle]}, role="mapper")
    assert caught.value.what.rpartition(".")[2] and caught.value.reason
    assert caught.value.path[:3] == ("mapper `dict`", "item `model`", "item `0`")


class _Broken:
    """Fails in ways of its own when it is read."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise self.error("broken")


class _Endless:
    def __reduce__(self) -> Any:
        return self.__reduce__()


class _Odd:
    def __reduce__(self) -> Any:
        return (Node, 3)  # arguments that are no tuple


class _OddState:
    @property
    def __incoop_identity__(self) -> Any:
        raise KeyError("broken")


@pytest.mark.parametrize("error", [AttributeError, TypeError, RecursionError, KeyError, ZeroDivisionError, OSError])
def test_an_object_that_fails_when_it_is_read_is_refused(error: type[Exception]) -> None:
    with pytest.raises(CannotFingerprint, match="broken"):
        fingerprint([_Broken(error)])


def test_an_object_that_never_ends_or_answers_oddly_is_refused() -> None:
    for odd in (_Endless(), _OddState()):
        with pytest.raises(CannotFingerprint):
            fingerprint([odd])
    assert fingerprint([_Odd()]) == fingerprint([_Odd()])


def test_a_frame_counts_the_same_after_pandas_rearranged_it() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    frame["c"] = [5, 6]
    before = fingerprint(frame)
    assert before == fingerprint(pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]}))
    frame.sum(), frame.groupby("a").sum(), frame.loc[0], frame.to_numpy(), frame._consolidate(), frame["a"]
    frame.index.is_unique, frame.columns.get_loc("c")
    assert fingerprint(frame) == before == fingerprint(copy.deepcopy(frame))
    frame.loc[1, "b"] = 7
    assert fingerprint(frame) != before


def test_an_arrow_table_counts_the_same_in_other_pieces() -> None:
    whole = pa.table({"a": [1, None, 3]})
    pieces = pa.concat_tables([whole.slice(0, 1), whole.slice(1, 2)])
    assert fingerprint(whole.slice(1)) == fingerprint(pa.table({"a": pa.array([None, 3], pa.int64())}))
    assert fingerprint(whole) == fingerprint(pieces) == fingerprint(pieces.combine_chunks())
    assert fingerprint(whole) != fingerprint(whole.replace_schema_metadata({"unit": "m"}))


def test_a_drawn_number_changes_a_generator() -> None:
    for generator in (np.random.default_rng(3), np.random.RandomState(3), random.Random(3)):
        before = fingerprint(generator)
        generator.random()
        assert fingerprint(generator) != before


class Blocks:
    """A user's record format: records of a fixed size."""

    def __init__(self, size: int) -> None:
        self.size = size

    def ends_around(self, data: Any, start: int, position: int, end: int) -> tuple[int, int]:
        return position, position

    def records(self, chunk: bytes) -> Any:
        return [chunk[at : at + self.size] for at in range(0, len(chunk), self.size)]


def _edited(change: Callable[[str], str]) -> Any:
    """The class above, from an edited source, made as a module that was imported makes it."""
    import inspect
    import textwrap

    namespace: dict[str, Any] = {"__name__": __name__, "Any": Any}
    exec(change(textwrap.dedent(inspect.getsource(Blocks))), namespace)
    return namespace["Blocks"]


def test_a_users_record_format_counts_as_code() -> None:
    before = fingerprint(Blocks(4), role="records")
    assert before != fingerprint(Blocks(5), role="records")
    assert before == fingerprint(_edited(lambda text: text.replace("a fixed size", "one size"))(4), role="records")
    edited = _edited(lambda text: text.replace("chunk[at :", "chunk[at + 1 :"))
    assert before != fingerprint(edited(4), role="records")


def test_a_record_format_counts_the_same_before_and_after_it_was_used() -> None:
    class Mine(RecordFormat):
        def __init__(self, size: int) -> None:
            self.size = size

        def records(self, chunk: bytes) -> Any:
            return [chunk]

    class Plain(RecordFormat):
        def records(self, chunk: bytes) -> Any:
            return [chunk]

    for kind, arguments in ((Mine, (3,)), (Plain, ())):
        before = fingerprint(kind)
        one = kind(*arguments)  # the first instance of a Protocol's subclass changes the class
        isinstance(one, RecordFormat)
        assert fingerprint(kind) == before
        assert fingerprint(one, role="records") == fingerprint(kind(*arguments), role="records")


def test_built_in_record_formats_count_by_their_settings() -> None:
    formats = [Lines(), Lines(encoding=None), Lines("latin-1"), FixedLength(4), FixedLength(5), Delimited(b";")]
    formats += [Delimited(b"--"), WholeFile(), Csv(), Csv(separator=";")]  # type: ignore[list-item]
    prints = [fingerprint(each, role="records") for each in formats]
    assert len(set(prints)) == len(formats)
    assert prints == [fingerprint(copy.deepcopy(each), role="records") for each in formats]
