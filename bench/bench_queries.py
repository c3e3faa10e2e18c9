"""Queries against code that a person would write by hand: first runs, and what is asked again after a change.

    python -m bench.bench_queries                            # 300 MB, all questions
    python -m bench.bench_queries --size 100M --only words   # one of them, smaller

Words (counted, filtered, sorted), an aggregation by two keys, and a join of two tables with an aggregation of it. Each
is asked of incoop and of RDD code in PySpark, Spark DataFrames and DuckDB, which always begin from scratch; all are
warm, in one program, on the same files. All answers are compared.
"""

from __future__ import annotations

import argparse
import itertools
import math
import operator
import random
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incoop
from bench.measuring import Figure, folder_size, save_figures, show_figures, some_of, timed
from bench.paper.laboratory import spark_session
from incoop.cli.options import Size
from incoop.query.execution import Query
from incoop.query.expressions import build
from incoop.query.functions import GENERAL
from incoop.query.order import Direction
from incoop.query.partial import Aggregation
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Join
from incoop.query.plan.single import AggregateBy, Filter, Generate, Scan, Sort
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.text_lines import TextLines
from incoop.query.types import DOUBLE, INT, LONG, TEXT

#: How often an edited input is run.
ROUNDS = 3
#: Customers that a megabyte of orders has: ten orders each.
CUSTOMERS = 1500
#: What all engines are asked first, so that nothing is loaded or compiled when they are measured.
WARM_UP = 1 << 20
#: Words that are listed occur so often.
LEAST = 10

ORDERS = Schema.of(
    order=LONG, customer=LONG, region=TEXT, flag=TEXT, quantity=INT, price=DOUBLE, discount=DOUBLE, day=TEXT
)
PEOPLE = Schema.of(id=LONG, name=TEXT, segment=TEXT)
LAST_DAY = "1998-09-02"

Row = tuple[Any, ...]


def write_words(path: Path, size: int) -> None:
    rng = random.Random(1)
    known = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(2, 10))) for _ in range(50_000)]
    weights = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(known))))
    with path.open("w") as file:
        left = size
        while left > 0:
            lines = (" ".join(rng.choices(known, cum_weights=weights, k=12)) for _ in range(1000))
            left -= file.write("\n".join(lines) + "\n")


def order(rng: random.Random, number: int, customers: int) -> str:
    at = rng.random()
    mixed = int(at * 10**9)
    region = ["EUROPE", "ASIA", "AFRICA", "AMERICA"][mixed % 4]
    return (
        f"{number}|{mixed % customers}|{region}|{'ANR'[mixed % 3]}|{mixed % 50}|"
        f"{mixed % 9_999_991 / 100}|{mixed % 11 / 100}|199{mixed % 8 + 1}-{mixed % 12 + 1:02}-{mixed % 28 + 1:02}\n"
    )


def write_orders(path: Path, size: int) -> None:
    rng, customers = random.Random(2), customers_for(size)
    number = 0
    with path.open("w") as file:
        left = size
        while left > 0:
            left -= file.write("".join(order(rng, number + at, customers) for at in range(1000)))
            number += 1000


def customers_for(size: int) -> int:
    return max(1, CUSTOMERS * size >> 20)


def write_people(path: Path, size: int) -> None:
    path.write_text("".join(person(number, number % 5) for number in range(customers_for(size))))


def person(number: int, segment: int) -> str:
    return f"{number}|customer {number:09}|segment {segment}\n"


def field(plan: Plan, name: str) -> Any:
    return build.field(plan.schema, name)


def aggregation(name: str, *arguments: Any) -> Aggregation:
    return Aggregation(GENERAL.aggregate(name, tuple(each.type for each in arguments))[0], arguments)


@dataclass(frozen=True)
class Question:
    """What is asked, of four engines; answers are rows."""

    plan: Plan
    #: Given a SparkContext and paths by name.
    rdd: Callable[[Any, dict[str, str]], Sequence[Row]]
    sql: str
    #: Table -> how it is written, and its schema.
    tables: dict[str, tuple[Callable[[Path, int], None], Schema]]
    ordered: bool = False


def words() -> Question:
    scan = Scan("lines", TextLines(Schema.of(line=TEXT)))
    apart = Generate(scan, (build.call(GENERAL, "tokens", field(scan, "line")),), ("yes",), (("word",),))
    counted = AggregateBy(apart, (field(apart, "word"),), (aggregation("count_rows"),), ("word", "n"))
    often = Filter(counted, build.compare(">=", field(counted, "n"), build.cast(build.constant(LEAST), LONG)))
    plan = Sort(often, (field(often, "n"), field(often, "word")), (Direction(True), Direction()))

    def rdd(context: Any, paths: dict[str, str]) -> Sequence[Row]:
        split = context.textFile(paths["lines"]).flatMap(lambda line: line.split(" ")).map(lambda word: (word, 1))
        often = split.reduceByKey(operator.add).filter(lambda pair: pair[1] >= LEAST)
        found: Sequence[Row] = often.sortBy(lambda pair: (-pair[1], pair[0])).collect()
        return found

    sql = (
        "select word, count(*) as n from (select unnest(string_split(line, ' ')) as word from lines) "
        f"group by word having count(*) >= {LEAST} order by n desc, word"
    )
    return Question(plan, rdd, sql, {"lines": (write_words, scan.format.schema)}, True)


def totals() -> Question:
    scan = Scan("orders", DelimitedText(ORDERS, "|"))
    kept = Filter(scan, build.compare("<=", field(scan, "day"), build.constant(LAST_DAY)))
    reduced = build.arithmetic(
        "*", field(kept, "price"), build.arithmetic("-", build.constant(1.0), field(kept, "discount"))
    )
    found = (
        aggregation("sum", field(kept, "quantity")),
        aggregation("sum", reduced),
        aggregation("avg", field(kept, "discount")),
        aggregation("count_rows"),
    )
    plan = AggregateBy(kept, (field(kept, "region"), field(kept, "flag")), found, (None,) * 6)

    def rdd(context: Any, paths: dict[str, str]) -> Sequence[Row]:
        def one(line: str) -> list[Any]:
            _, _, region, flag, quantity, price, discount, day = line.split("|")
            if day > LAST_DAY:
                return []
            less = float(discount)
            return [((region, flag), (int(quantity), float(price) * (1.0 - less), less, 1))]

        def both(mine: Row, its: Row) -> Row:
            return (mine[0] + its[0], mine[1] + its[1], mine[2] + its[2], mine[3] + its[3])

        sums = context.textFile(paths["orders"]).flatMap(one).reduceByKey(both).collect()
        return [(*key, total, money, less / count, count) for key, (total, money, less, count) in sums]

    sql = (
        "select region, flag, cast(sum(quantity) as bigint), sum(price * (1 - discount)), avg(discount), count(*) "
        f"from orders where day <= '{LAST_DAY}' group by region, flag"
    )
    return Question(plan, rdd, sql, {"orders": (write_orders, ORDERS)})


def segments() -> Question:
    orders, people = Scan("orders", DelimitedText(ORDERS, "|")), Scan("people", DelimitedText(PEOPLE, "|"))
    both = Join(orders, people, (field(orders, "customer"),), (field(people, "id"),))
    found = (aggregation("count_rows"), aggregation("sum", field(both, "quantity")))
    plan = AggregateBy(both, (field(both, "segment"),), found, (None,) * 3)

    def rdd(context: Any, paths: dict[str, str]) -> Sequence[Row]:
        def sold(line: str) -> Row:
            parts = line.split("|")
            return (int(parts[1]), int(parts[4]))

        def segment(line: str) -> Row:
            parts = line.split("|")
            return (int(parts[0]), parts[2])

        pairs = context.textFile(paths["orders"]).map(sold).join(context.textFile(paths["people"]).map(segment))
        counted = pairs.map(lambda pair: (pair[1][1], (1, pair[1][0])))
        added = counted.reduceByKey(lambda one, other: (one[0] + other[0], one[1] + other[1])).collect()
        return [(segment, *sums) for segment, sums in added]

    sql = (
        "select segment, count(*), cast(sum(quantity) as bigint) "
        "from orders join people on orders.customer = people.id group by segment"
    )
    return Question(plan, rdd, sql, {"orders": (write_orders, ORDERS), "people": (write_people, PEOPLE)})


QUESTIONS = {"words": words, "totals": totals, "segments": segments}
_SQL_TYPES = {INT: "INT", LONG: "BIGINT", DOUBLE: "DOUBLE", TEXT: "STRING"}


def by_duckdb(question: Question, paths: dict[str, str]) -> Sequence[Row]:
    import duckdb

    with duckdb.connect(config={"threads": 2}) as engine:
        for name, (_, schema) in question.tables.items():
            kinds = ", ".join(f"'{each.name}': '{_SQL_TYPES[each.type]}'" for each in schema.fields or ())
            sign = "|" if len(schema.fields or ()) > 1 else "\\x01"
            engine.execute(
                f"create view {name} as select * from read_csv('{paths[name]}', delim=E'{sign}', header=false, "
                f"quote='', auto_detect=false, columns={{{kinds}}})"
            )
        return engine.execute(question.sql).fetchall()


def by_frames(question: Question, spark: Any, paths: dict[str, str]) -> Sequence[Row]:
    for name, (_, schema) in question.tables.items():
        fields = schema.fields or ()
        if len(fields) == 1:
            frame = spark.read.text(paths[name]).withColumnRenamed("value", str(fields[0].name))
        else:
            said = ", ".join(f"`{each.name}` {_SQL_TYPES[each.type]}" for each in fields)
            frame = spark.read.csv(paths[name], sep="|", schema=said)
        frame.createOrReplaceTempView(name)
    text = question.sql.replace("unnest(string_split(line, ' '))", "explode(split(line, ' '))")
    return [tuple(row) for row in spark.sql(text).collect()]


def same(one: Sequence[Row], other: Sequence[Row], ordered: bool) -> bool:
    """Whether two answers are one, but for how floats were added up."""
    if not ordered:
        one, other = sorted(one), sorted(other)
    return len(one) == len(other) and all(
        mine == its or (isinstance(mine, float) and math.isclose(mine, its, rel_tol=1e-9))
        for row, its_row in zip(one, other, strict=True)
        for mine, its in zip(row, its_row, strict=True)
    )


def changed(path: Path, share: float, seed: int) -> None:
    """One line, or a share of all lines in one region, takes the place of others."""
    content = path.read_bytes()
    start = content.index(b"\n", int(len(content) * (0.2 + 0.1 * seed))) + 1
    end = content.index(b"\n", start + max(0, int(len(content) * share) - 1)) + 1
    lines = content[start:end].splitlines(keepends=True)
    moved = [
        line.replace(b".", b"1.").replace(b"segment ", b"segment x") if b"|" in line else line.replace(b" ", b" q", 1)
        for line in lines
    ]
    assert moved != lines
    path.write_bytes(content[:start] + b"".join(moved) + content[end:])


def measure(name: str, folder: Path, size: int, spark: Any) -> list[Figure]:
    """Ask one question of all."""
    question = QUESTIONS[name]()
    query = Query(f"bench {name}", (question.plan,))

    def of_others(texts: dict[str, str]) -> dict[str, Callable[[], Sequence[Row]]]:
        return {
            "RDD code": lambda: question.rdd(spark.sparkContext, texts),
            "DataFrames": lambda: by_frames(question, spark, texts),
            "DuckDB": lambda: by_duckdb(question, texts),
        }

    few = {table: str(folder / f"few {table}") for table in question.tables}
    for table, (write, _) in question.tables.items():
        write(Path(few[table]), WARM_UP)
    with incoop.connect(folder / "warm", spark=spark) as session:
        list(query.run(session, few).rows(0))
    for work in of_others(few).values():
        work()
    paths = {table: folder / table for table in question.tables}
    for table, (write, _) in question.tables.items():
        write(paths[table], size)
    texts = {table: str(path) for table, path in paths.items()}
    read = sum(path.stat().st_size for path in paths.values())
    others = of_others(texts)
    with incoop.connect(folder / "store") as session:
        session.prepare()

        def ask() -> Sequence[Row]:
            return list(query.run(session, texts).rows(0))

        seconds = {}
        first, answer = timed(ask)
        for other, work in others.items():
            seconds[other], its = timed(work)
            assert same(answer, its, question.ordered), f"{name}: {other} says otherwise"
        unchanged = statistics.median(timed(ask)[0] for _ in range(ROUNDS))
        edits = {
            "one record changed": (paths[next(iter(paths))], 0.0),
            "1 % in one region": (paths[next(iter(paths))], 0.01),
        }
        if "people" in paths:
            edits["one record changed on the other side"] = (paths["people"], 0.0)
        updates = {}
        for what, (path, share) in edits.items():
            taken = []
            for number in range(ROUNDS):
                changed(path, share, number)
                spent, answer = timed(ask)
                taken.append(spent)
            assert same(answer, others["DuckDB"](), question.ordered), f"{name}: another answer after {what}"
            updates[what] = statistics.median(taken)
        store = folder_size(folder / "store") / read
    details = {"seconds": {"first run": first, "unmodified": unchanged, **updates, **seconds}, "bytes": read}
    plain = seconds["RDD code"]
    shown = ", ".join(f"{other} {spent:.2f} s" for other, spent in seconds.items())
    return [
        Figure(
            f"{name}, {read >> 20} MB: first run ({first:.2f} s; {shown}) / RDD code",
            first / plain,
            1.0,
            0.5,
            less=True,
        ),
        Figure(
            f"{name}: RDD code / unmodified ({unchanged * 1000:.0f} ms)", plain / unchanged, 200, 1000, details=details
        ),
        *(
            Figure(f"{name}: RDD code / {what} ({spent * 1000:.0f} ms)", plain / spent, *_wanted(what, name))
            for what, spent in updates.items()
        ),
        Figure(f"{name}: store / input, after all edits", store, 2, 1, less=True),
    ]


def _wanted(what: str, name: str) -> tuple[float, float]:
    if name == "segments":
        return (20, 50)
    return (15, 30) if "%" in what else (30, 60)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=Size(), default=300 << 20)
    parser.add_argument("--only", type=some_of(QUESTIONS), default=list(QUESTIONS))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        (folder / "spark").mkdir()
        with spark_session(folder / "spark") as spark:
            for question in given.only:
                (folder / question).mkdir()
                figures += measure(question, folder / question, given.size, spark)
    show_figures(figures)
    save_figures(given.json, "bench_queries", vars(given), figures)
    return figures


if __name__ == "__main__":
    main()
