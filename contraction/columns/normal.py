"""What counts as the same key: a form that equal keys share, and only they.

Contract: keys that are one key in a dict have one normal form, in every process: 1, 1.0, True and Decimal(1); 0.0 and
-0.0; a named tuple and a tuple; an object of a subclass and the plain value that it equals; equal moments in different
time zones; data classes by the fields that they compare. Unlike in a dict, NaN is the same key as NaN. A key whose
equality cannot be told from its content (a class with an `__eq__` of its own, or with none) is refused, unless its
class says by `__incoop_key__` what it compares.
"""

from __future__ import annotations

import dataclasses
import enum
import ipaddress
import math
import re
import types
import uuid
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath, PureWindowsPath
from typing import Any

import numpy as np

from incoop.contraction.columns.encoding import Canonical, UnfitKey, encode, unfit
from incoop.contraction.columns.moments import attoseconds, of_datetime, of_numpy_time, of_pandas, of_time, of_timedelta

Form = Callable[[Any], Any]


def normal(key: Any) -> Any:
    """A key in the form that equal keys share. Raises UnfitKey.

    Example:
        >>> normal((True, 2.0, Decimal("0.5"), 1 + 0j))
        (1, 2, 0.5, 1)
    """
    kind = type(key)
    if kind is str or kind is int or kind is bytes or key is None or kind is Canonical:
        return key
    form = _FORMS.get(kind)
    if form is None:
        form = _FORMS[kind] = _form_of(kind)
    return form(key)


def name_of(key: Any) -> bytes:
    """The bytes that name a key of an output, whatever it is: equal for equal keys, as far as that can be told."""
    try:
        return encode(normal(key))
    except UnfitKey:
        return encode(key)


def _of_float(key: float) -> Any:
    if math.isnan(key):
        return math.nan
    return int(key) if key.is_integer() else key


def _of_tuple(key: tuple[Any, ...]) -> Any:
    return tuple(map(normal, key))


def _of_set(key: frozenset[Any]) -> Any:
    return frozenset(map(normal, key))


def _of_number(number: complex | Decimal | Fraction) -> Any:
    if isinstance(number, complex):
        return normal(number.real) if number.imag == 0 else complex(number.real + 0.0, number.imag + 0.0)
    if isinstance(number, Decimal) and not number.is_finite():
        return math.nan if number.is_nan() else float(number)
    exact = Fraction(number)
    if exact.denominator == 1:
        return exact.numerator
    # A denominator that is no power of two has no equal float.
    return float(exact) if exact.denominator & (exact.denominator - 1) == 0 and float(exact) == exact else exact


def _of_numpy(key: Any) -> Any:
    if isinstance(key, np.str_ | np.bytes_):
        plain = str.__str__(key) if isinstance(key, np.str_) else b"".join([key])
        if plain != key.item():
            raise unfit(type(key), "which ends with zeros that numpy drops")
        return plain
    if isinstance(key, np.datetime64 | np.timedelta64):
        return of_numpy_time(key)
    if isinstance(key, np.number | np.bool_):
        plain = key.item()
        if not isinstance(plain, np.generic):
            return normal(plain)
        if isinstance(key, np.floating):  # a long double; one that no float equals is known by its ratio
            return normal(Fraction(*key.as_integer_ratio())) if np.isfinite(key) else normal(float(key))
    raise unfit(type(key), "whose equality is numpy's")


def _of_path(key: PurePath) -> Any:
    windows = isinstance(key, PureWindowsPath)
    return Canonical(("path", windows, str(key).lower() if windows else str(key)))


def _of_range(key: range) -> Any:
    return Canonical(("range", len(key), *key[:1], *(() if len(key) < 2 else (key.step,))))


def _of_enum(key: enum.Enum) -> Any:
    which = key.value if isinstance(key, enum.Flag) else key.name
    return Canonical(("enum", _title(type(key)), normal(which)))


#: Types whose equality subclasses may keep, and how the plain value is had, whatever a subclass makes of its methods.
_BASES: dict[type, Form] = {
    str: str.__str__,
    int: int.__int__,
    float: lambda key: _of_float(float.__float__(key)),
    bytes: lambda key: b"".join([key]),
    tuple: lambda key: _of_tuple(tuple.__getitem__(key, slice(None))),
    frozenset: lambda key: _of_set(frozenset(frozenset.__iter__(key))),
    complex: _of_number,
    Decimal: _of_number,
    Fraction: _of_number,
    datetime: of_datetime,
    date: lambda key: date(key.year, key.month, key.day),
    time: of_time,
    timedelta: of_timedelta,
    uuid.UUID: lambda key: Canonical(("uuid", key.int)),
    PurePath: _of_path,
    ipaddress.IPv4Address: lambda key: Canonical(("ip", 4, int(key))),
    ipaddress.IPv6Address: lambda key: Canonical(("ip", 6, int(key), key.scope_id)),
    ipaddress.IPv4Network: lambda key: Canonical(("net", str(key))),
    ipaddress.IPv6Network: lambda key: Canonical(("net", str(key))),
    ipaddress.IPv4Interface: lambda key: Canonical(("interface", str(key))),
    ipaddress.IPv6Interface: lambda key: Canonical(("interface", str(key))),
    timezone: lambda key: Canonical(("zone", attoseconds(key.utcoffset(None)))),
    re.Pattern: lambda key: Canonical(("pattern", key.pattern, key.flags)),
}

#: Types whose objects a dict tells apart by identity, and which pickle by their name.
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, type(...), type(NotImplemented))

_FORMS: dict[type, Form] = {
    bool: int,
    float: _of_float,
    tuple: _of_tuple,
    frozenset: _of_set,
    range: _of_range,
    slice: lambda key: Canonical(("slice", normal((key.start, key.stop, key.step)))),
}


def _form_of(kind: Any) -> Form:
    """How keys of a type are brought to their normal form."""
    if hasattr(kind, "__incoop_key__"):
        return lambda key: normal(key.__incoop_key__())
    if issubclass(kind, np.generic):
        return _of_numpy
    if kind.__module__.partition(".")[0] == "pandas":
        return of_pandas
    for base, form in _BASES.items():
        if issubclass(kind, base) and kind.__eq__ is base.__eq__ and kind.__hash__ is base.__hash__:
            return form
    if issubclass(kind, enum.Enum) and kind.__eq__ is object.__eq__ and kind.__hash__ is enum.Enum.__hash__:
        return _of_enum
    if _compares_fields(kind):
        names = _compared(kind)
        return lambda key: Canonical(("data", _title(kind), *(normal(getattr(key, name)) for name in names)))
    if issubclass(kind, _NAMED) and (not issubclass(kind, type) or kind.__eq__ is type.__eq__):
        return lambda key: Canonical(("named", encode(key)))
    if kind.__eq__ is object.__eq__ and kind.__hash__ is object.__hash__:
        return _of_single
    raise unfit(kind, "whose class has an equality of its own")


def _of_single(key: Any) -> Any:
    """An object that equals itself alone: fit if there is only one, which pickles by its name."""
    if not isinstance(key.__reduce_ex__(4), str):
        raise unfit(type(key), "whose class has no equality: it equals itself alone")
    return Canonical(("named", encode(key)))


def _compared(kind: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(kind) if field.compare]


def _compares_fields(kind: Any) -> bool:
    """Whether objects are equal when their class and compared fields are: the equality that `dataclass` writes."""
    code = getattr(kind.__eq__, "__code__", None)
    if not dataclasses.is_dataclass(kind) or code is None or code.co_filename != "<string>":
        return False
    return set(code.co_names) == {"__class__", "NotImplemented", *_compared(kind)}


def _title(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
