"""Expressions of a script to expressions of a plan, by Pig's rules.

Contract: a field without a type takes that of the other operand; what cannot be is an error at the term's own place.
Where Pig's syntax has one form for several things (a name, `a.b`), what it is comes from the scope.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, cast

from incoop.fronts.pig.errors import PigPosition, at, refuse
from incoop.fronts.pig.functions import matches
from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.translation.calls import call, name_of_call
from incoop.fronts.pig.translation.made import bag_of, parts_of, tuple_of
from incoop.fronts.pig.translation.scope import RowScope, ScriptRelation, from_inside
from incoop.fronts.pig.types import type_of
from incoop.query.errors import BadPlan, TypeMismatch, UnknownField, nearest
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagColumns
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import (
    And,
    Constant,
    Expression,
    IsNull,
    MapValue,
    Negation,
    Not,
    Or,
    OuterReference,
    Reference,
    Scalar,
    TupleField,
)
from incoop.query.expressions.rows import compile_row
from incoop.query.expressions.walk import every
from incoop.query.functions import GENERAL
from incoop.query.numbers import canonical_decimal, fits, read_single
from incoop.query.schema import Schema
from incoop.query.types import (
    BOOLEAN,
    BYTES,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    NUMBERS,
    TEXT,
    BagType,
    Field,
    MapType,
    TupleType,
    Type,
)
from incoop.query.warnings import NoValue

_SIGNS = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_Sign = Literal["=", "!=", "<", "<=", ">", ">="]


def expression(term: t.Term, scope: RowScope) -> Expression:
    """What a term computes from a row."""
    where = at(term)
    match term:
        case t.LiteralTerm():
            return _literal(term, where)
        case t.NameTerm(name):
            return _name(name, scope, where)
        case t.IndexTerm(index):
            return _index(index, scope, where)
        case t.FieldsTerm():
            return _fields(term, scope, where)
        case t.LookupTerm(source, key):
            looked_up = expression(source, scope)
            if looked_up.type in (BYTES, NULL):
                looked_up = build.cast(looked_up, MapType(), where)
            return MapValue(looked_up, Constant(key, NULL if key is None else TEXT), position=where)
        case t.CallTerm(name, arguments):
            names = tuple("::".join(field.path) or None for field in names_of(arguments, scope))
            return call(name, tuple(arguments_of(arguments, scope)), names, scope, where)
        case t.CastTerm(written, operand):
            return build.cast(expression(operand, scope), type_of(written), where)
        case t.NegativeTerm(operand):
            return _negative(operand, scope, where)
        case t.ArithmeticTerm(operator, left, right):
            sign = cast('Literal["+", "-", "*", "/", "%"]', operator)
            return build.arithmetic(sign, expression(left, scope), expression(right, scope), position=where)
        case t.ComparisonTerm(operator, left, right):
            one, other = expression(left, scope), expression(right, scope)
            if operator == "matches":
                return matches(one, other, position=where)
            return build.compare(cast(_Sign, _SIGNS[operator]), one, other, where)
        case t.LogicTerm(operator, operands):
            return _logic(operator, [condition(each, scope) for each in operands], where)
        case t.NotTerm(operand):
            return Not(condition(operand, scope), position=where)
        case t.NullTestTerm(operand, negated):
            test = IsNull(expression(operand, scope), position=where)
            return Not(test, position=where) if negated else test
        case t.MembershipTerm(operand, choices):
            return build.is_in(expression(operand, scope), [expression(each, scope) for each in choices], where)
        case t.BincondTerm(test_term, chosen, otherwise):
            return build.choose(
                *(condition(test_term, scope), expression(chosen, scope), expression(otherwise, scope)),
                null_gives_null=True,
                position=where,
            )
        case t.CaseTerm():
            return _case(term, scope, where)
        case t.TupleTerm(items):
            return tuple_of(tuple(arguments_of(items, scope)), tuple(names_of(items, scope)))
        case t.BagTerm(items):
            return bag_of(tuple(arguments_of(items, scope)))
        case t.MapTerm(entries):
            parts = [
                part
                for entry in entries
                for part in (Constant(entry.key, TEXT, position=at(entry)), expression(entry.value, scope))
            ]
            return build.call(GENERAL, "make_map", *parts, position=where)


def condition(term: t.Term, scope: RowScope) -> Expression:
    """A term where something is true or not; bytes are read as `true` and `false`."""
    found = expression(term, scope)
    return build.cast(found, BOOLEAN) if found.type == BYTES else found


def arguments_of(arguments: tuple[t.Argument, ...], scope: RowScope) -> list[Expression]:
    """Arguments, keys or items: `*` and ranges are all the fields that they stand for."""
    found: list[Expression] = []
    for each in arguments:
        if isinstance(each, t.StarTerm | t.RangeTerm):
            found += [scope.reference(index, at(each)) for index in places_of(each, scope)]
        else:
            found.append(expression(each, scope))
    return found


def names_of(arguments: tuple[t.Argument, ...], scope: RowScope) -> list[Field]:
    """Names of the same, as fields whose types do not matter."""
    found: list[Field] = []
    for each in arguments:
        if isinstance(each, t.StarTerm | t.RangeTerm):
            found += [scope.field(index) for index in places_of(each, scope)]
        else:
            found.append(name_of(each, scope))
    return found


def places_of(term: t.StarTerm | t.RangeTerm, scope: RowScope) -> range:
    """The places of the row's fields that `*` or a range stands for."""
    where = at(term)
    if isinstance(term, t.StarTerm):
        return range(len(scope.schema.known("'*'", where)))
    first = 0 if term.first is None else _place(term.first, scope)
    if term.last is None:
        last = len(scope.schema.known("a range without an end", where)) - 1
    else:
        last = _place(term.last, scope)
    if last < first:
        raise BadPlan("this range ends before it begins. Write the first column first.", where)
    return range(first, last + 1)


def _place(column: t.ColumnTerm, scope: RowScope) -> int:
    if isinstance(column, t.NameTerm):
        return scope.place_of(column.name, at(column))
    width = scope.schema.width
    if width is not None and column.index >= width:
        raise BadPlan(f"there is no field ${column.index} here: rows have {width} fields, {scope.schema}.", at(column))
    return column.index


def name_of(term: t.Term, scope: RowScope) -> Field:
    """The name that a generated field has if none is given: that of the field that it is."""
    match term:
        case t.NameTerm(name):
            if name in scope.nested or not scope.has(name):
                return Field(name, BYTES)
            return scope.field(scope.place_of(name, at(term)))
        case t.IndexTerm(index):
            return scope.field(index)
        case t.CastTerm(_, operand):
            return name_of(operand, scope)
        case t.CallTerm(function):
            return Field(name_of_call(function, scope), BYTES)
        case t.FieldsTerm(source, (column,)) if not _is_relation(source, scope):
            found = expression(source, scope).type
            if isinstance(found, TupleType) and found.fields is not None:
                return found.fields[_column(column, found.fields, found)]
    return Field(None, BYTES)


def constant_value(term: t.Term, scope: RowScope, what: str) -> Any:
    """The value of a term without fields; None where it has a scalar, whose value is known only later."""
    found = expression(term, scope)
    if any(isinstance(node, Scalar) for node in every(found)):
        return None
    if any(isinstance(node, Reference | OuterReference) for node in every(found)):
        refuse(f"{what} is a constant, or a value of a relation with one row (rel.field), not a field.", term)
    return compile_row(found)((), Evaluation())


# ---- values


def _literal(term: t.LiteralTerm, where: PigPosition) -> Constant:
    kind, value = term.kind, term.value
    types: dict[t.LiteralKind, Type] = {
        t.LiteralKind.INT: INT,
        t.LiteralKind.LONG: LONG,
        t.LiteralKind.CHARARRAY: TEXT,
        t.LiteralKind.BOOLEAN: BOOLEAN,
        t.LiteralKind.NULL: NULL,
    }
    if kind in types:
        if kind in (t.LiteralKind.INT, t.LiteralKind.LONG) and not fits(cast("int", value), types[kind]):
            bigger = "L behind it makes it a long" if kind == t.LiteralKind.INT else "BI behind it makes it a big one"
            raise BadPlan(f"{value} is too large for type {types[kind]}. {bigger}.", where)
        return Constant(value, types[kind], position=where)
    if kind == t.LiteralKind.FLOAT:
        return Constant(read_single(str(value)), FLOAT, position=where)
    if kind == t.LiteralKind.DOUBLE:
        return Constant(float(cast("Decimal", value)), DOUBLE, position=where)
    try:
        return Constant(canonical_decimal(Decimal(str(value))), DECIMAL, position=where)
    except NoValue:
        raise BadPlan(f"{value} has more than 38 digits. Write fewer.", where) from None


def _negative(operand: t.Term, scope: RowScope, where: PigPosition) -> Expression:
    if isinstance(operand, t.LiteralTerm) and isinstance(operand.value, int | Decimal) and operand.value is not True:
        return _literal(t.LiteralTerm(operand.kind, -operand.value, place=operand.place), where)
    found = expression(operand, scope)
    return Negation(build.cast(found, DOUBLE) if found.type in (BYTES, NULL) else found, position=where)


def _logic(operator: str, operands: list[Expression], where: PigPosition) -> Expression:
    node = And if operator == "and" else Or
    whole = operands[0]
    for each in operands[1:]:
        whole = node(whole, each, position=where)
    return whole


def _case(term: t.CaseTerm, scope: RowScope, where: PigPosition) -> Expression:
    """As Pig has it, a chain of choices: where a condition is null, so is the result."""
    result: Expression = Constant(None, NULL, position=where)
    if term.otherwise is not None:
        result = expression(term.otherwise, scope)
    for branch in reversed(term.branches):
        if term.subject is None:
            test = condition(branch.condition, scope)
        else:
            test = build.compare("=", expression(term.subject, scope), expression(branch.condition, scope), at(branch))
        result = build.choose(test, expression(branch.chosen, scope), result, null_gives_null=True, position=at(branch))
    return result


# ---- names


def _name(name: str, scope: RowScope, where: PigPosition) -> Expression:
    around: RowScope | None = scope
    levels = 0
    while around is not None:
        found: Expression | None = around.nested.get(name)
        if found is None and around.has(name):
            found = around.reference(around.place_of(name, where), where)
        if found is not None:
            for _ in range(levels):
                found = from_inside(found)
            return found
        around, levels = around.outer, levels + 1
    if name in scope.script.relations:
        raise BadPlan(
            f"{name} is a relation, and no field here. Write {name}.field for the value of its only row, or JOIN it.",
            where,
        )
    if scope.schema.fields is not None:
        known = tuple("::".join(field.path) for field in scope.schema.fields if field.name)
        raise UnknownField(name, (*scope.nested, *known), where)
    return scope.reference(scope.place_of(name, where), where)


def _index(index: int, scope: RowScope, where: PigPosition) -> Expression:
    return scope.reference(_place(t.IndexTerm(index, place=where.place), scope), where)


def _is_relation(source: t.Term, scope: RowScope) -> bool:
    """Whether `source.column` is a scalar: no field is called so, but a relation is."""
    if not isinstance(source, t.NameTerm):
        return False
    around: RowScope | None = scope
    while around is not None:
        if source.name in around.nested or around.has(source.name):
            return False
        around = around.outer
    return source.name in scope.script.relations


def _fields(term: t.FieldsTerm, scope: RowScope, where: PigPosition) -> Expression:
    """`source.column`: of a tuple, of a bag's rows, or of the only row of a relation."""
    if _is_relation(term.source, scope):
        assert isinstance(term.source, t.NameTerm)
        relation = scope.script.relations[term.source.name]
        scalars = tuple(_scalar(relation, column) for column in term.columns)
        if len(scalars) == 1:
            return scalars[0]
        fields = tuple(relation.schema.fields[each.index] for each in scalars) if relation.schema.fields else None
        return tuple_of(scalars, fields or tuple(Field(None, BYTES) for _ in scalars))
    source = expression(term.source, scope)
    kind = source.type
    if isinstance(kind, BagType):
        return BagColumns(source, tuple(_column(each, kind.fields, kind) for each in term.columns), position=where)
    if not isinstance(kind, TupleType):
        raise TypeMismatch("'.'", (str(kind),), "a tuple, a bag, or a relation with one row", where)
    places = tuple(_column(each, kind.fields, kind) for each in term.columns)
    parts = tuple(tuple_field(source, place, where) for place in places)
    if len(parts) == 1:
        return parts[0]
    return tuple_of(parts, tuple(kind.fields[place] if kind.fields else Field(None, BYTES) for place in places))


def tuple_field(source: Expression, index: int, where: PigPosition | None = None) -> Expression:
    """A field of a tuple; of one that is written right there, what it is made of."""
    parts = parts_of(source)
    if parts is not None and index < len(parts):
        return parts[index]
    return TupleField(source, index, position=where)


def _column(column: t.ColumnTerm, fields: tuple[Field, ...] | None, kind: Type) -> int:
    if isinstance(column, t.IndexTerm):
        if fields is not None and column.index >= len(fields):
            raise BadPlan(f"there is no field ${column.index} in {kind}.", at(column))
        return column.index
    if fields is None:
        refuse(f"the fields of this {kind} are not known, so none is called {column.name!r}. Write $0, $1, …", column)
    return Schema(fields).find(column.name, at(column))


def _scalar(relation: ScriptRelation, column: t.ColumnTerm) -> Scalar:
    scope_fields = relation.schema.fields
    if isinstance(column, t.NameTerm):
        if scope_fields is None:
            refuse(f"the fields of {relation.alias} are not known{nearest(column.name, ())} Write $0, $1, …", column)
        index = relation.schema.find(column.name, at(column))
    else:
        index = column.index
        if scope_fields is not None and index >= len(scope_fields):
            raise BadPlan(f"there is no field ${index} in {relation.alias}.", at(column))
    kind = BYTES if scope_fields is None else scope_fields[index].type
    return Scalar(relation.whole().plan, index, kind, position=at(column))


def number(found: Expression, where: PigPosition) -> Expression:
    """A value that is to be a number; bytes are read as a double."""
    if found.type in (BYTES, NULL):
        return build.cast(found, DOUBLE)
    if found.type not in NUMBERS:
        raise TypeMismatch("a number here", (str(found.type),), "a number", where)
    return found
