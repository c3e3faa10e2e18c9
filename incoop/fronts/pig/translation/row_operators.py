"""Operators with one input: FILTER, FOREACH, ORDER, LIMIT, RANK, DISTINCT, SAMPLE, SPLIT's branches, ASSERT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import xxhash

from incoop.base.content_ids import content_id
from incoop.base.errors import IncoopError
from incoop.fronts.pig.errors import at, refuse
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.translation.blocks import block_scope, sort_keys
from incoop.fronts.pig.translation.generate import generated
from incoop.fronts.pig.translation.scope import RowScope, ScriptRelation, ScriptScope
from incoop.fronts.pig.translation.terms import condition, constant_value, expression, number
from incoop.query.expressions import build
from incoop.query.expressions.nodes import (
    Call,
    Comparison,
    Expression,
    IsNull,
    Not,
    Or,
    Reference,
    UserCall,
)
from incoop.query.functions.function import Function, Signature
from incoop.query.order import encoded
from incoop.query.plan.single import DistinctRows, Filter, Generate, Limit, Project, Rank, Sort
from incoop.query.schema import Schema
from incoop.query.types import BOOLEAN, DOUBLE, LONG, Field, Type, Value


def filtered(source: ScriptRelation, operator: o.FilterOperator, script: ScriptScope) -> ScriptRelation:
    found = condition(operator.condition, RowScope.of(source, script))
    return source.over(Filter(source.plan, found, position=at(operator)))


def foreach(source: ScriptRelation, operator: o.ForeachOperator, script: ScriptScope) -> ScriptRelation:
    scope = block_scope(operator.nested, RowScope.of(source, script))
    items = operator.items
    if len(items) == 1 and isinstance(items[0].term, t.StarTerm) and source.schema.fields is None:
        return source  # every field, however many there are
    made = generated(items, scope)
    results, where = tuple(made.results), at(operator)
    if all(how == "no" for how in made.flatten):
        plan: Any = Project(source.plan, results, tuple(each[0] for each in made.names), position=where)
    else:
        plan = Generate(source.plan, results, tuple(made.flatten), made.names, position=where)
    return ScriptRelation(None, plan, made.schema, nested={name: value.type for name, value in scope.nested.items()})


def ordered(source: ScriptRelation, operator: o.OrderOperator, script: ScriptScope) -> ScriptRelation:
    if operator.function is not None:
        refuse("ORDER … USING a function of your own is not carried out. Order by a value it computes.", operator)
    keys, directions = sort_keys(operator.keys, RowScope.of(source, script))
    return source.over(Sort(source.plan, keys, directions, position=at(operator)))


def ranked(source: ScriptRelation, operator: o.RankOperator, script: ScriptScope) -> ScriptRelation:
    keys, directions = sort_keys(operator.keys, RowScope.of(source, script))
    name = f"rank_{source.alias}" if source.alias else "rank"
    plan = Rank(source.plan, keys, directions, operator.dense, name, position=at(operator))
    bags = frozenset(index + 1 for index in source.bags)
    return ScriptRelation(None, plan, Schema((Field(name, LONG),)) + source.schema, bags)


def distinct(source: ScriptRelation, operator: o.DistinctOperator) -> ScriptRelation:
    return source.over(DistinctRows(source.plan, position=at(operator)))


def limited(source: ScriptRelation, operator: o.LimitOperator, script: ScriptScope) -> ScriptRelation:
    """A count that is a value of another relation is known late: the rows are numbered, and those up to it kept."""
    scope = RowScope(Schema(()), script)
    value = constant_value(operator.count, scope, "what LIMIT takes")
    where = at(operator)
    if value is not None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            refuse("LIMIT takes a whole number that is not negative.", operator.count)
        return source.over(Limit(source.plan, value, position=where))
    fields = source.schema.known("LIMIT by a value of another relation", where)
    numbered = Rank(source.plan, (), (), position=where)
    most = build.cast(expression(operator.count, scope), LONG, where)
    kept = Filter(numbered, Comparison("<=", Reference(0, LONG), most, position=where), position=where)
    own = tuple(Reference(index + 1, field.type, field.name) for index, field in enumerate(fields))
    plan: Any = Project(kept, own, tuple(field.name for field in fields), position=where)
    if isinstance(source.plan, Sort):
        plan = Sort(plan, source.plan.keys, source.plan.directions, position=where)
    return source.over(plan)


# ---- SAMPLE


@dataclass(frozen=True, slots=True)
class _Share:
    """The rule of a function of a whole row that gives a number from 0 up to 1."""

    def __call__(self, types: tuple[Type, ...]) -> Signature | None:
        return Signature(types, DOUBLE)


def share_of(*values: Value) -> float:
    """Where a row falls between 0 and 1: by its content, the same always and everywhere.

    Example:
        >>> 0 <= share_of("a", 1) < 1, share_of("a", 1) == share_of("a", 1)
        (True, True)
    """
    return (xxhash.xxh3_64_intdigest(encoded(values)) >> 11) / 2**53


#: Another way to choose, another version.
_SAMPLE = Function("pig_sample_share", _Share(), share_of, takes_nulls=True, version=1)


def sampled(source: ScriptRelation, operator: o.SampleOperator, script: ScriptScope) -> ScriptRelation:
    """Rows are chosen by their content, so that the same rows are chosen again."""
    where = at(operator)
    scope = RowScope(Schema(()), script)
    value = constant_value(operator.size, scope, "what SAMPLE takes")
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
        refuse("SAMPLE takes a share from 0 to 1.", operator.size)
    fields = source.schema.known("SAMPLE", where)
    share = Call(_SAMPLE, tuple(Reference(at_, field.type, field.name) for at_, field in enumerate(fields)))
    wanted = build.cast(number(expression(operator.size, scope), where), DOUBLE)
    script.note(
        "SAMPLE chooses rows by their content, not by chance: the same rows every time, and all copies of a row or none"
    )
    return source.over(Filter(source.plan, Comparison("<", share, wanted, position=where), position=where))


# ---- SPLIT and ASSERT


def split(source: ScriptRelation, statement: s.SplitStatement, script: ScriptScope) -> list[tuple[str, ScriptRelation]]:
    """A relation for each branch. OTHERWISE has the rows for which all conditions are false; a null is not false."""
    scope = RowScope.of(source, script)
    conditions = {id(each): condition(each.condition, scope) for each in statement.branches if each.condition}
    found = []
    for branch in statement.branches:
        where = at(branch)
        test = conditions.get(id(branch)) or _otherwise(list(conditions.values()), branch)
        found.append((branch.alias.name, source.over(Filter(source.plan, test, position=where))))
    return found


def _otherwise(conditions: list[Expression], branch: s.SplitBranch) -> Expression:
    if not conditions:
        refuse("OTHERWISE stands beside an IF at least.", branch)
    any_of = conditions[0]
    for each in conditions[1:]:
        any_of = Or(any_of, each, position=at(branch))
    none_of: Expression = Not(any_of, position=at(branch))
    if branch.nulls_too:
        none_of = Or(IsNull(any_of, position=at(branch)), none_of, position=at(branch))
    return none_of


class AssertionViolated(IncoopError):
    """A row for which what a script asserts is not true."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"Assertion violated: {self.message}"


@dataclass(frozen=True, slots=True)
class _Check:
    """Raises where a condition is not true."""

    message: str

    def __call__(self, holds: bool | None, *row: Value) -> bool:
        if holds is not True:
            raise AssertionViolated(self.message)
        return True


def asserted(source: ScriptRelation, statement: s.AssertStatement, script: ScriptScope) -> ScriptRelation:
    """The same rows, if all of them are as is said; else what computes them fails, and shows the row."""
    where = at(statement)
    message = statement.message or "a row is not as ASSERT says"
    holds = condition(statement.condition, RowScope.of(source, script))
    row = tuple(Reference(index, field.type, field.name) for index, field in enumerate(source.schema.fields or ()))
    identity = content_id(b"pig assert 1 " + message.encode("utf-8", "surrogatepass"))
    check = UserCall("ASSERT", _Check(message), identity, (holds, *row), BOOLEAN, position=where)
    return source.over(Filter(source.plan, check, position=where))
