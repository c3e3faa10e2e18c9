"""Keys of groups as keys of the engine, and back.

Contract: values that are one (order.py) are one key, and only they: 1, 1.0 and true are three, which a dict takes for
one. What `key` was given, in its canonical form, `values` gives back. Plain values stay what they are, so that keys are
stored as columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incoop.query.execution.order_bytes import decoded
from incoop.query.order import canonical, encoded
from incoop.query.types import BOOLEAN, BYTES, INT, LONG, TEXT, Row, Type, Value

#: Of one of these types, no two values that are not one are equal to Python.
_PLAIN = (INT, LONG, TEXT, BOOLEAN)
#: In front of keys of which some stay apart by input: the mark of the others.
TOGETHER = -1


@dataclass(frozen=True, slots=True)
class KeyForm:
    """How keys of some types are written."""

    #: None for rows of any width.
    types: tuple[Type, ...] | None
    #: Whether keys with a null stay apart by input.
    marked: bool = False

    @property
    def _plain(self) -> bool:
        return self.types is not None and not self.marked and all(kind in _PLAIN for kind in self.types)

    def keys(self, found: Sequence[Row], mark: int = TOGETHER) -> list[Any]:
        """Keys of the engine for canonical values; `mark` is the input's number."""
        if self._plain:
            return [values[0] for values in found] if len(self.types or ()) == 1 else list(found)
        if self.types is None:
            return [encoded(values) for values in found]
        written = [tuple(map(_written, values, self.types)) for values in found]
        if self.marked:
            return [(mark if None in each else TOGETHER, *each) for each in written]
        return [each[0] for each in written] if len(self.types) == 1 else list(written)

    def values(self, key: Any) -> Row:
        """The values of a key."""
        if self.types is None:
            return tuple(decoded(key))
        if self._plain:
            return (key,) if len(self.types) == 1 else key
        parts = key[1:] if self.marked else (key,) if len(self.types) == 1 else key
        return tuple(map(_read, parts, self.types))


def _written(value: Value, kind: Type) -> Any:
    if value is None or kind in _PLAIN or (kind == BYTES and isinstance(value, bytes)):
        return value
    data = encoded(canonical(value))
    return (data,) if kind == BYTES else data  # bytes of which nothing is known may be anything


def _read(part: Any, kind: Type) -> Value:
    if part is None or kind in _PLAIN or (kind == BYTES and isinstance(part, bytes)):
        return part
    return decoded(part[0] if kind == BYTES else part)
