"""JOIN, UNION and CROSS.

Contract: fields of a join or cross are called `relation::field`. A key that is null joins nothing. What a hint asks for
changes no result.
"""

from __future__ import annotations

from functools import reduce

from incoop.fronts.pig.errors import PigPosition, at
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.translation.groups import same_keys
from incoop.fronts.pig.translation.scope import RowScope, ScriptRelation, ScriptScope
from incoop.fronts.pig.translation.terms import arguments_of
from incoop.query.errors import BadPlan, TypeMismatch
from incoop.query.expressions.nodes import Cast, Constant, Expression, Reference
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cross, Join, JoinKind, Union
from incoop.query.plan.single import Project
from incoop.query.schema import Schema
from incoop.query.types import NULL, BagType, Field, MapType, TupleType, Type, common_type, same_shape


def joined(sources: list[ScriptRelation], operator: o.JoinOperator, script: ScriptScope) -> ScriptRelation:
    keys = [
        arguments_of(given.keys, RowScope.of(source, script))
        for source, given in zip(sources, operator.inputs, strict=True)
    ]
    keys = same_keys("JOIN", keys, operator)
    kind: JoinKind = operator.kind.value
    plan = sources[0].plan
    for source, its in zip(sources[1:], keys[1:], strict=True):
        plan = Join(plan, source.plan, tuple(keys[0]), tuple(its), kind, hint=operator.hint, position=at(operator))
    return _beside(sources, plan, inner=kind == "inner")


def crossed(sources: list[ScriptRelation], operator: o.CrossOperator) -> ScriptRelation:
    plan = reduce(lambda one, other: Cross(one, other, position=at(operator)), (each.plan for each in sources))
    return _beside(sources, plan, inner=True)


def _beside(sources: list[ScriptRelation], plan: Plan, inner: bool) -> ScriptRelation:
    """A relation whose rows are rows of all sources side by side."""
    schema, bags, known = Schema(()), set[int](), True
    for source in sources:
        if inner and known and schema.width is not None:
            bags |= {schema.width + index for index in source.bags}
        schema += source.schema.qualified(source.alias) if source.alias else source.schema
        known = schema.fields is not None
    return ScriptRelation(None, plan, schema, frozenset(bags))


def united(sources: list[ScriptRelation], operator: o.UnionOperator, script: ScriptScope) -> ScriptRelation:
    where = at(operator)
    if operator.onschema:
        return _united_by_name(sources, where)
    widths = {source.schema.width for source in sources}
    if len(widths) > 1:
        counts = sorted(width for width in widths if width is not None)
        shown = " and ".join([*map(str, counts), *(["an unknown number of"] if None in widths else [])])
        script.note(
            f"inputs of the UNION at {operator.place} have {shown} fields: rows keep their own, and no field has a "
            "name from there on. UNION ONSCHEMA matches them by name."
        )
    if len(widths) > 1 or None in widths:
        return ScriptRelation(None, Union(tuple(source.plan for source in sources), position=where), Schema(None))
    columns = zip(*(each.schema.fields or () for each in sources), strict=True)
    fields = tuple(_merged(list(column), where) for column in columns)
    places = tuple(range(len(fields)))
    plans = tuple(_fitted(source, fields, places, where) for source in sources)
    return ScriptRelation(None, Union(plans, position=where), Schema(fields))


def _united_by_name(sources: list[ScriptRelation], where: PigPosition) -> ScriptRelation:
    """Columns of one name are one; those that are new stand at the end, and are null where they are not."""
    columns: list[list[Field]] = []
    places: list[list[int | None]] = [[] for _ in sources]
    for number, source in enumerate(sources):
        fields = source.schema.known("UNION ONSCHEMA", where)
        for index, field in enumerate(fields):
            if field.name is None:
                raise BadPlan(
                    f"field ${index} of {source.alias or 'an input'} has no name, which UNION ONSCHEMA goes by. "
                    "Give it one with AS.",
                    where,
                )
            found = next((at_ for at_, column in enumerate(columns) if _one_name(column[0], field)), None)
            if found is None:
                found = len(columns)
                columns.append([])
                for each in places:
                    each.append(None)
            if places[number][found] is not None:
                raise BadPlan(f"two fields of {source.alias or 'an input'} are called {field.name}. Rename one.", where)
            columns[found].append(field)
            places[number][found] = index
    fields = tuple(_merged(column, where) for column in columns)
    plans = tuple(_fitted(source, fields, tuple(its), where) for source, its in zip(sources, places, strict=True))
    return ScriptRelation(None, Union(plans, position=where), Schema(fields))


def _one_name(one: Field, other: Field) -> bool:
    """Whether names are the same, or one is the end of the other."""
    length = min(len(one.path), len(other.path))
    return one.path[-length:] == other.path[-length:]


def _merged(column: list[Field], where: PigPosition) -> Field:
    """A field for fields of all inputs: the shortest name, and the type that all of them come to."""
    shortest = min(column, key=lambda field: len(field.path) or 99)
    kind: Type = column[0].type
    for field in column[1:]:
        wider = _common(kind, field.type)
        if wider is None:
            raise TypeMismatch("UNION", (str(column[0]), str(field)), "fields of one type at each place", where)
        kind = wider
    return Field(shortest.name, kind, shortest.qualifiers)


def _common(one: Type, other: Type) -> Type | None:
    """Tuples, bags and maps that differ inside come to one of which nothing is known inside."""
    if same_shape(one, other):
        return common_type(one, other)
    if isinstance(one, TupleType | BagType | MapType) and type(one) is type(other):
        return type(one)(None)
    return common_type(one, other)


def _fitted(
    source: ScriptRelation, fields: tuple[Field, ...], places: tuple[int | None, ...], where: PigPosition
) -> Plan:
    """The plan of an input, its fields at their places and of their types."""
    known = source.schema.fields or ()
    results: list[Expression] = []
    for field, place in zip(fields, places, strict=True):
        if place is None:
            results.append(Cast(Constant(None, NULL), field.type))
            continue
        own = known[place]
        value: Expression = Reference(place, own.type, own.name)
        if own.type == NULL or not same_shape(own.type, field.type):
            value = Cast(value, field.type)
        results.append(value)
    if len(known) == len(fields) and all(
        isinstance(each, Reference) and each.index == index for index, each in enumerate(results)
    ):
        return source.plan
    return Project(source.plan, tuple(results), tuple(field.name for field in fields), position=where)
