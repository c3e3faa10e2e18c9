"""How long one thread takes for an aggregation over delimited text: by columns, and by rows.

A filter, two sums, a mean and a count by two keys over 75 MB: bytes to columns, expressions, partial aggregates. Both
ways give the same states, which is asserted on the part that rows are run on. DuckDB reads and aggregates the same
file beside it, on one thread.

    python -m bench.bench_query_columns [--megabytes 75]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from incoop.query.expressions import build
from incoop.query.expressions.columns import selected
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.rows import compile_row
from incoop.query.functions import GENERAL
from incoop.query.partial import Aggregation, Partial, of_columns, of_rows
from incoop.query.plan.single import AggregateBy, Filter, Scan
from incoop.query.rules import rewritten
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.types import DOUBLE, INT, LONG, TEXT
from incoop.query.warnings import Warnings

SCHEMA = Schema.of(
    order=LONG, line=INT, quantity=INT, price=DOUBLE, discount=DOUBLE, flag=TEXT, status=TEXT, day=TEXT, note=TEXT
)
#: What rows are run on: a tenth, since they take as long as all else together.
PART = 10


def text(size: int) -> bytes:
    rng = random.Random(1)
    note = ["quickly", "even", "packages", "nag", "blithely", "above", "the", "furiously"]
    lines, total, at = [], 0, 0
    while total < size:
        at += 1
        line = (
            f"{at}|{at % 7}|{rng.randrange(1, 51)}|{rng.randrange(90000, 10**7) / 100}|{rng.randrange(11) / 100}|"
            f"{rng.choice('ANR')}|{rng.choice('OF')}|"
            f"199{rng.randrange(2, 9)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}|"
            f"{' '.join(rng.choices(note, k=4))}\n"
        ).encode()
        lines.append(line)
        total += len(line)
    return b"".join(lines)


def query() -> tuple[Scan, Filter, AggregateBy]:
    scan = Scan("lines", DelimitedText(SCHEMA, "|"))

    def field(name: str) -> Any:
        return build.field(SCHEMA, name)

    kept = Filter(scan, build.compare("<=", field("day"), build.constant("1998-09-02")))
    reduced = build.arithmetic("*", field("price"), build.arithmetic("-", build.constant(1.0), field("discount")))
    aggregations = tuple(
        Aggregation(GENERAL.aggregate(name, (argument.type,) if argument else ())[0], (argument,) if argument else ())
        for name, argument in [
            ("sum", field("quantity")),
            ("sum", reduced),
            ("avg", field("discount")),
            ("count_rows", None),
        ]
    )
    plan = AggregateBy(kept, (field("flag"), field("status")), aggregations, (None,) * 6)
    (cheaper,) = rewritten((plan,))
    assert (
        isinstance(cheaper, AggregateBy) and isinstance(cheaper.input, Filter) and isinstance(cheaper.input.input, Scan)
    )
    return cheaper.input.input, cheaper.input, cheaper


def by_columns(chunk: bytes) -> list[Partial]:
    scan, kept, plan = query()
    batch = scan.format.columns(chunk, Warnings(), scan.wanted)
    return of_columns(selected(kept.condition, batch, Evaluation()), plan.keys, plan.aggregations, Evaluation())


def by_rows(chunk: bytes) -> list[Partial]:
    scan, kept, plan = query()
    condition, evaluation = compile_row(kept.condition), Evaluation()
    rows = [row for row in scan.format.rows(chunk, Warnings(), scan.wanted) if condition(row, evaluation) is True]
    return of_rows(rows, plan.keys, plan.aggregations, evaluation)


def by_duckdb(chunk: bytes) -> Any:
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 1}) as engine:
        path = Path(folder) / "lines"
        path.write_bytes(chunk)
        kinds = ["BIGINT", "INT", "INT", "DOUBLE", "DOUBLE", *["TEXT"] * 4]
        names = ", ".join(f"'{name}': '{kind}'" for name, kind in zip("abcdefghi", kinds, strict=True))
        begun = time.process_time()
        engine.execute(
            "select f, g, sum(c), sum(d * (1 - e)), avg(e), count(*) "
            f"from read_csv('{path}', delim='|', header=false, quote='', columns={{{names}}}) "
            "where h <= '1998-09-02' group by f, g"
        ).fetchall()
        return time.process_time() - begun


def timed(work: Callable[[bytes], Any], chunk: bytes) -> tuple[float, Any]:
    begun = time.process_time()
    found = work(chunk)
    return time.process_time() - begun, found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--megabytes", type=int, default=75)
    chunk = text(arguments.parse_args().megabytes * 10**6)
    part = chunk[: chunk.index(b"\n", len(chunk) // PART) + 1]
    by_columns(part)
    assert by_columns(part) == by_rows(part)
    best, groups = min((timed(by_columns, chunk) for _ in range(3)), key=lambda each: each[0])
    rows, _ = timed(by_rows, part)
    print(f"{len(chunk) / 1e6:.0f} MB, {chunk.count(10)} rows, {len(groups)} groups; CPU seconds, one thread")
    print(
        f"columns {best:.2f}   rows {rows * len(chunk) / len(part):.2f} (of a {PART}th)   DuckDB {by_duckdb(chunk):.2f}"
    )


if __name__ == "__main__":
    main()
