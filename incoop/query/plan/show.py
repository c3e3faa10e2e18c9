"""Plans and expressions as people read them: for explain, and for messages."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from incoop.query.expressions import bag_nodes, nodes
from incoop.query.expressions.nodes import Expression
from incoop.query.functions.aggregate import Aggregate
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.schema import Schema
from incoop.query.sources.text_format import Format


def show_plan(plan: Plan) -> str:
    """A plan as a tree, the last step first; what is used again is named by the number of its first line.

    Example:
        >>> from incoop.query.plan.single import Filter, Scan
        >>> from incoop.query.sources.text_lines import TextLines
        >>> from incoop.query.types import TEXT
        >>> IsNull, Reference = nodes.IsNull, nodes.Reference
        >>> print(show_plan(Filter(Scan("t", TextLines(Schema.of(line=TEXT))), IsNull(Reference(0, TEXT, "line")))))
        1 Filter line IS NULL
        2   Scan t as TextLines(line: text)
    """
    lines: list[str] = []
    places: dict[int, int] = {}

    def walk(node: Plan, depth: int) -> None:
        indent = "  " * depth
        if id(node) in places:
            lines.append(f"{indent}as in {places[id(node)]}")
            return
        places[id(node)] = len(lines) + 1
        lines.append(f"{indent}{_title(node)}")
        for child in node.children:
            walk(child, depth + 1)

    walk(plan, 0)
    width = len(str(len(lines)))
    return "\n".join(f"{at:>{width}} {line}" for at, line in enumerate(lines, 1))


def _title(node: Plan) -> str:
    schemas = [child.schema for child in node.children]
    parts = []
    for each in fields(node):
        value = getattr(node, each.name)
        if (
            each.name in ("position", "names", "directions", "_known", "_digest")
            or isinstance(value, Plan)
            or value in (None, False, ())
        ):
            continue
        if isinstance(value, tuple) and any(isinstance(part, Plan) for part in value):
            continue
        shown = _value(value, schemas[0] if schemas else Schema())
        parts.append(each.name if value is True else f"as {shown}" if isinstance(value, Format) else shown)
    directions = getattr(node, "directions", ())
    if any(each.descending for each in directions):
        parts.append("(" + ", ".join("descending" if each.descending else "ascending" for each in directions) + ")")
    return " ".join([type(node).__name__, *parts])


def _value(value: Any, schema: Schema) -> str:
    if isinstance(value, Expression):
        return show(value)
    if isinstance(value, Format):
        return f"{type(value).__name__}{value.schema}"
    if isinstance(value, Aggregation):
        return f"{_aggregate(value.aggregate)}({', '.join(map(show, value.arguments))})"
    if isinstance(value, tuple):
        return f"[{', '.join(_value(part, schema) for part in value)}]"
    return str(value)


def _aggregate(aggregate: Aggregate) -> str:
    said = [
        str(getattr(aggregate, each.name))
        for each in fields(aggregate)
        if isinstance(getattr(aggregate, each.name), int)
    ]
    return type(aggregate).__name__ + (f"<{', '.join(said)}>" if said else "")


def show(expression: Expression) -> str:
    """An expression in the words of a query."""
    match expression:
        case nodes.Constant(value=value):
            return "null" if value is None else repr(value)
        case nodes.Reference(index=index, name=name):
            return name or f"${index}"
        case nodes.OuterReference(index=index, levels=levels):
            return f"{'^' * levels}${index}"
        case nodes.Scalar(index=index):
            return f"(${index} of another plan)"
        case nodes.Cast(argument=argument, target=target):
            return f"({target}) {show(argument)}"
        case (
            nodes.Arithmetic(operator=sign, left=left, right=right)
            | nodes.Comparison(operator=sign, left=left, right=right)
        ):
            return f"({show(left)} {sign} {show(right)})"
        case nodes.And(left=left, right=right):
            return f"({show(left)} AND {show(right)})"
        case nodes.Or(left=left, right=right):
            return f"({show(left)} OR {show(right)})"
        case nodes.Not(argument=argument):
            return f"NOT {show(argument)}"
        case nodes.Negation(argument=argument):
            return f"-{show(argument)}"
        case nodes.IsNull(argument=argument):
            return f"{show(argument)} IS NULL"
        case nodes.Conditional(condition=condition, chosen=chosen, otherwise=otherwise):
            return f"({show(condition)} ? {show(chosen)} : {show(otherwise)})"
        case nodes.IsIn(argument=argument, options=options):
            return f"{show(argument)} IN ({', '.join(map(show, options))})"
        case nodes.TupleField(argument=argument, index=index):
            return f"{show(argument)}.${index}"
        case nodes.MapValue(argument=argument, key=key):
            return f"{show(argument)}#{show(key)}"
        case bag_nodes.BagColumns(argument=argument, indexes=indexes):
            return f"{show(argument)}.({', '.join(f'${each}' for each in indexes)})"
        case bag_nodes.BagAggregate(aggregate=aggregate, argument=argument, values=values):
            return f"{_aggregate(aggregate)}({', '.join(map(show, values))} in {show(argument)})"
        case nodes.Call(function=function, arguments=arguments):
            return f"{function.name}({', '.join(map(show, arguments))})"
        case nodes.UserCall(name=name, arguments=arguments):
            return f"{name}({', '.join(map(show, arguments))})"
    parts = [*map(show, expression.children), *map(show, expression.inner)]
    return f"{type(expression).__name__}({', '.join(parts)})"
