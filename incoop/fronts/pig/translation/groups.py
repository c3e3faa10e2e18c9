"""GROUP, COGROUP and CUBE.

Contract: a key with a null is a group like others, but in a COGROUP one of each input by itself. Several keys are a
tuple. A group's bags have the fields of their relations.
"""

from __future__ import annotations

from itertools import product

from incoop.fronts.pig.errors import at, refuse
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.translation.made import tuple_of
from incoop.fronts.pig.translation.scope import RowScope, ScriptRelation, ScriptScope
from incoop.fronts.pig.translation.terms import arguments_of, names_of
from incoop.query.errors import BadPlan
from incoop.query.expressions import build
from incoop.query.expressions.nodes import Cast, Constant, Expression, Reference
from incoop.query.functions import GENERAL
from incoop.query.plan.several import Cogroup
from incoop.query.plan.single import Expand
from incoop.query.schema import Schema
from incoop.query.types import BYTES, NULL, TEXT, BagType, Field

#: The key of GROUP … ALL, as Pig shows it.
_ALL = "all"


def same_keys(
    what: str, keys: list[list[Expression]], node: o.GroupOperator | o.JoinOperator
) -> list[list[Expression]]:
    """Keys of all inputs, those at one place cast to one type."""
    counts = {len(each) for each in keys}
    if len(counts) != 1:
        raise BadPlan(
            f"{what} needs equally many keys of each input, not {' and '.join(map(str, sorted(counts)))}.", at(node)
        )
    columns = [build.same_type(what, column, column[-1].position or at(node)) for column in zip(*keys, strict=True)]
    return [list(each) for each in zip(*columns, strict=True)]


def grouped(sources: list[ScriptRelation], operator: o.GroupOperator, script: ScriptScope) -> ScriptRelation:
    keys: list[list[Expression]] = []
    for source, given in zip(sources, operator.inputs, strict=True):
        scope = RowScope.of(source, script)
        keys.append(arguments_of(given.keys, scope) if given.keys else [Constant(_ALL, TEXT, position=at(given))])
    first = operator.inputs[0]
    names = names_of(first.keys, RowScope.of(sources[0], script)) if first.keys else [Field(None, TEXT)]
    keys = same_keys("GROUP", keys, operator)
    required = tuple(each.side == o.GroupSide.INNER for each in operator.inputs)
    return _group(sources, keys, names, required, operator)


def _group(
    sources: list[ScriptRelation],
    keys: list[list[Expression]],
    names: list[Field],
    required: tuple[bool, ...],
    operator: o.GroupOperator | o.CubeOperator,
) -> ScriptRelation:
    count = len(names)
    plan = Cogroup(
        tuple(source.plan for source in sources),
        tuple(map(tuple, keys)),
        (*(name.name for name in names), *(source.alias for source in sources)),
        required,
        nulls_apart=True,
        position=at(operator),
    )
    parts = tuple(
        Reference(index, key.type, name.name) for index, (key, name) in enumerate(zip(keys[0], names, strict=True))
    )
    key = parts[0] if count == 1 else tuple_of(parts, tuple(names))
    bags = tuple(Field(source.alias, BagType(source.schema.fields)) for source in sources)
    columns = (key, *(Reference(count + index, bag.type, bag.name) for index, bag in enumerate(bags)))
    return ScriptRelation(
        None,
        plan,
        Schema((Field("group", key.type), *bags)),
        frozenset(range(count, count + len(bags))),
        None if count == 1 else columns,
    )


def cubed(source: ScriptRelation, operator: o.CubeOperator, script: ScriptScope) -> ScriptRelation:
    """Each row once for each combination of dimensions, the others null; then a group. A null that was there before is
    the text `unknown`, as in Pig."""
    where = at(operator)
    scope = RowScope.of(source, script)
    fields = source.schema.known("CUBE", where)
    columns = tuple(argument for dimension in operator.dimensions for argument in dimension.columns)
    found, names = arguments_of(columns, scope), names_of(columns, scope)
    if any(not isinstance(each, Reference) for each in found):
        refuse("the dimensions of CUBE are fields. Compute others by a FOREACH before it.", operator)
    dimensions = [_known(each) for each in found]
    used = {each.index for each in found if isinstance(each, Reference)}
    rest = [index for index in range(len(fields)) if index not in used]
    others = tuple(Reference(index, fields[index].type, fields[index].name) for index in rest)
    projections = tuple(
        (
            *(
                value if kept else Cast(Constant(None, NULL), value.type)
                for value, kept in zip(dimensions, kept_, strict=True)
            ),
            *others,
        )
        for kept_ in _combinations(operator, scope)
    )
    all_fields = (
        *(Field(name.name, value.type, name.qualifiers) for name, value in zip(names, dimensions, strict=True)),
        *(fields[index] for index in rest),
    )
    expanded = Expand(source.plan, projections, tuple(field.name for field in all_fields), position=where)
    relation = ScriptRelation("cube", expanded, Schema(all_fields))
    keys: list[Expression] = [
        Reference(index, all_fields[index].type, all_fields[index].name) for index in range(len(names))
    ]
    return _group([relation], [keys], list(all_fields[: len(names)]), (False,), operator)


def _known(value: Expression) -> Expression:
    if value.type == TEXT:
        return build.call(GENERAL, "coalesce", value, Constant("unknown", TEXT))
    if value.type == BYTES:
        return build.call(GENERAL, "coalesce", value, Constant(b"unknown", BYTES))
    return value


def _combinations(operator: o.CubeOperator, scope: RowScope) -> list[tuple[bool, ...]]:
    """Which dimensions each copy of a row keeps."""
    choices: list[list[tuple[bool, ...]]] = []
    for dimension in operator.dimensions:
        width = len(arguments_of(dimension.columns, scope))
        if dimension.rollup:
            choices.append([tuple(index < kept for index in range(width)) for kept in range(width, -1, -1)])
        else:
            choices.append(list(product((True, False), repeat=width)))
    return [tuple(kept for part in parts for kept in part) for parts in product(*choices)]
