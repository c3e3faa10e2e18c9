"""Nodes of expressions, and of the types and schemas that are written in a script.

Contract: names are as they were written (Pig tells upper from lower case in names of fields, aliases and functions),
keywords are not in the tree. Nothing is looked up: a `NameTerm` may be a field, a relation, or an alias of a nested
block. Parentheses are not kept, but around a single literal, where they make a tuple.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from incoop.fronts.pig.syntax.nodes import PigNode

# ---- types


class TypeWord(StrEnum):
    """Types without a structure, as Pig calls them."""

    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BIGINTEGER = "biginteger"
    BIGDECIMAL = "bigdecimal"
    CHARARRAY = "chararray"
    BYTEARRAY = "bytearray"
    DATETIME = "datetime"


@dataclass(frozen=True, slots=True)
class ScalarTypeName(PigNode):
    """`int`."""

    word: TypeWord


@dataclass(frozen=True, slots=True)
class TupleTypeName(PigNode):
    """`tuple(a: int, b)`; without fields for `tuple` and `()`: any."""

    fields: tuple[FieldDeclaration, ...] = ()


@dataclass(frozen=True, slots=True)
class BagTypeName(PigNode):
    """`bag{t: (a: int)}`; the row is None for `bag{}`: any."""

    row: TupleTypeName | None = None
    #: The name of the tuple, which Pig ignores.
    row_name: str | None = None


@dataclass(frozen=True, slots=True)
class MapTypeName(PigNode):
    """`map[int]`; the value is None for `map[]`: bytes."""

    value: TypeName | None = None


TypeName = ScalarTypeName | TupleTypeName | BagTypeName | MapTypeName


@dataclass(frozen=True, slots=True)
class FieldDeclaration(PigNode):
    """A field of a schema: `name`, `name: type`, or a type alone."""

    name: str | None = None
    type: TypeName | None = None


# ---- values


class LiteralKind(StrEnum):
    """Of what type a literal is; text, numbers with their suffix (`5L`, `1.5F`, `3BI`, `2.5BD`), truth, null."""

    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BIGINTEGER = "biginteger"
    BIGDECIMAL = "bigdecimal"
    CHARARRAY = "chararray"
    BOOLEAN = "boolean"
    NULL = "null"


@dataclass(frozen=True, slots=True)
class LiteralTerm(PigNode):
    """A value. A float or double keeps its digits, as a Decimal: it is rounded by whoever knows to what. Never
    negative: a sign is a `NegativeTerm`. An int may be too large for Pig's."""

    kind: LiteralKind
    value: int | Decimal | str | bool | None


@dataclass(frozen=True, slots=True)
class NameTerm(PigNode):
    """`age`, `students::age`, `group`."""

    name: str


@dataclass(frozen=True, slots=True)
class IndexTerm(PigNode):
    """`$0`."""

    index: int


ColumnTerm = NameTerm | IndexTerm


@dataclass(frozen=True, slots=True)
class StarTerm(PigNode):
    """`*`, as an argument, a key or what is generated."""


@dataclass(frozen=True, slots=True)
class RangeTerm(PigNode):
    """`first..last`, either of which may be missing, but not both."""

    first: ColumnTerm | None
    last: ColumnTerm | None


@dataclass(frozen=True, slots=True)
class FieldsTerm(PigNode):
    """`source.column`, `source.(column, column)`: of a tuple, of each row of a bag, or of a relation with one row."""

    source: Term
    columns: tuple[ColumnTerm, ...]


@dataclass(frozen=True, slots=True)
class LookupTerm(PigNode):
    """`source#'key'`; the key is None for `source#null`."""

    source: Term
    key: str | None


@dataclass(frozen=True, slots=True)
class CallTerm(PigNode):
    """`org.example.Function(argument, …)`; `[a, b]`, which Pig takes for TOMAP(a, b), is one of these, too."""

    function: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class CastTerm(PigNode):
    """`(type) operand`."""

    type: TypeName
    operand: Term


@dataclass(frozen=True, slots=True)
class NegativeTerm(PigNode):
    """`-operand`."""

    operand: Term


@dataclass(frozen=True, slots=True)
class ArithmeticTerm(PigNode):
    """`left operator right`; the operator is one of + - * / %."""

    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class ComparisonTerm(PigNode):
    """`left operator right`; the operator is one of == != < <= > >= matches, also where a word (`eq`) was written."""

    operator: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class LogicTerm(PigNode):
    """Operands with `and`, or with `or`, between them; two at least."""

    operator: str
    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class NotTerm(PigNode):
    """`NOT operand`."""

    operand: Term


@dataclass(frozen=True, slots=True)
class NullTestTerm(PigNode):
    """`operand IS NULL`, or IS NOT NULL."""

    operand: Term
    negated: bool


@dataclass(frozen=True, slots=True)
class MembershipTerm(PigNode):
    """`operand IN (choice, …)`."""

    operand: Term
    choices: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class BincondTerm(PigNode):
    """`(condition ? chosen : otherwise)`."""

    condition: Term
    chosen: Term
    otherwise: Term


@dataclass(frozen=True, slots=True)
class CaseBranch(PigNode):
    """`WHEN condition THEN chosen`; in a CASE with a subject the condition is a value that it may have."""

    condition: Term
    chosen: Term


@dataclass(frozen=True, slots=True)
class CaseTerm(PigNode):
    """`CASE [subject] WHEN … THEN … [ELSE otherwise] END`."""

    subject: Term | None
    branches: tuple[CaseBranch, ...]
    otherwise: Term | None


@dataclass(frozen=True, slots=True)
class TupleTerm(PigNode):
    """`(a, b)`, `()`, and `(1)`: parentheses around one literal."""

    items: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class BagTerm(PigNode):
    """`{(1, 2), (3, 4)}`; an item that is no tuple becomes one of a single field."""

    items: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(PigNode):
    """`'key'#value`."""

    key: str
    value: Term


@dataclass(frozen=True, slots=True)
class MapTerm(PigNode):
    """`['a'#1, 'b'#2]`."""

    entries: tuple[MapEntry, ...]


Term = (
    LiteralTerm
    | NameTerm
    | IndexTerm
    | FieldsTerm
    | LookupTerm
    | CallTerm
    | CastTerm
    | NegativeTerm
    | ArithmeticTerm
    | ComparisonTerm
    | LogicTerm
    | NotTerm
    | NullTestTerm
    | MembershipTerm
    | BincondTerm
    | CaseTerm
    | TupleTerm
    | BagTerm
    | MapTerm
)
#: What a call, a key or GENERATE takes.
Argument = Term | StarTerm | RangeTerm
