"""Expressions over the rows of a bag: what a nested block of a query says.

Contract: that of `Expression`. An inner expression sees a row of the bag; the row that holds the bag it sees by
OuterReference. A bag that is null makes the result null.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from incoop.query.expressions.nodes import Expression, wants
from incoop.query.functions.aggregate import Aggregate
from incoop.query.order import Direction
from incoop.query.types import BYTES, TEXT, BagType, Field, MapType, TupleType, Type

#: How a value becomes fields of a row: as one, or taken apart; `outer` keeps a row of nulls where there is nothing to
#: take apart.
Flatten = Literal["no", "yes", "outer"]
_INNER = {"inner": True}


@dataclass(frozen=True, slots=True)
class OfBag(Expression):
    argument: Expression

    def __post_init__(self) -> None:
        wants(self, isinstance(self.argument.type, BagType), "rows of a bag", self.argument, wanted="a bag")

    @property
    def bag(self) -> BagType:
        assert isinstance(self.argument.type, BagType)
        return self.argument.type

    @property
    def type(self) -> Type:
        return self.bag


@dataclass(frozen=True, slots=True)
class BagColumns(OfBag):
    """Some fields of all rows."""

    indexes: tuple[int, ...]

    @property
    def type(self) -> Type:
        known = self.bag.fields
        if known is None:
            return BagType(tuple(Field(None, BYTES) for _ in self.indexes))
        return BagType(tuple(known[at] if at < len(known) else Field(None, BYTES) for at in self.indexes))


@dataclass(frozen=True, slots=True)
class BagFilter(OfBag):
    condition: Expression = field(metadata=_INNER)


@dataclass(frozen=True, slots=True)
class BagSort(OfBag):
    """The rows in an order; those with equal keys stay as they were."""

    keys: tuple[Expression, ...] = field(metadata=_INNER)
    directions: tuple[Direction, ...]


@dataclass(frozen=True, slots=True)
class BagLimit(OfBag):
    count: int


@dataclass(frozen=True, slots=True)
class BagDistinct(OfBag):
    pass


@dataclass(frozen=True, slots=True)
class BagRows(OfBag):
    """New rows for each row, as a projection makes them."""

    results: tuple[Expression, ...] = field(metadata=_INNER)
    flatten: tuple[Flatten, ...]
    names: tuple[str | None, ...] = field(compare=False)

    @property
    def type(self) -> Type:
        return BagType(flattened_fields(self.results, self.flatten, tuple((name,) for name in self.names)))


@dataclass(frozen=True, slots=True)
class BagAggregate(OfBag):
    """One value of all rows of a bag."""

    aggregate: Aggregate
    values: tuple[Expression, ...] = field(metadata=_INNER)

    @property
    def type(self) -> Type:
        return self.aggregate.type


def flattened_fields(
    results: tuple[Expression, ...], flatten: tuple[Flatten, ...], names: tuple[tuple[str | None, ...], ...]
) -> tuple[Field, ...] | None:
    """The fields of a row that results make; None where one of them is taken apart into nobody knows what."""
    found: list[Field] = []
    for result, how, given in zip(results, flatten, names, strict=True):
        kind = result.type
        if how == "no":
            found.append(Field(given[0] if given else None, kind))
            continue
        if isinstance(kind, MapType):
            parts: tuple[Field, ...] | None = (Field("key", TEXT), Field("value", kind.value or BYTES))
        elif isinstance(kind, TupleType | BagType):
            parts = kind.fields
        else:
            parts = (Field(None, kind),)
        if parts is None:
            return None
        for at, part in enumerate(parts):
            name = given[at] if at < len(given) else None
            found.append(part if name is None else Field(name, part.type))
    return tuple(found)
