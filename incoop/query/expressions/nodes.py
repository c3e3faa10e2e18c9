"""Expressions: typed nodes, checked when they are made.

Contract: a node is a frozen value that knows its type. Equality and hashing leave positions and names of fields out,
so that what is computed the same way is the same. Fields marked `inner` are expressions over the rows of a bag, not
over the row itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from incoop.query.casts import check_cast
from incoop.query.errors import Position, TypeMismatch
from incoop.query.functions.function import Function
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    NULL,
    NUMBERS,
    TEXT,
    MapType,
    TupleType,
    Type,
    Value,
    common_type,
    same_shape,
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A value computed from a row."""

    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def type(self) -> Type:
        raise NotImplementedError

    @property
    def children(self) -> tuple[Expression, ...]:
        """Expressions over the same row that this one is computed from."""
        return self._parts(inner=False)

    @property
    def inner(self) -> tuple[Expression, ...]:
        """Expressions over the rows of its bag."""
        return self._parts(inner=True)

    def _parts(self, inner: bool) -> tuple[Expression, ...]:
        found: list[Expression] = []
        for each in fields(self):
            value = getattr(self, each.name)
            if bool(each.metadata.get("inner")) == inner:
                if isinstance(value, Expression):
                    found.append(value)
                elif isinstance(value, tuple):
                    found += [part for part in value if isinstance(part, Expression)]
        return tuple(found)

    def rebuilt(
        self, change: Callable[[Expression], Expression], inner: Callable[[Expression], Expression]
    ) -> Expression:
        """The same node over changed children, and changed inner expressions."""
        fresh: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            apply = inner if each.metadata.get("inner") else change
            if isinstance(value, Expression):
                fresh[each.name] = apply(value)
            elif isinstance(value, tuple) and any(isinstance(part, Expression) for part in value):
                fresh[each.name] = tuple(map(apply, value))
        return replace(self, **fresh) if fresh else self


def wants(expression: Expression, right: bool, operation: str, *found: Expression, wanted: str) -> None:
    if not right:
        raise TypeMismatch(operation, tuple(str(each.type) for each in found), wanted, expression.position)


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A value that is written in the query."""

    value: Value = field(compare=False)
    kind: Type
    #: Tells 1 from True and 0.0 from -0.0, and can be hashed.
    written: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "written", repr(self.value))

    @property
    def type(self) -> Type:
        return self.kind


@dataclass(frozen=True, slots=True)
class Reference(Expression):
    """A field of the row, by place."""

    index: int
    kind: Type
    name: str | None = field(default=None, compare=False)

    @property
    def type(self) -> Type:
        return self.kind


@dataclass(frozen=True, slots=True)
class OuterReference(Expression):
    """Inside an inner expression: a field of the row that holds the bag, `levels` up."""

    index: int
    kind: Type
    levels: int = 1

    @property
    def type(self) -> Type:
        return self.kind


@dataclass(frozen=True, slots=True)
class Scalar(Expression):
    """A field of the only row of another plan: applied late, when that plan's value is known; null where it has no
    row.
    """

    #: A plan, which knows its own schema; expressions know no plans.
    plan: Any
    index: int
    kind: Type

    @property
    def type(self) -> Type:
        return self.kind


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    argument: Expression
    target: Type

    def __post_init__(self) -> None:
        check_cast(self.argument.type, self.target, self.position)

    @property
    def type(self) -> Type:
        return self.target


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """Both operands are of one type, and so is the result. A division by zero is null, counted."""

    operator: Literal["+", "-", "*", "/", "%"]
    left: Expression
    right: Expression
    #: Whether integers that leave their range are an error rather than wrapping around.
    checked: bool = False

    def __post_init__(self) -> None:
        fit = self.left.type == self.right.type and self.left.type in NUMBERS
        wants(self, fit, f"{self.operator!r}", self.left, self.right, wanted="two numbers of one type")

    @property
    def type(self) -> Type:
        return self.left.type


@dataclass(frozen=True, slots=True)
class Negation(Expression):
    argument: Expression
    checked: bool = False

    def __post_init__(self) -> None:
        wants(self, self.argument.type in NUMBERS, "'-'", self.argument, wanted="a number")

    @property
    def type(self) -> Type:
        return self.argument.type


@dataclass(frozen=True, slots=True)
class _Truth(Expression):
    @property
    def type(self) -> Type:
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Comparison(_Truth):
    """By the order of values; null where an operand is."""

    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        fit = same_shape(self.left.type, self.right.type)
        wants(self, fit, f"{self.operator!r}", self.left, self.right, wanted="two values of one type")


def _boolean(expression: Expression, operation: str, *operands: Expression) -> None:
    fit = all(each.type in (BOOLEAN, NULL) for each in operands)
    wants(expression, fit, operation, *operands, wanted="conditions")


@dataclass(frozen=True, slots=True)
class And(_Truth):
    """The right side is not looked at where the left is false."""

    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        _boolean(self, "AND", self.left, self.right)


@dataclass(frozen=True, slots=True)
class Or(_Truth):
    """The right side is not looked at where the left is true."""

    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        _boolean(self, "OR", self.left, self.right)


@dataclass(frozen=True, slots=True)
class Not(_Truth):
    argument: Expression

    def __post_init__(self) -> None:
        _boolean(self, "NOT", self.argument)


@dataclass(frozen=True, slots=True)
class IsNull(_Truth):
    argument: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """One of two values; the other is not looked at."""

    condition: Expression
    chosen: Expression
    otherwise: Expression
    #: What a null condition gives: null, or what stands behind otherwise.
    null_gives_null: bool = False

    def __post_init__(self) -> None:
        _boolean(self, "a choice", self.condition)
        fit = same_shape(self.chosen.type, self.otherwise.type)
        wants(self, fit, "a choice", self.chosen, self.otherwise, wanted="two values of one type")

    @property
    def type(self) -> Type:
        found = common_type(self.chosen.type, self.otherwise.type)
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class IsIn(_Truth):
    """Whether it equals one of the options; null where it does not, and one of them is null."""

    argument: Expression
    options: tuple[Expression, ...]

    def __post_init__(self) -> None:
        for each in self.options:
            fit = same_shape(self.argument.type, each.type)
            wants(self, fit, "IN", self.argument, each, wanted="values of one type")


@dataclass(frozen=True, slots=True)
class TupleField(Expression):
    """A field of a tuple; null where it has none at that place."""

    argument: Expression
    index: int

    def __post_init__(self) -> None:
        wants(self, isinstance(self.argument.type, TupleType), "a field of a tuple", self.argument, wanted="a tuple")

    @property
    def type(self) -> Type:
        assert isinstance(self.argument.type, TupleType)
        known = self.argument.type.fields
        return known[self.index].type if known is not None and self.index < len(known) else BYTES


@dataclass(frozen=True, slots=True)
class MapValue(Expression):
    """What a map has for a key; null where it has none."""

    argument: Expression
    key: Expression

    def __post_init__(self) -> None:
        fit = isinstance(self.argument.type, MapType) and self.key.type in (TEXT, NULL)
        wants(self, fit, "a value of a map", self.argument, self.key, wanted="a map and a text")

    @property
    def type(self) -> Type:
        assert isinstance(self.argument.type, MapType)
        return self.argument.type.value or BYTES


@dataclass(frozen=True, slots=True)
class Call(Expression):
    function: Function
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        self.function.signature(tuple(each.type for each in self.arguments), self.position)

    @property
    def type(self) -> Type:
        return self.function.signature(tuple(each.type for each in self.arguments), self.position).result


@dataclass(frozen=True, slots=True)
class UserCall(Expression):
    """A function of the user's. `identity` stands for its code: equal identities, equal results."""

    name: str
    function: Callable[..., Any] = field(compare=False, repr=False)
    identity: bytes
    arguments: tuple[Expression, ...]
    kind: Type

    @property
    def type(self) -> Type:
        return self.kind
