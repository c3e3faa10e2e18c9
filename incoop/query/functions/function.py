"""What a function is: a name, a rule for types, a row function, and a kernel where one means exactly the same.

Contract: a function is pure; equal arguments give equal results on every machine. Its name and version stand for its
meaning in ids, so a function that changes what it means gets another version. A row function may raise NoValue: the
result is null, counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incoop.query.errors import Position, TypeMismatch, UnknownFunction
from incoop.query.functions.aggregate import Aggregate
from incoop.query.types import BYTES, NULL, NUMBERS, Type, Value, same_shape


@dataclass(frozen=True, slots=True)
class Signature:
    """What arguments are cast to, and what comes of them."""

    arguments: tuple[Type, ...]
    result: Type


#: Types of arguments to a signature; None where there is none for them.
Rule = Callable[[tuple[Type, ...]], Signature | None]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of values. Two are one where name and version are."""

    name: str
    rule: Rule = field(compare=False)
    #: Values to a value; called without nulls, unless `takes_nulls`.
    row: Callable[..., Value] = field(compare=False)
    #: What it takes, for the error where it is given something else.
    takes: str = field(default="other arguments", compare=False)
    takes_nulls: bool = field(default=False, compare=False)
    #: Columns of pyarrow to a column, given pyarrow.compute first; None in place of a column: by rows this time.
    kernel: Callable[..., Any] | None = field(default=None, compare=False)
    #: Of a bag that is taken apart at once: columns of pyarrow (and plain values, where an argument is constant) to how
    #: many rows each bag has, and columns of all these rows; None: by rows this time.
    rows_kernel: Callable[..., tuple[Any, list[Any]] | None] | None = field(default=None, compare=False)
    #: Whether the row function may raise NoValue.
    may_fail: bool = field(default=False, compare=False)
    version: int = 1

    def signature(self, types: tuple[Type, ...], position: Position | None = None) -> Signature:
        found = self.rule(types)
        if found is None:
            raise TypeMismatch(self.name, tuple(map(str, types)), self.takes, position)
        return found


def implicit(source: Type, target: Type) -> bool:
    """Whether an argument is cast without being asked to: to a wider number, or from bytes."""
    if same_shape(source, target) or source in (NULL, BYTES):
        return True
    return source in NUMBERS and target in NUMBERS and NUMBERS.index(source) <= NUMBERS.index(target)


def fixed(*arguments: Type, result: Type, optional: int = 0) -> Rule:
    """The rule of a function that takes these types; the last `optional` of them may be missing."""

    def rule(types: tuple[Type, ...]) -> Signature | None:
        if not len(arguments) - optional <= len(types) <= len(arguments):
            return None
        wanted = arguments[: len(types)]
        return Signature(wanted, result) if all(map(implicit, types, wanted)) else None

    return rule


def first_that_fits(*rules: Rule) -> Rule:
    """The rule of a function that takes arguments of several kinds."""

    def rule(types: tuple[Type, ...]) -> Signature | None:
        return next((found for each in rules if (found := each(types)) is not None), None)

    return rule


#: Types of arguments to an aggregate for them; None where there is none.
AggregateRule = Callable[[tuple[Type, ...]], tuple[Aggregate, tuple[Type, ...]] | None]


@dataclass(frozen=True, slots=True)
class Registry:
    """Functions and aggregates by name. A way in adds its own, in place of those of the same name."""

    functions: Mapping[str, Function]
    aggregates: Mapping[str, AggregateRule]

    def extended(
        self, functions: Iterable[Function] = (), aggregates: Mapping[str, AggregateRule] | None = None
    ) -> Registry:
        return Registry(
            {**self.functions, **{each.name: each for each in functions}}, {**self.aggregates, **(aggregates or {})}
        )

    def function(self, name: str, position: Position | None = None) -> Function:
        found = self.functions.get(name)
        if found is None:
            raise UnknownFunction(name, (*self.functions, *self.aggregates), position)
        return found

    def aggregate(
        self, name: str, types: tuple[Type, ...], position: Position | None = None
    ) -> tuple[Aggregate, tuple[Type, ...]]:
        """The aggregate of a name for arguments of these types, and what they are cast to."""
        rule = self.aggregates.get(name)
        if rule is None:
            raise UnknownFunction(name, (*self.aggregates, *self.functions), position)
        found = rule(types)
        if found is None:
            raise TypeMismatch(name, tuple(map(str, types)), "another kind of arguments", position)
        return found
