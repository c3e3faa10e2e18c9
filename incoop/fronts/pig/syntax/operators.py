"""Nodes of what makes a relation: LOAD, FILTER, JOIN and the others.

Contract: an input is a name, `@`, or another operator in parentheses. Clauses that only say how Pig should run it
(PARALLEL, PARTITION BY, USING 'replicated') are kept as they were written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.syntax.terms import Argument, ColumnTerm, FieldDeclaration, FieldsTerm, RangeTerm, StarTerm, Term


@dataclass(frozen=True, slots=True)
class RelationName(PigNode):
    """The alias of a relation, where it is used and where it is given."""

    name: str


@dataclass(frozen=True, slots=True)
class PreviousRelation(PigNode):
    """`@`: what the statement before gave."""


@dataclass(frozen=True, slots=True)
class FunctionReference(PigNode):
    """A loader, a storer or another function by name: `PigStorage(',')`, or `PigStorage` with arguments None."""

    name: str
    arguments: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class OperatorNode(PigNode):
    """What all operators have."""

    #: PARALLEL n
    parallel: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class LoadOperator(OperatorNode):
    """`LOAD 'path' USING function AS (schema)`; the schema is None where there is none."""

    path: str
    function: FunctionReference | None = None
    schema: tuple[FieldDeclaration, ...] | None = None


@dataclass(frozen=True, slots=True)
class FilterOperator(OperatorNode):
    """`FILTER source BY condition`."""

    source: Relation
    condition: Term


@dataclass(frozen=True, slots=True)
class GenerateItem(PigNode):
    """`term AS (schema)`, `FLATTEN(term) AS (schema)`; the schema is None where there is none."""

    term: Argument
    flatten: bool = False
    schema: tuple[FieldDeclaration, ...] | None = None


@dataclass(frozen=True, slots=True)
class ForeachOperator(OperatorNode):
    """`FOREACH source GENERATE items`, or with a block of nested statements before GENERATE."""

    source: Relation
    items: tuple[GenerateItem, ...]
    nested: tuple[NestedStatement, ...] = ()
    #: Whether there are braces: a block may have no statement but GENERATE.
    block: bool = False


class GroupSide(StrEnum):
    INNER = "inner"
    OUTER = "outer"


@dataclass(frozen=True, slots=True)
class GroupedInput(PigNode):
    """`source BY key`, `source BY (key, key)`, or `source ALL`, where there are no keys."""

    source: Relation
    keys: tuple[Argument, ...] = ()
    side: GroupSide | None = None


@dataclass(frozen=True, slots=True)
class GroupOperator(OperatorNode):
    """GROUP and COGROUP, which are one: of one or several inputs."""

    inputs: tuple[GroupedInput, ...]
    #: USING 'collected' or 'merge'
    hint: str | None = None
    partitioner: str | None = None


class JoinWord(StrEnum):
    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class JoinedInput(PigNode):
    """`source BY key`, or `source BY (key, key)`."""

    source: Relation
    keys: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class JoinOperator(OperatorNode):
    """`JOIN a BY x LEFT OUTER, b BY y USING 'hint'`; two inputs, or more if it is an inner join."""

    inputs: tuple[JoinedInput, ...]
    kind: JoinWord = JoinWord.INNER
    #: USING 'replicated', 'skewed', 'merge', 'merge-sparse', 'hash' or 'bloom'
    hint: str | None = None
    partitioner: str | None = None


@dataclass(frozen=True, slots=True)
class SortColumn(PigNode):
    """`column ASC`, `first..last DESC`, `* DESC`."""

    column: ColumnTerm | RangeTerm | StarTerm
    descending: bool = False


@dataclass(frozen=True, slots=True)
class OrderOperator(OperatorNode):
    """`ORDER source BY keys USING function`."""

    source: Relation
    keys: tuple[SortColumn, ...]
    function: FunctionReference | None = None


@dataclass(frozen=True, slots=True)
class RankOperator(OperatorNode):
    """`RANK source BY keys DENSE`; without keys the rows are numbered."""

    source: Relation
    keys: tuple[SortColumn, ...] = ()
    dense: bool = False


@dataclass(frozen=True, slots=True)
class DistinctOperator(OperatorNode):
    source: Relation
    partitioner: str | None = None


@dataclass(frozen=True, slots=True)
class LimitOperator(OperatorNode):
    source: Relation
    count: Term


@dataclass(frozen=True, slots=True)
class SampleOperator(OperatorNode):
    source: Relation
    #: A share (0.1), or a number of rows.
    size: Term


@dataclass(frozen=True, slots=True)
class CrossOperator(OperatorNode):
    sources: tuple[Relation, ...]
    partitioner: str | None = None


@dataclass(frozen=True, slots=True)
class UnionOperator(OperatorNode):
    sources: tuple[Relation, ...]
    onschema: bool = False


@dataclass(frozen=True, slots=True)
class CubeDimension(PigNode):
    """`CUBE(a, b)` or `ROLLUP(a, b)`."""

    rollup: bool
    columns: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class CubeOperator(OperatorNode):
    """`CUBE source BY CUBE(a, b), ROLLUP(c)`."""

    source: Relation
    dimensions: tuple[CubeDimension, ...]


@dataclass(frozen=True, slots=True)
class StreamOperator(OperatorNode):
    """``STREAM source THROUGH `command` AS (schema)``; the command itself, or a name that DEFINE gave one."""

    source: Relation
    command: str | None = None
    name: str | None = None
    schema: tuple[FieldDeclaration, ...] | None = None


@dataclass(frozen=True, slots=True)
class NativeOperator(OperatorNode):
    """``MAPREDUCE 'a.jar' STORE source INTO 'path' LOAD 'path' AS (schema) `arguments` ``."""

    jar: str
    source: Relation
    into: str
    storer: FunctionReference | None
    load: LoadOperator
    arguments: str | None = None
    jars: tuple[str, ...] = ()


RelationalOperator = (
    LoadOperator
    | FilterOperator
    | ForeachOperator
    | GroupOperator
    | JoinOperator
    | OrderOperator
    | RankOperator
    | DistinctOperator
    | LimitOperator
    | SampleOperator
    | CrossOperator
    | UnionOperator
    | CubeOperator
    | StreamOperator
    | NativeOperator
)
Relation = RelationName | PreviousRelation | RelationalOperator

# ---- blocks of FOREACH

#: What a nested operator works on: a bag by name or number, or columns of one (`bag.(x, y)`).
NestedInput = ColumnTerm | FieldsTerm


@dataclass(frozen=True, slots=True)
class NestedFilter(PigNode):
    source: NestedInput
    condition: Term


@dataclass(frozen=True, slots=True)
class NestedOrder(PigNode):
    source: NestedInput
    keys: tuple[SortColumn, ...]
    function: FunctionReference | None = None


@dataclass(frozen=True, slots=True)
class NestedDistinct(PigNode):
    source: NestedInput


@dataclass(frozen=True, slots=True)
class NestedLimit(PigNode):
    source: NestedInput
    count: Term


@dataclass(frozen=True, slots=True)
class NestedCross(PigNode):
    sources: tuple[NestedInput, ...]


@dataclass(frozen=True, slots=True)
class NestedForeach(PigNode):
    source: NestedInput
    items: tuple[GenerateItem, ...]


NestedOperator = NestedFilter | NestedOrder | NestedDistinct | NestedLimit | NestedCross | NestedForeach


@dataclass(frozen=True, slots=True)
class NestedStatement(PigNode):
    """`name = value;` in a block: an operator on a bag, or an expression."""

    name: str
    value: NestedOperator | Term
