"""Pig's functions over a bag that are aggregates: COUNT, SUM and the like.

Contract: a call becomes a BagAggregate of the bag, or of columns of it, which the rule `aggregate_groups` finds: then
no bag is made of a group. A bag of bytes is read as doubles. SUM of integers is a long that wraps around, of floats a
double; AVG is a double; MIN and MAX have the type of what they look at.
"""

from __future__ import annotations

from incoop.fronts.pig.functions.request import Request
from incoop.query.expressions import build
from incoop.query.expressions.bag_nodes import BagAggregate
from incoop.query.expressions.nodes import Expression, Reference
from incoop.query.functions import GENERAL
from incoop.query.functions.aggregates import Count, CountRows, Largest
from incoop.query.functions.function import AggregateRule
from incoop.query.order import Direction
from incoop.query.types import BYTES, DATETIME, DECIMAL, DOUBLE, FLOATS, INTEGERS, NULL, TEXT, BagType, Type

#: Of what types there is a least and a greatest value in Pig.
_ORDERED: tuple[Type, ...] = (*INTEGERS, *FLOATS, DECIMAL, TEXT, DATETIME)


def _extreme(name: str) -> AggregateRule:
    def rule(types: tuple[Type, ...]):  # type: ignore[no-untyped-def]
        kind = DOUBLE if types in ((BYTES,), (NULL,)) else types[0] if len(types) == 1 else None
        return None if kind not in _ORDERED else GENERAL.aggregates[name]((kind,))

    return rule


#: By name; what they take is the first field of a bag's rows, COUNT_STAR nothing.
AGGREGATES: dict[str, AggregateRule] = {
    "COUNT": lambda types: (Count(), types) if len(types) == 1 else None,
    "COUNT_STAR": lambda types: (CountRows(), types),
    "SUM": GENERAL.aggregates["sum"],
    "AVG": GENERAL.aggregates["avg"],
    "MIN": _extreme("min"),
    "MAX": _extreme("max"),
}


def bag_of(request: Request, at: int) -> Expression:
    """An argument that has to be a bag; bytes are read as one."""
    found = request.arguments[at]
    if found.type in (BYTES, NULL):
        return build.cast(found, BagType(), request.position)
    if not isinstance(found.type, BagType):
        raise request.mismatch("a bag, such as a group's")
    return found


def aggregate(request: Request) -> Expression:
    """A call of one of the AGGREGATES."""
    if len(request.arguments) != 1:
        raise request.mismatch("one bag")
    bag = bag_of(request, 0)
    assert isinstance(bag.type, BagType)
    fields = bag.type.fields
    if request.name == "COUNT_STAR":
        return BagAggregate(bag, CountRows(), (), position=request.position)
    if fields is not None and len(fields) > 1 and request.name != "COUNT":
        raise request.mismatch("a bag of one column: write bag.column")
    kind = BYTES if not fields else fields[0].type
    found = AGGREGATES[request.name]((kind,))
    if found is None:
        raise request.mismatch(
            "a bag of numbers" if request.name in ("SUM", "AVG") else "a bag of values with an order"
        )
    made, (wanted,) = found
    value = build.cast(Reference(0, kind, position=request.position), wanted)
    return BagAggregate(bag, made, (value,), position=request.position)


def top(request: Request) -> Expression | None:
    """TOP(n, column, bag) where the script says n and the column: an aggregate, too. The largest first; with
    `DEFINE x TOP('ASC')` the smallest. None where n or the column are computed.
    """
    if len(request.arguments) != 3:
        raise request.mismatch("how many, the number of a column, and a bag")
    count, column = request.whole(0), request.whole(1)
    bag = bag_of(request, 2)
    assert isinstance(bag.type, BagType)
    fields = bag.type.fields
    if count is None or column is None or fields is None or column < 0 or count < 0:
        return None
    if column >= len(fields):
        raise request.mismatch(f"a column that the bag has: there are {len(fields)}, numbered from 0")
    made = Largest(count, (Direction(top_descends(request)),), fields)
    every = tuple(Reference(at, each.type, each.name) for at, each in enumerate(fields))
    return BagAggregate(bag, made, (every[column], *every), position=request.position)


def top_descends(request: Request) -> bool:
    """Whether TOP takes the largest."""
    return not (request.constructor and request.constructor[0].upper() == "ASC")
