"""The meaning of expressions: each compiled to a Python function of a row.

Contract: null in, null out, unless a node says otherwise; a value that cannot be made is null and counted. A node
with lazy parts
(AND, OR, a choice) evaluates, and warns of, only what it needs. Every other node is its `operation` on its children's
values, which columns.py applies, too, where there is no kernel.
"""

from __future__ import annotations

import math
import operator
import traceback
from collections.abc import Callable
from decimal import Decimal, InvalidOperation, Overflow
from types import TracebackType
from typing import Any

from incoop.base.errors import USERS_ERRORS
from incoop.query.casts import caster
from incoop.query.errors import Overflowed, UserFunctionFailed
from incoop.query.expressions import bag_nodes, nodes
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.flatten import flattened
from incoop.query.expressions.nodes import Expression
from incoop.query.numbers import DECIMALS, canonical_decimal, fits, single, wrapped
from incoop.query.order import Direction, encoded_keys, sort_key, unique
from incoop.query.types import DECIMAL, FLOAT, FLOATS, INTEGERS, BagType, MapType, Row, TupleType, Type, Value
from incoop.query.warnings import DIVISION, RANGE, NoValue

#: A row and what else is known to a value.
RowFunction = Callable[[Row, Evaluation], Value]
#: Values of the children to the node's value; the evaluation comes first.
Operation = Callable[..., Value]


def compile_row(expression: Expression) -> RowFunction:
    """A function that evaluates an expression on a row."""
    match expression:
        case nodes.Constant(value=value):
            return lambda row, evaluation: value
        case nodes.Reference(index=index):
            return lambda row, evaluation: row[index] if index < len(row) else None
        case nodes.OuterReference(index=index, levels=levels):
            return lambda row, evaluation: _at(evaluation.outer[-levels], index)
        case nodes.Scalar(plan=plan, index=index):
            return lambda row, evaluation: evaluation.scalars[(plan, index)]
        case nodes.And(left=left, right=right):
            return _short_cut(compile_row(left), compile_row(right), False)
        case nodes.Or(left=left, right=right):
            return _short_cut(compile_row(left), compile_row(right), True)
        case nodes.Conditional(
            condition=condition, chosen=chosen, otherwise=otherwise, null_gives_null=null_gives_null
        ):
            return _choice(compile_row(condition), compile_row(chosen), compile_row(otherwise), null_gives_null)
    if expression.inner:
        return _of_bag(expression)
    work = operation(expression)
    parts = [compile_row(child) for child in expression.children]
    if len(parts) == 1:
        (only,) = parts
        return lambda row, evaluation: work(evaluation, only(row, evaluation))
    if len(parts) == 2:
        first, second = parts
        return lambda row, evaluation: work(evaluation, first(row, evaluation), second(row, evaluation))
    return lambda row, evaluation: work(evaluation, *[part(row, evaluation) for part in parts])


def _at(row: Row, index: int) -> Value:
    return row[index] if index < len(row) else None


def _short_cut(left: RowFunction, right: RowFunction, ends: bool) -> RowFunction:
    """AND ends at false, OR at true; of the rest, null wins."""

    def evaluate(row: Row, evaluation: Evaluation) -> Value:
        one = left(row, evaluation)
        if one is ends:
            return ends
        other = right(row, evaluation)
        if other is ends:
            return ends
        return None if one is None or other is None else not ends

    return evaluate


def _choice(condition: RowFunction, chosen: RowFunction, otherwise: RowFunction, null_gives_null: bool) -> RowFunction:
    def evaluate(row: Row, evaluation: Evaluation) -> Value:
        found = condition(row, evaluation)
        if found is None and null_gives_null:
            return None
        return chosen(row, evaluation) if found else otherwise(row, evaluation)

    return evaluate


def _of_bag(expression: Expression) -> RowFunction:
    """A node with inner expressions: they see this row as the one around."""
    assert isinstance(expression, bag_nodes.OfBag)
    bag_of = compile_row(expression.argument)
    inner = [compile_row(each) for each in expression.inner]
    work = _BAG_OPERATIONS[type(expression)](expression, inner)

    def evaluate(row: Row, evaluation: Evaluation) -> Value:
        bag = bag_of(row, evaluation)
        return None if bag is None else work(bag, evaluation.inside(row))

    return evaluate


def _bag_filter(node: Any, inner: list[RowFunction]) -> Callable[[list[Row], Evaluation], Value]:
    (condition,) = inner
    return lambda bag, inside: [row for row in bag if condition(row, inside)]


def _bag_sort(node: Any, inner: list[RowFunction]) -> Callable[[list[Row], Evaluation], Value]:
    directions: tuple[Direction, ...] = node.directions
    return lambda bag, inside: sorted(
        bag, key=lambda row: encoded_keys([key(row, inside) for key in inner], directions)
    )


def _bag_rows(node: Any, inner: list[RowFunction]) -> Callable[[list[Row], Evaluation], Value]:
    types = [each.type for each in node.results]
    return lambda bag, inside: [
        new for row in bag for new in flattened([each(row, inside) for each in inner], node.flatten, types)
    ]


def _bag_aggregate(node: Any, inner: list[RowFunction]) -> Callable[[list[Row], Evaluation], Value]:
    aggregate = node.aggregate

    def work(bag: list[Row], inside: Evaluation) -> Value:
        state = aggregate.initial()
        for row in bag:
            state = aggregate.add(state, tuple([each(row, inside) for each in inner]))
        return aggregate.finish(state)

    return work


_BAG_OPERATIONS: dict[type, Callable[[Any, list[RowFunction]], Callable[[list[Row], Evaluation], Value]]] = {
    bag_nodes.BagFilter: _bag_filter,
    bag_nodes.BagSort: _bag_sort,
    bag_nodes.BagRows: _bag_rows,
    bag_nodes.BagAggregate: _bag_aggregate,
}


def operation(node: Expression) -> Operation:
    """What a node without lazy or inner parts makes of its children's values."""
    match node:
        case nodes.Arithmetic(left=left):
            return _strict(_arithmetic(node, left.type), True)
        case nodes.Negation():
            return _strict(_negation(node), True)
        case nodes.Comparison(operator=sign, left=left):
            return _comparison(sign, left.type)
        case nodes.Cast(argument=argument, target=target):
            change = caster(argument.type, target)
            return _with_evaluation(lambda evaluation, value: change(value, evaluation.warnings))
        case nodes.Not():
            return lambda _, value: None if value is None else not value
        case nodes.IsNull():
            return lambda _, value: value is None
        case nodes.IsIn():
            return _is_in
        case nodes.TupleField(index=index):
            return _strict(lambda value: _at(value, index))
        case nodes.MapValue():
            return _strict(lambda value, key: value.get(key))
        case bag_nodes.BagColumns(indexes=indexes):
            return _strict(lambda bag: [tuple(_at(row, index) for index in indexes) for row in bag])
        case bag_nodes.BagLimit(count=count):
            return _strict(lambda bag: bag[:count])
        case bag_nodes.BagDistinct():
            return _strict(unique)
        case bag_nodes.BagAggregate(aggregate=aggregate):  # of whole rows: it has no inner expressions
            return _strict(_bag_aggregate_of_rows(aggregate))
        case nodes.Call(function=function):
            if function.takes_nulls:
                return lambda evaluation, *values: function.row(*values)
            return _strict(function.row, function.may_fail)
        case nodes.UserCall():
            return _user_call(node)
    raise TypeError(f"no expression: {node!r}")


def _bag_aggregate_of_rows(aggregate: Any) -> Callable[[list[Row]], Value]:
    def work(bag: list[Row]) -> Value:
        state = aggregate.initial()
        for _ in bag:
            state = aggregate.add(state, ())
        return aggregate.finish(state)

    return work


def _strict(function: Callable[..., Value], may_fail: bool = False) -> Operation:
    """Null where an argument is null."""
    if may_fail:
        return _with_evaluation(lambda _, *values: function(*values))

    def work(_: Evaluation, *values: Value) -> Value:
        for value in values:
            if value is None:
                return None
        return function(*values)

    return work


def _with_evaluation(function: Callable[..., Value]) -> Operation:
    """Null where an argument is null, and where there is no value: that is counted."""

    def work(evaluation: Evaluation, *values: Value) -> Value:
        for value in values:
            if value is None:
                return None
        try:
            return function(evaluation, *values)
        except NoValue as trouble:
            evaluation.warnings.count(trouble.kind)
            return None

    return work


def _whole_quotient(one: int, other: int) -> int:
    """Cut off towards zero."""
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


def _float_remainder(one: float, other: float) -> float:
    return math.nan if math.isinf(one) else math.fmod(one, other)


_PLAIN: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _worker(sign: str, kind: Type) -> Callable[[Any, Any], Any]:
    """What a sign does to numbers of a type, in all the digits that Python has."""
    if kind == DECIMAL:
        names = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder"}
        found: Callable[[Any, Any], Any] = getattr(DECIMALS, names[sign])
        return found
    if sign in _PLAIN:
        return _PLAIN[sign]
    if kind in INTEGERS:
        return _whole_quotient if sign == "/" else lambda one, other: one - other * _whole_quotient(one, other)
    return operator.truediv if sign == "/" else _float_remainder


def _arithmetic(node: nodes.Arithmetic, kind: Type) -> Callable[[Any, Any], Any]:
    sign = node.operator
    work = _worker(sign, kind)
    divides = sign in "/%"

    def compute(one: Any, other: Any) -> Any:
        if divides and other == 0:
            raise NoValue(DIVISION)
        if kind == DECIMAL:
            return _decimal(work, one, other)
        found = work(one, other)
        if kind in INTEGERS:
            if node.checked and not fits(found, kind):
                raise Overflowed(sign, (str(one), str(other)), str(kind), node.position)
            return wrapped(found, kind)
        return single(found) if kind == FLOAT else found

    return compute


def _decimal(work: Callable[..., Decimal], *values: Decimal) -> Decimal:
    try:
        return canonical_decimal(work(*values))
    except (InvalidOperation, Overflow):
        raise NoValue(RANGE) from None


def _negation(node: nodes.Negation) -> Callable[[Any], Any]:
    kind = node.type

    def compute(value: Any) -> Any:
        if kind in INTEGERS:
            if node.checked and not fits(-value, kind):
                raise Overflowed("-", ("", str(value)), str(kind), node.position)
            return wrapped(-value, kind)
        return canonical_decimal(value.copy_negate()) if kind == DECIMAL else -value

    return compute


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _comparison(sign: str, kind: Type) -> Operation:
    compare = _SIGNS[sign]
    if kind in FLOATS or isinstance(kind, TupleType | BagType | MapType):
        return _strict(lambda one, other: compare(sort_key(one), sort_key(other)))
    return _strict(compare)


def _is_in(_: Evaluation, value: Value, *options: Value) -> Value:
    if value is None:
        return None
    key = sort_key(value)
    if any(option is not None and sort_key(option) == key for option in options):
        return True
    return None if None in options else False


def _user_call(node: nodes.UserCall) -> Operation:
    def work(_: Evaluation, *values: Value) -> Value:
        try:
            return node.function(*values)
        except USERS_ERRORS as error:
            trace = "".join(traceback.format_exception(type(error), error, _of_the_users(error), limit=-5))
            raise UserFunctionFailed(node.name, repr(values)[:500], trace, node.position) from error

    return work


#: Where our own code is.
_OURS = __file__.rpartition("query")[0]


def _of_the_users(error: BaseException) -> TracebackType | None:
    """The traceback from the first line that is not ours."""
    found = error.__traceback__
    while found is not None and found.tb_frame.f_code.co_filename.startswith(_OURS):
        found = found.tb_next
    return found
