"""State of the process that results depend on without the code naming it: time zone, locale, decimal context, ...

Contract: `TABLE` has one line for each. A line is read as what differs from the state that Python starts with, so that
a module that is not loaded, or was loaded and left alone, reads as nothing at all and is no part of a fingerprint. It
counts for code that reaches one of the line's modules, or any installed package, whose insides are not looked into;
a line for all code counts whenever it differs. Its part is called `ambient <name>`.

To add a line: a function that reads the state as a dict (empty if it is as Python starts), one that sets it from such a
dict (an empty one sets the start), and an entry in `TABLE`. A key that begins with "_" travels and does not count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incoop.fingerprint import ambient_packages as packages
from incoop.fingerprint import ambient_python as python
from incoop.fingerprint.graph import Node
from incoop.fingerprint.walk import Walk

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One kind of state."""

    name: str
    #: Modules whose use makes it count, with all modules below them; ("*",) for all code.
    modules: tuple[str, ...]
    #: Returns what differs from the state that Python starts with.
    read: Callable[[], State]
    #: Sets what `read` returned; None for what is fixed when a process starts.
    restore: Callable[[State], None] | None
    #: Whether code that reaches any installed package may depend on it.
    through_packages: bool = True
    #: Packages known not to look at it.
    except_for: frozenset[str] = field(default=frozenset())
    #: Whether it is set in workers also for code that was not seen to reach it, since that costs nothing.
    always_restored: bool = True


TABLE: tuple[Line, ...] = (
    Line(
        "time zone",
        ("time", "datetime", "calendar", "email", "http", "xmlrpc"),
        python.read_time_zone,
        python.restore_time_zone,
        except_for=frozenset({"numpy"}),
    ),
    Line("locale", ("*",), python.read_locale, python.restore_locale),
    Line("decimal", ("decimal", "_pydecimal", "statistics"), python.read_decimal, python.restore_decimal),
    Line("csv", ("csv",), python.read_csv, python.restore_csv),
    Line(
        "encodings",
        ("io", "pathlib", "os", "subprocess", "tempfile", "gzip", "bz2", "lzma", "fileinput", "configparser", "codecs"),
        python.read_encodings,
        None,
        except_for=frozenset({"numpy"}),
    ),
    Line("digits of int", ("*",), python.read_int_digits, python.restore_int_digits),
    Line("recursion limit", ("*",), python.read_recursion_limit, python.restore_recursion_limit),
    Line("calendar", ("calendar",), python.read_calendar, python.restore_calendar),
    Line("mimetypes", ("mimetypes",), python.read_mimetypes, python.restore_mimetypes, False, always_restored=False),
    Line("xml namespaces", ("xml",), python.read_xml_namespaces, python.restore_xml_namespaces),
    Line("sqlite3", ("sqlite3",), python.read_sqlite, python.restore_sqlite, always_restored=False),
    Line("warnings", ("warnings",), python.read_warnings, python.restore_warnings, False, always_restored=False),
    Line("numpy", ("numpy",), packages.read_numpy, packages.restore_numpy, always_restored=False),
    Line("pandas", ("pandas",), packages.read_pandas, packages.restore_pandas, always_restored=False),
)

#: Installed packages that run the job and not the user's code; their versions count.
OWN = frozenset({"incoop", "pyspark", "py4j"})


def attach(walk: Walk) -> bool:
    """Add the lines that count for what the walk reached, once each; say whether any was added."""
    added = False
    for line in TABLE:
        if line.name in walk.ambient or not _counts(line, walk):
            continue
        state = line.read()
        walk.ambient[line.name] = state
        counted = {key: value for key, value in state.items() if not key.startswith("_")}
        if not counted:
            continue
        walk.keep(counted)
        node = Node(walk.root, ("ambient", line.name))
        node.tag = b"ambient"
        walk.label(node, f"ambient {line.name}")
        node.tokens = [line.name.encode() + b";", walk.token(counted, node, None)]
        walk.add_around(node)
        added = True
    return added


def _counts(line: Line, walk: Walk) -> bool:
    if "*" in line.modules or not walk.modules.isdisjoint(line.modules):
        return True
    return line.through_packages and not walk.packages <= (OWN | line.except_for)


def restore(values: Mapping[str, State]) -> None:
    """Set the state that `ambient_reached` returned; lines it does not name go back to what Python starts with.

    What this machine does not have (a locale, a time zone) stays as it is, and so differs in the fingerprint.

    Example:
        >>> import decimal
        >>> from incoop.fingerprint import ambient_reached
        >>> before = ambient_reached(decimal.Decimal)
        >>> decimal.getcontext().prec = 5
        >>> restore(before)
        >>> decimal.getcontext().prec
        28
    """
    for line in TABLE:
        if line.restore is None:
            continue
        if line.name not in values and not line.always_restored and sys.modules.keys().isdisjoint(line.modules):
            continue  # not even loaded
        wanted = values.get(line.name, {})
        if wanted != line.read():
            line.restore(dict(wanted))
