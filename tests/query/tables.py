"""Tables that are large enough for chunks with leaves, questions on them, and the same in SQL."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from incoop.query.expressions import build
from incoop.query.expressions.nodes import Expression
from incoop.query.functions import GENERAL
from incoop.query.order import Direction
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Except, Intersect, Join, Union
from incoop.query.plan.single import (
    AggregateBy,
    DistinctRows,
    Filter,
    Limit,
    Project,
    Rank,
    Scan,
    Sort,
    TopK,
    WindowOver,
)
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import INT, LONG, TEXT

SALES = Scan("sales", DelimitedText(Schema.of(id=LONG, shop=INT, item=TEXT, price=LONG), "|"))
SHOPS = Scan("shops", DelimitedText(Schema.of(shop=INT, city=TEXT), "|"))

#: Sales, so many that they are several chunks of several leaves; and shops.
SOLD, SHOPS_THERE = 12_000, 3_000


def sales(seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [sale(rng, number) for number in range(SOLD)]


def sale(rng: random.Random, number: int) -> str:
    shop = rng.choice(["", *map(str, range(SHOPS_THERE + 50))]) if rng.random() < 0.5 else str(number % 40)
    return f"{number}|{shop}|item-{rng.randrange(4000):04}|{rng.choice(['', *map(str, range(90))])}"


def shops() -> list[str]:
    return [f"{number}|city {number % 37}" for number in range(SHOPS_THERE)]


def field(plan: Plan, name: str | int) -> Expression:
    return build.field(plan.schema, name)


def aggregation(name: str, *arguments: Expression) -> Aggregation:
    return Aggregation(GENERAL.aggregate(name, tuple(each.type for each in arguments))[0], arguments)


def by(plan: Plan, keys: Sequence[str], *found: Aggregation) -> AggregateBy:
    names = (None,) * (len(keys) + len(found))
    return AggregateBy(plan, tuple(field(plan, key) for key in keys), found, names)


def picked(plan: Plan, *names: str | int) -> Project:
    return Project(plan, tuple(field(plan, name) for name in names), (None,) * len(names))


CHEAP = Filter(SALES, build.compare("<", field(SALES, "price"), build.constant(80)))
PRICE, ITEM = field(SALES, "price"), field(SALES, "item")
DOWN = Direction(True)


def joined(kind: Any) -> Join:
    return Join(SALES, SHOPS, (field(SALES, "shop"),), (field(SHOPS, "shop"),), kind)


#: Questions, with the same in SQL: rows are compared as multisets, or where the question has an order as lists.
QUESTIONS: dict[str, tuple[Plan, str]] = {
    "count": (
        by(CHEAP, ["shop"], aggregation("count_rows")),
        "select shop, count(*) from sales where price < 80 group by 1",
    ),
    "sums": (
        by(
            *(SALES, ["item"], aggregation("count", PRICE), aggregation("sum", PRICE), aggregation("min", PRICE)),
            *(aggregation("max", PRICE), aggregation("count_distinct", field(SALES, "shop"))),
        ),
        "select item, count(price), sum(price)::bigint, min(price), max(price), count(distinct shop) from sales "
        "group by 1",
    ),
    "all": (
        by(SALES, [], aggregation("count_rows"), aggregation("sum", PRICE)),
        "select count(*), sum(price)::bigint from sales",
    ),
    "distinct": (DistinctRows(picked(SALES, "shop", "price")), "select distinct shop, price from sales"),
    "join": (joined("inner"), "select * from sales join shops using (shop)"),
    "left": (joined("left"), "select * from sales left join shops on sales.shop = shops.shop"),
    "right": (joined("right"), "select * from sales right join shops on sales.shop = shops.shop"),
    "full": (joined("full"), "select * from sales full join shops on sales.shop = shops.shop"),
    "semi": (joined("semi"), "select * from sales where shop in (select shop from shops)"),
    "anti": (
        joined("anti"),
        "select * from sales where not exists (select 1 from shops where shops.shop = sales.shop)",
    ),
    "union": (
        Union((picked(SALES, "shop"), picked(SHOPS, "shop"))),
        "select shop from sales union all select shop from shops",
    ),
    "intersect": (
        Intersect(picked(SALES, "shop"), picked(SHOPS, "shop")),
        "select shop from sales intersect select shop from shops",
    ),
    "except all": (
        Except(picked(SALES, "shop"), picked(SHOPS, "shop"), True),
        "select shop from sales except all select shop from shops",
    ),
    "sort": (
        Sort(SALES, (PRICE, ITEM), (DOWN, Direction())),
        "select * from sales order by price desc nulls last, item, id, shop",
    ),
    "top": (
        TopK(SALES, (PRICE, ITEM), (DOWN, Direction()), 9),
        "select * from sales order by price desc nulls last, item, id, shop limit 9",
    ),
    "limit": (Limit(picked(SALES, "item", "id"), 7, 2), "select item, id from sales order by 1, 2 limit 7 offset 2"),
    "rank": (Rank(SALES, (PRICE,), (DOWN,)), "select rank() over (order by price desc nulls last), * from sales"),
    "dense": (
        Rank(SALES, (PRICE,), (DOWN,), True),
        "select dense_rank() over (order by price desc nulls last), * from sales",
    ),
    "window": (
        WindowOver(SALES, (field(SALES, "shop"),), (ITEM,), (Direction(),), (aggregation("count_rows"),), (None,)),
        "select *, count(*) over (partition by shop) from sales",
    ),
}
# Fields of a join in SQL's order.
QUESTIONS["join"] = (
    picked(joined("inner"), 1, 0, 2, 3, 5),
    "select sales.shop, id, item, price, city from sales join shops on sales.shop = shops.shop",
)
