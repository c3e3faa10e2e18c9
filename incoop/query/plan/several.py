"""Nodes with several inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from incoop.query.errors import BadPlan, TypeMismatch
from incoop.query.expressions.nodes import Expression
from incoop.query.plan.node import Plan, check_fields
from incoop.query.schema import Schema
from incoop.query.types import Field, same_shape

JoinKind = Literal["inner", "left", "right", "full", "semi", "anti"]


@dataclass(frozen=True, slots=True)
class Join(Plan):
    """Pairs of rows with equal keys. A key with a null equals none, unless `nulls_match`."""

    left: Plan
    right: Plan
    left_keys: tuple[Expression, ...]
    right_keys: tuple[Expression, ...]
    #: Which rows without a partner stay, with nulls; semi and anti: left rows with, or without, a partner.
    kind: JoinKind = "inner"
    nulls_match: bool = False
    #: How it was asked to be carried out: "skewed", where few keys have very many rows; "small and stable", where the
    #: right side has few rows, and hardly ever others. Results do not depend on it.
    hint: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.left_keys or len(self.left_keys) != len(self.right_keys):
            raise BadPlan("a join has as many keys on one side as on the other, and one at least.", self.position)
        for one, other in zip(self.left_keys, self.right_keys, strict=True):
            check_fields(one, self.left.schema, self.position)
            check_fields(other, self.right.schema, self.position)
            if not same_shape(one.type, other.type):
                found = (str(one.type), str(other.type))
                raise TypeMismatch("a join", found, "keys of one type on both sides", one.position or self.position)
        if self.kind in ("left", "full"):
            self.right.schema.known("an outer join", self.position)
        if self.kind in ("right", "full"):
            self.left.schema.known("an outer join", self.position)

    def _derived(self) -> Schema:
        return self.left.schema if self.kind in ("semi", "anti") else self.left.schema + self.right.schema


@dataclass(frozen=True, slots=True)
class Cogroup(Plan):
    """A row for each key: the key's values, then a bag of each input's rows with that key. With one input: a group."""

    inputs: tuple[Plan, ...]
    keys: tuple[tuple[Expression, ...], ...]
    names: tuple[str | None, ...] = field(compare=False)
    #: Inputs whose bag must not be empty.
    required: tuple[bool, ...]
    #: Whether keys with a null are a group of each input by itself, rather than one of all.
    nulls_apart: bool = False

    def __post_init__(self) -> None:
        widths = {len(each) for each in self.keys}
        if not self.inputs or not len(self.keys) == len(self.inputs) == len(self.required) or len(widths) != 1:
            raise BadPlan("a group has equally many keys for each input, and one input at least.", self.position)
        if len(self.names) != len(self.keys[0]) + len(self.inputs):
            raise BadPlan("each key and each bag of a group has a name, or None for one.", self.position)
        for plan, keys in zip(self.inputs, self.keys, strict=True):
            for key, first in zip(keys, self.keys[0], strict=True):
                check_fields(key, plan.schema, self.position)
                if not same_shape(key.type, first.type):
                    found = (str(first.type), str(key.type))
                    raise TypeMismatch(
                        "a group", found, "keys of one type in all inputs", key.position or self.position
                    )

    def _derived(self) -> Schema:
        types = [*(key.type for key in self.keys[0]), *(plan.schema.as_bag for plan in self.inputs)]
        return Schema(tuple(Field(name, kind) for name, kind in zip(self.names, types, strict=True)))


@dataclass(frozen=True, slots=True)
class Union(Plan):
    """The rows of all inputs, as often as they occur. Of inputs of different widths rows keep theirs, and no field is
    known."""

    inputs: tuple[Plan, ...]

    def __post_init__(self) -> None:
        if not self.inputs:
            raise BadPlan("a union has one input at least.", self.position)
        for each in self.inputs[1:]:
            if each.schema.width == self.inputs[0].schema.width:
                _check_alike("a union", self.inputs[0], each, self)

    def _derived(self) -> Schema:
        first = self.inputs[0].schema
        return first if all(each.schema.width == first.width for each in self.inputs) else Schema(None)


def _check_alike(what: str, one: Plan, other: Plan, node: Plan) -> None:
    mine, its = one.schema, other.schema
    if mine.fields is None or its.fields is None:
        return
    if not same_shape(mine.as_tuple, its.as_tuple):
        raise TypeMismatch(what, (str(mine), str(its)), "inputs with fields of the same types", node.position)


@dataclass(frozen=True, slots=True)
class _OfTwo(Plan):
    left: Plan
    right: Plan
    #: Whether rows count as often as they occur; else each is there once.
    all: bool = False

    def __post_init__(self) -> None:
        _check_alike(type(self).__name__.lower(), self.left, self.right, self)

    def _derived(self) -> Schema:
        return self.left.schema


@dataclass(frozen=True, slots=True)
class Intersect(_OfTwo):
    """Rows of both inputs."""


@dataclass(frozen=True, slots=True)
class Except(_OfTwo):
    """Rows of the left input that the right one does not have."""


@dataclass(frozen=True, slots=True)
class Cross(Plan):
    """All pairs of rows."""

    left: Plan
    right: Plan

    def _derived(self) -> Schema:
        return self.left.schema + self.right.schema
