"""Nodes with one input, or none."""

from __future__ import annotations

from dataclasses import dataclass, field

from incoop.query.errors import BadPlan
from incoop.query.expressions.bag_nodes import Flatten, flattened_fields
from incoop.query.expressions.nodes import Expression
from incoop.query.order import Direction
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan, check_condition, check_fields
from incoop.query.schema import Schema
from incoop.query.sources.text_format import Format, TextFormat
from incoop.query.types import LONG, Field


@dataclass(frozen=True, slots=True)
class Scan(Plan):
    """Records of an input, in a format; only the wanted fields of them, where some are not read."""

    name: str
    format: Format
    wanted: tuple[int, ...] | None = None

    def _derived(self) -> Schema:
        known = self.format.schema
        if self.wanted is None or known.fields is None:
            return known
        return Schema(tuple(known.fields[at] for at in self.wanted))


@dataclass(frozen=True, slots=True)
class _OneInput(Plan):
    input: Plan

    def _derived(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class _RowByRow(_OneInput):
    @property
    def ordered(self) -> bool:
        return self.input.ordered


@dataclass(frozen=True, slots=True)
class Filter(_RowByRow):
    """The rows for which a condition is true: neither false nor null."""

    condition: Expression

    def __post_init__(self) -> None:
        check_condition(self.condition, self.input.schema, self.position)


@dataclass(frozen=True, slots=True)
class Project(_RowByRow):
    """A row of results for each row."""

    results: tuple[Expression, ...]
    names: tuple[str | None, ...] = field(compare=False)

    def __post_init__(self) -> None:
        _check_results(self, self.results, len(self.names))

    def _derived(self) -> Schema:
        return Schema(tuple(Field(name, each.type) for name, each in zip(self.names, self.results, strict=True)))


def _check_results(node: _OneInput, results: tuple[Expression, ...], names: int) -> None:
    if len(results) != names:
        raise BadPlan(f"{len(results)} results have {names} names. Name each, or give None for it.", node.position)
    for each in results:
        check_fields(each, node.input.schema, node.position)


@dataclass(frozen=True, slots=True)
class Generate(_RowByRow):
    """Rows of results for each row, some of them taken apart."""

    results: tuple[Expression, ...]
    flatten: tuple[Flatten, ...]
    #: Names for each result, or for each field that it is taken apart into.
    names: tuple[tuple[str | None, ...], ...] = field(compare=False)

    def __post_init__(self) -> None:
        _check_results(self, self.results, len(self.names))
        if len(self.flatten) != len(self.results):
            raise BadPlan("each result is taken apart or not.", self.position)

    def _derived(self) -> Schema:
        return Schema(flattened_fields(self.results, self.flatten, self.names))


@dataclass(frozen=True, slots=True)
class AggregateBy(_OneInput):
    """A row for each key: the key's values, then those of the aggregates. Null is a key like others."""

    keys: tuple[Expression, ...]
    aggregations: tuple[Aggregation, ...]
    names: tuple[str | None, ...] = field(compare=False)
    #: Whether there is a row where there are neither keys nor rows, as SQL has it.
    row_of_nothing: bool = False

    def __post_init__(self) -> None:
        arguments = tuple(argument for each in self.aggregations for argument in each.arguments)
        for each in (*self.keys, *arguments):
            check_fields(each, self.input.schema, self.position)
        if len(self.names) != len(self.keys) + len(self.aggregations):
            raise BadPlan("each key and each aggregate has a name, or None for one.", self.position)

    def _derived(self) -> Schema:
        types = [*(key.type for key in self.keys), *(each.aggregate.type for each in self.aggregations)]
        return Schema(tuple(Field(name, kind) for name, kind in zip(self.names, types, strict=True)))


@dataclass(frozen=True, slots=True)
class DistinctRows(_OneInput):
    """Each row once; of rows that are one, the canonical one."""


@dataclass(frozen=True, slots=True)
class _Keyed(_OneInput):
    keys: tuple[Expression, ...]
    directions: tuple[Direction, ...]

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.directions):
            raise BadPlan("each key of an order has a direction.", self.position)
        for each in self.keys:
            check_fields(each, self.input.schema, self.position)


@dataclass(frozen=True, slots=True)
class Sort(_Keyed):
    """Rows in an order; those with equal keys in the canonical order of rows."""

    @property
    def ordered(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Limit(_RowByRow):
    """The first rows; of rows without an order, the first in the canonical order of rows."""

    count: int
    offset: int = 0

    def __post_init__(self) -> None:
        if self.count < 0 or self.offset < 0:
            raise BadPlan("a limit and what it leaves out are not negative.", self.position)


@dataclass(frozen=True, slots=True)
class TopK(_Keyed):
    """The first rows in an order, in that order."""

    count: int

    @property
    def ordered(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Rank(_Keyed):
    """A number before each row: its place in an order, one more than the rows (or with `dense`, the keys) before it.
    Without keys, each row has a number of its own, in the order that the rows have, or the canonical one."""

    dense: bool = False
    name: str | None = field(default=None, compare=False)

    def _derived(self) -> Schema:
        return Schema((Field(self.name, LONG),)) + self.input.schema


@dataclass(frozen=True, slots=True)
class WindowOver(_OneInput):
    """Each row with aggregates over its partition: all of it, or with `running` up to this row, rows in an order."""

    partition: tuple[Expression, ...]
    keys: tuple[Expression, ...]
    directions: tuple[Direction, ...]
    aggregations: tuple[Aggregation, ...]
    names: tuple[str | None, ...] = field(compare=False)
    running: bool = False

    def __post_init__(self) -> None:
        arguments = tuple(argument for each in self.aggregations for argument in each.arguments)
        for each in (*self.partition, *self.keys, *arguments):
            check_fields(each, self.input.schema, self.position)
        if len(self.keys) != len(self.directions) or len(self.names) != len(self.aggregations):
            raise BadPlan("each key of an order has a direction, and each aggregate a name or None.", self.position)

    def _derived(self) -> Schema:
        named = zip(self.names, self.aggregations, strict=True)
        return self.input.schema + Schema(tuple(Field(name, each.aggregate.type) for name, each in named))


@dataclass(frozen=True, slots=True)
class Expand(_OneInput):
    """Several rows for each row, one for each list of results: what cubes and rollups are made of."""

    projections: tuple[tuple[Expression, ...], ...]
    names: tuple[str | None, ...] = field(compare=False)

    def __post_init__(self) -> None:
        if not self.projections:
            raise BadPlan("a row is expanded to one row at least.", self.position)
        for results in self.projections:
            _check_results(self, results, len(self.names))

    def _derived(self) -> Schema:
        results = self.projections[0]
        return Schema(tuple(Field(name, each.type) for name, each in zip(self.names, results, strict=True)))


@dataclass(frozen=True, slots=True)
class StreamThrough(_OneInput):
    """Rows printed to a command, and read from it."""

    command: str
    sent: TextFormat
    received: TextFormat

    def _derived(self) -> Schema:
        return self.received.schema


@dataclass(frozen=True, slots=True)
class Store(_RowByRow):
    """Rows written to an output, in a format."""

    name: str
    format: Format
