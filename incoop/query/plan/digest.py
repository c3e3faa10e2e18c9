"""What a plan computes, as a hash: what ids of memoized results are made of.

Contract: equal digests, equal results on equal inputs, on every machine and Python version. Positions, names of
fields and hints are not in it; names are where a format reads or writes by them. What functions and aggregates mean
is in it by their names and versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from incoop.base.content_ids import content_id
from incoop.query.expressions.nodes import Expression
from incoop.query.functions.function import Function
from incoop.query.plan.node import Plan
from incoop.query.sources.text_format import Format
from incoop.query.types import BagType, Field, MapType, PlainType, TupleType, Type

#: What nodes, expressions, functions and the order of values mean. Another meaning of any of them, another number.
MEANING_VERSION = 1


def digest(plan: Plan) -> bytes:
    """The hash of a plan."""
    return _Digests().of(plan)


class _Digests:
    """Hashes of plans and expressions, each object looked at once: a plan may use one sub-plan many times."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}

    def of(self, value: Plan | Expression) -> bytes:
        if not isinstance(value, Plan):
            return self._of(value)
        if not value._digest:
            value._digest.append(self._of(value))
        return value._digest[0]

    def _of(self, value: Plan | Expression) -> bytes:
        known = self._known.get(id(value))
        if known is None:
            text = f"{MEANING_VERSION} {self._fields(value, False)}".encode("utf-8", "surrogatepass")
            known = self._known[id(value)] = (value, content_id(text))
        return known[1]

    def _fields(self, value: Any, named: bool) -> str:
        parts = [self._text(getattr(value, each.name), named) for each in fields(value) if each.compare]
        return f"{type(value).__name__}({','.join(parts)})"

    def _text(self, value: Any, named: bool) -> str:
        if isinstance(value, Plan | Expression):
            return self.of(value).hex()
        if isinstance(value, Type):
            return str(value) if named else shape(value)
        if isinstance(value, Format):
            return self._fields(value, True)
        if isinstance(value, Function):
            return f"{value.name!r} {value.version}"
        if isinstance(value, tuple):
            return f"[{','.join(self._text(each, named) for each in value)}]"
        if isinstance(value, Mapping):
            return f"{{{','.join(f'{key!r}:{self._text(value[key], named)}' for key in sorted(value))}}}"
        if isinstance(value, Field) and not named:
            return shape(value.type)
        if is_dataclass(value):
            return self._fields(value, named)
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return repr(value)
        raise TypeError(f"a plan holds {type(value).__name__}, of which there is no digest")


def shape(kind: Type) -> str:
    """A type without the names of its fields."""
    if isinstance(kind, TupleType | BagType):
        inside = "?" if kind.fields is None else ",".join(shape(each.type) for each in kind.fields)
        return f"({inside})" if isinstance(kind, TupleType) else f"{{{inside}}}"
    if isinstance(kind, MapType):
        return f"[{'?' if kind.value is None else shape(kind.value)}]"
    assert isinstance(kind, PlainType)
    return kind.name
