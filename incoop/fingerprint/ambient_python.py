"""Read and set the ambient state of Python and its standard library; `incoop.fingerprint.ambient` has the table.

Contract: each `read_` returns what differs from the state that Python starts with, and never imports a module that is
not loaded; each `restore_` sets that, and the start for an empty dict.
"""

from __future__ import annotations

import codecs
import contextlib
import locale
import os
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import xxhash

State = dict[str, Any]

# Two moments a year from 1900 on tell the rules of any two zones apart that differ by a whole season.
_PROBES = range(-2_208_988_800, 4_102_444_800, 15_778_800)

_LOCALTIME = Path("/etc/localtime")

_CATEGORIES = ("LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LC_MONETARY", "LC_MESSAGES")

_DECIMAL_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_DECIMAL_START = {
    "prec": 28,
    "rounding": "ROUND_HALF_EVEN",
    "Emin": -999999,
    "Emax": 999999,
    "capitals": 1,
    "clamp": 0,
    "traps": ["DivisionByZero", "InvalidOperation", "Overflow"],
}

_DIALECTS = frozenset({"excel", "excel-tab", "unix"})
_DIALECT_FIELDS = [
    "delimiter",
    "doublequote",
    "escapechar",
    "lineterminator",
    "quotechar",
    "quoting",
    "skipinitialspace",
    "strict",
]
_CSV_FIELD_LIMIT = 131_072

_INT_DIGITS = 4300
_RECURSION_LIMIT = 1000

_XML_START = frozenset({"xml", "html", "rdf", "wsdl", "xs", "xsi", "dc"})


def read_time_zone() -> State:
    """Read the rules of the local time zone, whatever it is called: UTC is the start."""
    rules = _zone_rules(os.environ.get("TZ"), time.tzname, time.timezone, time.altzone)
    return {"rules": rules, "names": list(time.tzname), "_zone": _zone_name()} if rules else {}


@lru_cache(maxsize=16)
def _zone_rules(_: str | None, names: tuple[str, str], *offsets: int) -> str:
    moments = [time.localtime(moment) for moment in _PROBES]
    if set(names) <= {"UTC", "GMT"} and not any(moment.tm_gmtoff for moment in moments):
        return ""
    return xxhash.xxh3_128_hexdigest(repr([(moment.tm_gmtoff, moment.tm_isdst) for moment in moments]).encode())


def _zone_name() -> str:
    named = os.environ.get("TZ")
    if named is not None:
        return named
    with contextlib.suppress(OSError):
        return str(_LOCALTIME.resolve()).partition("zoneinfo/")[2]
    return ""


def restore_time_zone(state: State) -> None:
    os.environ["TZ"] = state.get("_zone") or "UTC"
    time.tzset()


def read_locale() -> State:
    """Read the categories that a program sets; Python itself sets none of these when it starts."""
    found = {name: locale.setlocale(getattr(locale, name)) for name in _CATEGORIES if hasattr(locale, name)}
    return {name: value for name, value in found.items() if value not in ("C", "POSIX")}


def restore_locale(state: State) -> None:
    for name in _CATEGORIES:
        if hasattr(locale, name):
            with contextlib.suppress(locale.Error):
                locale.setlocale(getattr(locale, name), state.get(name, "C"))


def read_decimal() -> State:
    decimal = sys.modules.get("decimal")
    if decimal is None:
        return {}
    context = decimal.getcontext()
    found: State = {name: getattr(context, name) for name in _DECIMAL_FIELDS}
    found["traps"] = sorted(signal.__name__ for signal, set_ in context.traps.items() if set_)
    return {name: value for name, value in found.items() if value != _DECIMAL_START[name]}


def restore_decimal(state: State) -> None:
    import decimal

    wanted: State = {**_DECIMAL_START, **state}
    context = decimal.getcontext()
    for name in _DECIMAL_FIELDS:
        setattr(context, name, wanted[name])
    for signal in context.traps:
        context.traps[signal] = signal.__name__ in wanted["traps"]


def read_csv() -> State:
    """Read the registered dialects. A longer limit of fields only avoids an error, so it travels without counting."""
    csv = sys.modules.get("csv")
    if csv is None:
        return {}
    dialects = {
        name: {field: getattr(csv.get_dialect(name), field) for field in _DIALECT_FIELDS}
        for name in sorted(csv.list_dialects(), key=str)
        if name not in _DIALECTS
    }
    limit = csv.field_size_limit()
    return ({"dialects": dialects} if dialects else {}) | ({"_limit": limit} if limit != _CSV_FIELD_LIMIT else {})


def restore_csv(state: State) -> None:
    import csv

    wanted = state.get("dialects", {})
    for name in csv.list_dialects():
        if name not in _DIALECTS and name not in wanted:
            csv.unregister_dialect(name)
    for name, fields in wanted.items():
        csv.register_dialect(name, **fields)
    csv.field_size_limit(max(csv.field_size_limit(), state.get("_limit", 0)))


def read_encodings() -> State:
    """Read the encodings that files and file names have unless told otherwise; they are fixed when a process starts."""
    found = {"text": locale.getpreferredencoding(False), "names": sys.getfilesystemencoding()}
    return {what: name for what, name in found.items() if codecs.lookup(name).name != "utf-8"}


def read_int_digits() -> State:
    digits = sys.get_int_max_str_digits()
    return {"digits": digits} if digits != _INT_DIGITS else {}


def restore_int_digits(state: State) -> None:
    sys.set_int_max_str_digits(state.get("digits", _INT_DIGITS))


def read_recursion_limit() -> State:
    """Read how deep calls may nest: too little is an error, and errors are not stored, so it does not count."""
    limit = sys.getrecursionlimit()
    return {"_limit": limit} if limit != _RECURSION_LIMIT else {}


def restore_recursion_limit(state: State) -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), state.get("_limit", 0)))


def read_calendar() -> State:
    calendar = sys.modules.get("calendar")
    first = 0 if calendar is None else int(calendar.firstweekday())
    return {"first": first} if first else {}


def restore_calendar(state: State) -> None:
    import calendar

    calendar.setfirstweekday(state.get("first", 0))


def read_mimetypes() -> State:
    """Read the table of types, which comes from files of the machine: it counts as a whole."""
    import mimetypes

    if not mimetypes.inited:
        mimetypes.init()
    return {
        name: dict(getattr(mimetypes, name)) for name in ("types_map", "common_types", "suffix_map", "encodings_map")
    }


def restore_mimetypes(state: State) -> None:
    import mimetypes

    mimetypes.init()  # from the files again
    for name, entries in state.items():
        table = getattr(mimetypes, name)
        table.clear()
        table.update(entries)


def read_xml_namespaces() -> State:
    trees = sys.modules.get("xml.etree.ElementTree")
    known: dict[str, str] = getattr(trees, "_namespace_map", {})
    return {uri: prefix for uri, prefix in sorted(known.items()) if prefix not in _XML_START}


def restore_xml_namespaces(state: State) -> None:
    from xml.etree import ElementTree

    known: dict[str, str] = ElementTree._namespace_map  # type: ignore[attr-defined]
    for uri in [uri for uri, prefix in known.items() if prefix not in _XML_START]:
        del known[uri]
    for uri, prefix in state.items():
        ElementTree.register_namespace(prefix, uri)


def read_sqlite() -> State:
    """Read the functions that turn values of Python into values of SQLite and back, without Python's own."""
    database: Any = sys.modules.get("sqlite3")
    if database is None:
        return {}
    found: State = {
        "adapters": [(kind, of) for (kind, _), of in database.adapters.items() if of.__module__ != "sqlite3.dbapi2"],
        "converters": {name: of for name, of in database.converters.items() if of.__module__ != "sqlite3.dbapi2"},
    }
    return {name: entries for name, entries in found.items() if entries}


def restore_sqlite(state: State) -> None:
    import sqlite3

    for kind, adapt in state.get("adapters", ()):
        sqlite3.register_adapter(kind, adapt)
    for name, convert in state.get("converters", {}).items():
        sqlite3.register_converter(name, convert)


def read_warnings() -> State:
    """Read which warnings are errors: code may catch them. What is only shown or hidden does not change a result."""
    warnings: Any = sys.modules["warnings"]
    found = [
        [
            getattr(message, "pattern", message),
            f"{kind.__module__}:{kind.__qualname__}",
            getattr(place, "pattern", place),
            line,
        ]
        for action, message, kind, place, line in warnings.filters
        if action == "error"
    ]
    return {"errors": found} if found else {}


def restore_warnings(state: State) -> None:
    import importlib
    import warnings

    warnings.filters[:] = [entry for entry in warnings.filters if entry[0] != "error"]  # type: ignore[index]
    for message, kind, place, line in reversed(state.get("errors", [])):
        module, _, name = kind.partition(":")
        category = getattr(importlib.import_module(module), name)
        warnings.filterwarnings("error", message or "", category, place or "", line)
