"""The meaning of expressions, on columns.

Contract: for every expression and batch, the values and the tally of warnings are those of rows.py. A node is
evaluated by a kernel where one means the same, else by its row operation on its children's columns, that node alone.
What is lazy is evaluated for the rows that need it, where it could warn or raise.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incoop.query.arrays import of_values, scalar
from incoop.query.expressions import kernels, nodes
from incoop.query.expressions.batches import ColumnBatch, ColumnValues, arrow_type, to_column, to_values
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Expression
from incoop.query.expressions.rows import compile_row, operation
from incoop.query.expressions.walk import may_trouble
from incoop.query.types import BYTES, NULL, Type
from incoop.query.warnings import Warnings


def evaluate(expression: Expression, batch: ColumnBatch, evaluation: Evaluation) -> ColumnValues:
    """The column of an expression's values."""
    return _broadcast(_evaluate(expression, batch, evaluation), expression.type, batch.length)


def selected(condition: Expression, batch: ColumnBatch, evaluation: Evaluation) -> ColumnBatch:
    """The rows where a condition is true."""
    mask = evaluate(condition, batch, evaluation)
    if isinstance(mask, list):
        mask = of_values([value is True for value in mask], pa.bool_())
    return batch.filter(pc.fill_null(mask, scalar(False, pa.bool_())))


def _broadcast(column: Any, kind: Type, length: int) -> ColumnValues:
    if isinstance(column, _Same):
        return to_column([column.value] * length, kind)
    return column


class _Same:
    """A column of equal values."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _evaluate(expression: Expression, batch: ColumnBatch, evaluation: Evaluation) -> Any:
    match expression:
        case nodes.Constant(value=value):
            return _Same(value)
        case nodes.Scalar(plan=plan, index=index):
            return _Same(evaluation.scalars[(plan, index)])
        case nodes.OuterReference(index=index, levels=levels):
            row = evaluation.outer[-levels]
            return _Same(row[index] if index < len(row) else None)
        case nodes.Reference(index=index):
            return batch.columns[index] if index < len(batch.columns) else _Same(None)
        case nodes.And(left=left, right=right):
            return _short_cut(left, right, False, batch, evaluation)
        case nodes.Or(left=left, right=right):
            return _short_cut(left, right, True, batch, evaluation)
        case nodes.Conditional():
            return _choice(expression, batch, evaluation)
    if expression.inner:
        return _by_whole_rows(expression, batch, evaluation)
    columns = [_evaluate(child, batch, evaluation) for child in expression.children]
    kinds = [child.type for child in expression.children]
    if columns and all(isinstance(column, _Same) for column in columns):
        return _once(expression, [column.value for column in columns], batch.length, evaluation)
    found = _by_kernel(expression, columns, kinds, evaluation.warnings)
    if found is not None:
        return found
    work = operation(expression)
    lists = [
        [column.value] * batch.length if isinstance(column, _Same) else to_values(column, kind)
        for column, kind in zip(columns, kinds, strict=True)
    ]
    rows = zip(*lists, strict=True) if lists else [()] * batch.length
    return to_column([work(evaluation, *values) for values in rows], expression.type)


def _once(expression: Expression, values: list[Any], length: int, evaluation: Evaluation) -> Any:
    """A node of equal values is evaluated once, and warns as often as there are rows."""
    if length == 0:
        return _Same(None)
    warnings = Warnings()
    found = operation(expression)(Evaluation(warnings, evaluation.scalars, evaluation.outer), *values)
    for kind, times in warnings.counts.items():
        evaluation.warnings.count(kind, times * length)
    return _Same(found)


def _by_whole_rows(expression: Expression, batch: ColumnBatch, evaluation: Evaluation) -> Any:
    work = compile_row(expression)
    return to_column([work(row, evaluation) for row in batch.to_rows()], expression.type)


def _by_kernel(expression: Expression, columns: list[Any], kinds: list[Type], warnings: Warnings) -> Any:
    """None where there is no kernel that means the same."""
    if isinstance(expression, nodes.IsNull):
        (column,) = columns
        if isinstance(column, list):
            return of_values([value is None for value in column], pa.bool_())
        return pc.is_null(column)
    if any(isinstance(column, list) for column in columns):
        return None
    if isinstance(expression, nodes.IsIn):
        options = columns[1:]
        if isinstance(columns[0], _Same) or not all(isinstance(option, _Same) for option in options):
            return None
        return kernels.is_in(columns[0], [option.value for option in options], kinds[0])
    arrays = [_scalar(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    if any(array is None for array in arrays):
        return None
    match expression:
        case nodes.Arithmetic(operator=sign, checked=checked):
            return kernels.arithmetic(sign, arrays[0], arrays[1], kinds[0], checked, warnings)
        case nodes.Negation(checked=checked):
            return kernels.negation(arrays[0], kinds[0], checked)
        case nodes.Comparison(operator=sign):
            if arrays[0].type != arrays[1].type:
                return None
            return kernels.comparison(sign, arrays[0], arrays[1], kinds[0])
        case nodes.Not():
            return pc.invert(arrays[0])
        case nodes.Cast(argument=argument, target=target):
            return kernels.cast(arrays[0], argument.type, target)
        case nodes.Call(function=function) if function.kernel is not None:
            found = function.kernel(pc, *arrays)
            wanted = arrow_type(expression.type)
            return found if found is None or found.type == wanted else pc.cast(found, wanted)
    return None


def _scalar(column: Any, kind: Type) -> Any:
    """Equal values as a scalar of pyarrow; None where it has no such type."""
    if not isinstance(column, _Same):
        return column
    arrow = arrow_type(kind)
    if arrow is None or (kind == BYTES and type(column.value) not in (bytes, type(None))):
        return None
    return to_column([column.value], kind)[0]


def _truths(column: Any, length: int) -> Any:
    """A column of conditions as an array."""
    if isinstance(column, _Same):
        return of_values([column.value] * length, pa.bool_())
    return of_values(column, pa.bool_()) if isinstance(column, list) else column


def _short_cut(left: Expression, right: Expression, ends: bool, batch: ColumnBatch, evaluation: Evaluation) -> Any:
    one = _truths(_evaluate(left, batch, evaluation), batch.length)
    needed = None
    if may_trouble(right):
        needed = pc.fill_null(pc.not_equal(one, scalar(ends, pa.bool_())), scalar(True, pa.bool_()))
    other = _for_rows(right, needed, batch, evaluation)
    return pc.or_kleene(one, other) if ends else pc.and_kleene(one, other)


def _for_rows(expression: Expression, needed: Any, batch: ColumnBatch, evaluation: Evaluation) -> Any:
    """A condition's column, evaluated only for the rows of a mask; null for the others."""
    if needed is None or pc.all(needed).as_py() is not False:
        return _truths(_evaluate(expression, batch, evaluation), batch.length)
    found = evaluate(expression, batch.filter(needed), evaluation)
    return _spread(_truths(found, 0), needed)


def _spread(column: Any, mask: Any) -> Any:
    """Values of the rows where a mask is true, at their places among all rows."""
    places = pc.subtract(pc.cumulative_sum(pc.cast(mask, pa.int64())), scalar(1, pa.int64()))
    return column.take(pc.if_else(mask, places, scalar(None, pa.int64())))


def _choice(node: nodes.Conditional, batch: ColumnBatch, evaluation: Evaluation) -> Any:
    condition = _truths(_evaluate(node.condition, batch, evaluation), batch.length)
    chosen_rows = pc.fill_null(condition, scalar(False, pa.bool_()))
    other_rows = pc.fill_null(pc.invert(condition), scalar(not node.null_gives_null, pa.bool_()))
    kind = node.type
    chosen = _branch(node.chosen, chosen_rows, kind, batch, evaluation)
    otherwise = _branch(node.otherwise, other_rows, kind, batch, evaluation)
    if isinstance(chosen, list) or isinstance(otherwise, list):
        one, other = to_values(chosen, kind), to_values(otherwise, kind)
        picked = zip(chosen_rows.to_pylist(), other_rows.to_pylist(), one, other, strict=True)
        return [mine if first else its if second else None for first, second, mine, its in picked]
    otherwise = pc.if_else(other_rows, otherwise, scalar(None, otherwise.type)) if node.null_gives_null else otherwise
    return pc.if_else(chosen_rows, chosen, otherwise)


def _branch(expression: Expression, rows: Any, kind: Type, batch: ColumnBatch, evaluation: Evaluation) -> ColumnValues:
    """A side of a choice as a column of the choice's type, right for its rows."""
    if not may_trouble(expression) or pc.all(rows).as_py() is not False:
        found = _evaluate(expression, batch, evaluation)
        return (
            to_column([None] * batch.length, kind) if expression.type == NULL else _broadcast(found, kind, batch.length)
        )
    part = batch.filter(rows)
    found = _broadcast(_evaluate(expression, part, evaluation), kind, part.length)
    if isinstance(found, list):
        values = iter(found)
        return [next(values) if there else None for there in rows.to_pylist()]
    return _spread(found, rows)
