"""What GENERATE makes of a row: results, which of them are taken apart, and the fields of the new rows.

Contract: a field keeps its name; one of a bag or tuple that is taken apart is called `bag::field`. AS gives names and,
where it says them, types: what does not fit them is cast. A bag or a map that may be null gives a row of nulls, an
empty one none.
"""

from __future__ import annotations

from dataclasses import dataclass

from incoop.fronts.pig.errors import at, refuse
from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.translation.made import parts_of, row_of_nulls
from incoop.fronts.pig.translation.scope import RowScope
from incoop.fronts.pig.translation.terms import arguments_of, expression, name_of, names_of, tuple_field
from incoop.fronts.pig.types import field_of, fields_of
from incoop.query.errors import BadPlan, TypeMismatch
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import Flatten, OfBag
from incoop.query.expressions.nodes import Expression, Reference, TupleField
from incoop.query.schema import Schema
from incoop.query.types import BYTES, NULL, TEXT, BagType, Field, MapType, TupleType, same_shape


@dataclass
class Generated:
    """Results of a row."""

    results: list[Expression]
    flatten: list[Flatten]
    #: Fields that each result becomes; None where nobody knows.
    fields: list[tuple[Field, ...] | None]

    @property
    def schema(self) -> Schema:
        found: list[Field] = []
        for each in self.fields:
            if each is None:
                return Schema(None)
            found += each
        return Schema(tuple(found))

    @property
    def names(self) -> tuple[tuple[str | None, ...], ...]:
        return tuple(tuple(field.name for field in each or ()) for each in self.fields)

    def add(self, result: Expression, field: Field) -> None:
        if result.type == NULL:
            result = build.cast(result, BYTES)
        self.results.append(result)
        self.flatten.append("no")
        self.fields.append((Field(field.name, result.type, field.qualifiers),))


def generated(items: tuple[o.GenerateItem, ...], scope: RowScope) -> Generated:
    """The results of all items."""
    found = Generated([], [], [])
    for item in items:
        if isinstance(item.term, t.StarTerm | t.RangeTerm):
            _add_fields(found, item, scope)
        elif item.flatten:
            _add_flattened(found, item, item.term, scope)
        else:
            _add_plain(found, item, item.term, scope)
    return found


def _add_fields(found: Generated, item: o.GenerateItem, scope: RowScope) -> None:
    """`*` and ranges; AS may name the fields one by one."""
    if item.flatten:
        refuse("FLATTEN takes one tuple, bag or map. Write FLATTEN for each of the fields.", item)
    results, names = arguments_of((item.term,), scope), names_of((item.term,), scope)
    declared = item.schema
    if declared is not None and len(declared) != len(results):
        raise BadPlan(f"AS names {len(declared)} of {len(results)} fields. Name each, or none.", at(item))
    for number, (result, name) in enumerate(zip(results, names, strict=True)):
        if declared is None:
            found.add(result, name)
        else:
            found.add(*_as_declared(result, declared[number]))


def _add_plain(found: Generated, item: o.GenerateItem, term: t.Term, scope: RowScope) -> None:
    result = expression(term, scope)
    if item.schema is None:
        found.add(result, name_of(term, scope) if _keeps_name(term) else Field(None, BYTES))
        return
    if len(item.schema) != 1:
        raise BadPlan(f"AS names {len(item.schema)} fields, and this is one. Name one, or FLATTEN it.", at(item))
    found.add(*_as_declared(result, item.schema[0]))


def _keeps_name(term: t.Term) -> bool:
    return isinstance(term, t.NameTerm | t.IndexTerm | t.CastTerm | t.FieldsTerm | t.CallTerm)


def _as_declared(result: Expression, declared: t.FieldDeclaration) -> tuple[Expression, Field]:
    """A value with a declared name and, if one is declared, type."""
    field = field_of(declared)
    if declared.type is None:
        return result, field
    if field.type != result.type:
        result = build.cast(result, field.type, at(declared))
    return result, field


def _add_flattened(found: Generated, item: o.GenerateItem, term: t.Term, scope: RowScope) -> None:
    result = expression(term, scope)
    kind = result.type
    declared = item.schema
    if isinstance(kind, BagType | TupleType) and declared is not None:
        result = _typed(result, declared, item)
        kind = result.type
    name = name_of(term, scope) if _keeps_name(term) else Field(None, BYTES)
    if isinstance(kind, TupleType) and kind.fields is not None and _is_cheap(result):
        fields = _renamed(kind.fields, name, declared)
        for index, field in enumerate(fields):
            found.add(tuple_field(result, index, at(item)), field)
        return
    if isinstance(kind, MapType):
        pair = (Field("key", TEXT), Field("value", kind.value or BYTES))
        _add_taken_apart(found, result, _renamed(pair, name, declared))
    elif isinstance(kind, BagType | TupleType):
        if isinstance(kind, BagType) and not _never_null(result, scope):
            result = row_of_nulls(result)
        _add_taken_apart(found, result, None if kind.fields is None else _renamed(kind.fields, name, declared))
    elif declared is None:
        found.add(result, name)
    elif len(declared) == 1:
        found.add(*_as_declared(result, declared[0]))
    else:
        wanted = "a tuple, a bag or a map whose type is known (@outputSchema says that of a function)"
        raise TypeMismatch("FLATTEN", (str(kind),), wanted, at(item))


def _add_taken_apart(found: Generated, result: Expression, fields: tuple[Field, ...] | None) -> None:
    found.results.append(result)
    found.flatten.append("yes")
    found.fields.append(fields)


def _typed(result: Expression, declared: tuple[t.FieldDeclaration, ...], item: o.GenerateItem) -> Expression:
    """A tuple or bag whose fields have the types that are declared; those without keep theirs."""
    kind = result.type
    assert isinstance(kind, TupleType | BagType)
    known = kind.fields
    if known is not None and len(known) != len(declared):
        raise BadPlan(f"AS names {len(declared)} of the {len(known)} fields that this has. Name each.", at(item))
    wanted = tuple(
        field if said.type is not None or known is None else Field(field.name, known[number].type, field.qualifiers)
        for number, (said, field) in enumerate(zip(declared, fields_of(declared), strict=True))
    )
    target = TupleType(wanted) if isinstance(kind, TupleType) else BagType(wanted)
    return result if known is not None and same_shape(kind, target) else build.cast(result, target, at(item))


def _renamed(
    fields: tuple[Field, ...], source: Field, declared: tuple[t.FieldDeclaration, ...] | None
) -> tuple[Field, ...]:
    """Fields as AS calls them, or after what they were taken out of."""
    if declared is not None:
        given = fields_of(declared)
        if len(given) == len(fields):
            return tuple(Field(one.name, its.type, one.qualifiers) for one, its in zip(given, fields, strict=True))
    if source.name is None:
        return fields
    return tuple(
        Field(each.name, each.type, (*source.qualifiers, source.name, *each.qualifiers)) if each.name else each
        for each in fields
    )


def _is_cheap(result: Expression) -> bool:
    """Whether it may be computed once for each of its fields."""
    while isinstance(result, TupleField):
        result = result.argument
    return isinstance(result, Reference) or parts_of(result) is not None


def _never_null(result: Expression, scope: RowScope) -> bool:
    while isinstance(result, OfBag):
        result = result.argument
    return isinstance(result, Reference) and result.index in scope.bags
