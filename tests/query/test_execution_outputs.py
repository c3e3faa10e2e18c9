"""What queries read, write, count and refuse: formats, warnings, users' functions, values of plans, part files."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.base.errors import BadCall
from incoop.engine.save import OutputFolderTaken
from incoop.inchdfs.errors import InputNotFound
from incoop.query.errors import BadPlan, Position, QueryError, UserFunctionFailed
from incoop.query.execution import Query, QueryResult, reducers
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.stream import StreamFailed
from incoop.query.expressions import build
from incoop.query.expressions.nodes import Scalar, UserCall
from incoop.query.order import Direction
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cross, Join, Union
from incoop.query.plan.single import (
    DistinctRows,
    Filter,
    Generate,
    Limit,
    Project,
    Rank,
    Scan,
    Sort,
    Store,
    StreamThrough,
)
from incoop.query.schema import Schema
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.json_lines import JsonLines
from incoop.query.sources.quoted import QuotedText
from incoop.query.sources.text_lines import TextLines
from incoop.query.types import INT, LONG, TEXT
from incoop.query.warnings import CAST, DIVISION, RECORD
from tests.end_to_end.conftest import base
from tests.engine.running.conftest import OwnPlace

from .tables import aggregation, by, field

__all__ = ["base"]

NUMBERS = itertools.count()
PAIRS = Scan("in", DelimitedText(Schema.of(k=TEXT, n=LONG)))


@pytest.fixture(scope="module")
def own(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as place:
        yield place


@pytest.fixture
def given(own: OwnPlace) -> Path:
    return own.folder / f"in-{next(NUMBERS)}"


def query(*outputs: Plan) -> Query:
    return Query(f"query {next(NUMBERS)}", outputs)


def run(own: OwnPlace, asked: Query, path: Any) -> QueryResult:
    return asked.run(own.session, {"in": path})


def some_lines(count: int = 120) -> list[str]:
    return [f"key {number % 9}\t{number}" for number in range(count)]


def put(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines))


def test_only_the_first_record_of_each_file_of_csv_is_a_header(own: OwnPlace, given: Path) -> None:
    scan = Scan("in", QuotedText(Schema.of(name=TEXT, n=LONG), header=True))
    given.mkdir()
    asked = query(by(scan, ["name"], aggregation("sum", field(scan, "n"))))
    for edit in range(3):
        (given / "a.csv").write_text("name,n\n" + "name,1\n" * 80 + '"two\nlines",2\n' * (40 + edit))
        (given / "b.csv").write_text("name,n\n" + "b,1\n" * (edit + 1))
        (given / "c.csv").write_text("name,n\n")
        found = sorted(run(own, asked, given).rows(0))
        assert found == [("b", edit + 1), ("name", 80), ("two\nlines", 80 + 2 * edit)]


def test_warnings_are_those_of_the_records_that_are_there(own: OwnPlace, given: Path) -> None:
    scan = Scan("in", JsonLines(Schema.of(k=TEXT, n=LONG)))
    inverse = build.arithmetic("/", build.cast(build.constant(100), LONG), field(scan, "n"))
    shown = Project(scan, (field(scan, "k"), inverse), ("k", "inverse"))
    outputs = (Sort(shown, (field(shown, "inverse"),), (Direction(),)), by(shown, ["k"], aggregation("count_rows")))
    asked = query(*outputs)
    good = [json.dumps({"k": f"key {number % 7}", "n": number + 1}) for number in range(90)]
    bad = ["{broken", '{"k": "a", "n": "no number"}', '{"k": "b", "n": 0}', "[]"]
    for lines in ([*good, *bad], [*good[:30], bad[0], *good[30:], bad[2], bad[2]], good, bad):
        put(given, lines)
        result = run(own, asked, given)
        wanted = {
            CAST: lines.count(bad[1]),
            DIVISION: lines.count(bad[2]),
            RECORD: lines.count(bad[0]) + lines.count(bad[3]),
        }
        assert result.warnings == {kind: count for kind, count in wanted.items() if count}
        assert run(own, query(*outputs), given).warnings == result.warnings
        assert result.warnings_of(0) == result.warnings_of(1) == result.warnings


def test_a_users_function_is_called_for_what_is_new_and_named_when_it_fails(own: OwnPlace, given: Path) -> None:
    bound = 3

    def halved(number: int) -> int:
        if number == 77:
            raise ValueError("no sevens")
        return number // 2 + bound

    call = UserCall("halved", halved, b"halved 1", (field(PAIRS, "n"),), LONG, position=Position("x.pig", 3, 9))
    halves = Project(PAIRS, (field(PAIRS, "k"), call), ("k", "half"))
    asked = query(by(halves, ["k"], aggregation("count", field(halves, "half"))))
    put(given, some_lines(70))
    assert sum(count for _, count in run(own, asked, given).rows(0)) == 70
    put(given, some_lines(70)[:-1])
    assert sum(count for _, count in run(own, asked, given).rows(0)) == 69
    put(given, some_lines(90))
    with pytest.raises(UserFunctionFailed, match=r"x.pig:3:9: the function halved failed on \(77,\)[\s\S]*no sevens"):
        run(own, asked, given)
    put(given, some_lines(60))
    assert sum(count for _, count in run(own, asked, given).rows(0)) == 60


def test_a_value_of_another_plan_is_the_one_that_it_has_now(own: OwnPlace, given: Path) -> None:
    largest = by(PAIRS, [], aggregation("max", field(PAIRS, "n")))
    kept = Filter(PAIRS, build.compare("=", field(PAIRS, "n"), Scalar(largest, 0, LONG)))
    asked = query(kept)
    for count in (120, 100, 101):
        put(given, some_lines(count))
        assert [row[1] for row in run(own, asked, given).rows(0)] == [count - 1]
    put(given, [])
    assert list(run(own, asked, given).rows(0)) == []
    several = query(Filter(PAIRS, build.compare("=", field(PAIRS, "n"), Scalar(PAIRS, 1, LONG))))
    put(given, some_lines())
    with pytest.raises(QueryError, match="more than one row"):
        run(own, several, given)


def test_rows_go_through_a_command(own: OwnPlace, given: Path) -> None:
    text = DelimitedText(Schema.of(k=TEXT, n=LONG))
    asked = query(Sort(StreamThrough(PAIRS, "grep -v 'key 4' | tr k K", text, text), (), ()))
    put(given, some_lines(50))
    assert list(run(own, asked, given).rows(0)) == sorted(
        (f"Key {number % 9}", number) for number in range(50) if number % 9 != 4
    )
    with pytest.raises(StreamFailed, match="status 3: no such thing"):
        run(own, query(StreamThrough(PAIRS, "echo no such thing >&2; exit 3", text, text)), given)


def test_part_files_hold_the_rows_in_their_order_and_only_changed_ones_are_written(own: OwnPlace, given: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("incoop.query.execution.ordering.ROWS_OF_A_RANGE", 32)
        form = QuotedText(Schema.of(k=TEXT, n=LONG))
        sort = Sort(PAIRS, (field(PAIRS, "n"),), (Direction(True),))
        asked = query(Store(sort, "sorted", form), Store(DistinctRows(PAIRS), "set", form))
        folders = [own.folder / f"out-{next(NUMBERS)}" for _ in range(2)]
        lines = some_lines(2000)
        for edit in range(3):
            lines[77] = f"edit {edit}\t{5000 * edit}"
            put(given, lines)
            result = run(own, asked, given)
            written = [result.save(at, folder) for at, folder in enumerate(folders)]
            parts = [sorted(folder.glob("part-*")) for folder in folders]
            assert b"".join(part.read_bytes() for part in parts[0]) == form.printed(result.rows(0))
            held = [line for part in parts[1] for line in part.read_bytes().splitlines()]
            assert sorted(held) == sorted(form.printed(result.rows(1)).splitlines())
            assert all((folder / "_SUCCESS").exists() for folder in folders)
            if edit:
                assert 0 < len(written[0]) < len(parts[0]) / 4
        with patch.context() as unread:
            unread.setattr("incoop.query.execution.save._Ranges.content", None)  # it would read all ranges
            assert [result.save(at, folder) for at, folder in enumerate(folders)] == [[], []]
        (parts[0][1]).write_bytes(b"touched")
        assert result.save(0, folders[0]) == [parts[0][1]]
        parts[0][2].unlink()
        assert result.save(0, folders[0]) == [parts[0][2]] and result.save(0, folders[0]) == []
        assert b"".join(part.read_bytes() for part in parts[0]) == form.printed(result.rows(0))
        (folders[0] / "mine").touch()
        with pytest.raises(OutputFolderTaken):
            result.save(0, folders[0])
        other = query(Store(sort, "sorted", DelimitedText(Schema.of(k=TEXT, n=LONG), ";")))
        (folders[0] / "mine").unlink()
        assert run(own, other, given).save(0, folders[0]), "another format is another text"


def test_outputs_share_stages_and_a_changed_statement_reuses_those_before_it(own: OwnPlace, given: Path) -> None:
    put(given, some_lines())
    counted = by(PAIRS, ["k"], aggregation("count_rows"))

    def many(least: int) -> Filter:
        return Filter(counted, build.compare(">=", field(counted, 1), build.cast(build.constant(least), LONG)))

    name = f"script {next(NUMBERS)}"
    first = run(own, Query(name, (many(14), counted)), given)
    assert [stage.node for stage in first.report.stages].count("AggregateBy") == 1
    assert (len(list(first.rows(0))), len(list(first.rows(1)))) == (9 - 6, 9)
    second = run(own, Query(name, (many(15), Rank(counted, (), ()))), given)
    (stage,) = [stage for stage in second.report.stages if stage.node == "AggregateBy"]
    assert not stage.run.map.executed and not stage.run.reduce.executed
    assert (len(list(second.rows(0))), [row[0] for row in second.rows(1)]) == (0, [*range(1, 10)])
    assert str(second.report).startswith(f"{name}: ") and second.report.as_dict()["stages"]


def test_files_that_are_cut_in_different_ways_meet_in_one_stage(own: OwnPlace, given: Path) -> None:
    quoted = Scan("quoted", QuotedText(Schema.of(k=TEXT, n=LONG)))
    put(given, some_lines(30))
    other = given.with_suffix(".csv")
    other.write_text('"key 1",5\n"new\nline",6\n')
    both = query(Union((PAIRS, quoted)), Join(PAIRS, quoted, (field(PAIRS, "k"),), (field(quoted, "k"),)))
    result = both.run(own.session, {"in": given, "quoted": other})
    assert len(list(result.rows(0))) == 32
    assert {row[2:] for row in result.rows(1)} == {("key 1", 5)}


def test_results_of_jobs_are_inputs_and_a_name_without_one_is_a_path(own: OwnPlace, given: Path) -> None:
    put(given, ["a b a", "b c"])
    job = incoop.Job(f"letters {next(NUMBERS)}", lambda _, line: [(word, 1) for word in line.split()], _total, _total)
    counts = own.session.run(job, str(given))
    scan = Scan("in", DelimitedText(Schema.of(k=TEXT, n=LONG)))
    asked = query(Filter(scan, build.compare(">", field(scan, "n"), build.cast(build.constant(1), LONG))))
    assert sorted(run(own, asked, counts).rows(0)) == [("a", 2), ("b", 2)]
    lines = Scan(str(given), TextLines(Schema.of(line=TEXT)))
    assert sorted(query(lines).run(own.session).rows(0)) == [("a b a",), ("b c",)]


def _total(key: Any, values: Any) -> list[tuple[Any, int]]:
    return [(key, sum(values))]


def test_words_are_counted(own: OwnPlace, given: Path) -> None:
    from incoop.query.functions import GENERAL

    scan = Scan("in", TextLines(Schema.of(line=TEXT)))
    words = Generate(scan, (build.call(GENERAL, "tokens", field(scan, 0)),), ("yes",), (("word",),))
    asked = query(by(words, ["word"], aggregation("count_rows")))
    for lines in (["a b (a)", "", "ä,b"] * 30, ["a b"] * 40):
        put(given, lines)
        counted = " ".join(lines).replace("(", " ").replace(")", " ").replace(",", " ").split()
        assert dict(run(own, asked, given).rows(0)) == {word: counted.count(word) for word in set(counted)}


def test_explain_says_what_would_be_reused_and_runs_nothing(own: OwnPlace, given: Path) -> None:
    put(given, some_lines())
    counted = by(PAIRS, ["k"], aggregation("count_rows"))
    asked = query(Sort(counted, (field(counted, 1),), (Direction(),)))
    before = asked.explain(own.session, {"in": given})
    assert "the job has not run in this store" in before and "when it has run" in before
    assert asked.explain(own.session, {"in": given}) == before
    run(own, asked, given)
    assert asked.explain(own.session, {"in": given}).count("because nothing changed") == 3
    put(given, [*some_lines(), "new\t1"])
    assert "new" in asked.explain(own.session, {"in": given})


def test_what_cannot_be_run_is_told_before_anything_runs(own: OwnPlace, given: Path) -> None:
    put(given, some_lines())
    gone = Scan("gone", DelimitedText(Schema.of(k=TEXT)))
    both = query(by(PAIRS, ["k"], aggregation("count_rows")), gone)
    with pytest.raises(InputNotFound, match="nowhere"):
        both.run(own.session, {"in": given, "gone": "nowhere/*.txt"})
    assert "has not run" in query(by(PAIRS, ["k"], aggregation("count_rows"))).explain(own.session, {"in": given})
    with pytest.raises(BadCall, match="reads 'in', not 'inn'"):
        query(PAIRS).run(own.session, {"inn": given})
    with pytest.raises(BadPlan, match="one output"):
        Query("nothing", ())
    with pytest.raises(BadPlan, match="two fields"):
        run(own, query(Scan("in", DelimitedText(Schema.of(k=INT)))), run_letters(own, given))


def run_letters(own: OwnPlace, given: Path) -> incoop.Result:
    return own.session.run(incoop.Job(f"letters {next(NUMBERS)}", lambda _, line: [(line, 1)]), str(given))


def test_too_many_rows_of_a_key_and_of_a_cross_are_refused(own: OwnPlace, given: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reducers, "MOST_ROWS_OF_A_KEY", 5)
        join = reducers.JoinRows("inner", 1, 1, KeyForm((INT,)))
        assert len(list(join(1, [(0, (1,)), (0, (1,)), (1, (2,))]))) == 2
        with pytest.raises(reducers.TooManyRows, match=r"\(1,\) pairs 3 rows with 2"):
            join(1, [*[(0, (1,))] * 3, *[(1, (2,))] * 2])
        patch.setattr("incoop.query.execution.compile.MOST_BROADCAST", 10)
        put(given, some_lines(11))
        with pytest.raises(QueryError, match="at most 10 rows"):
            run(own, query(Cross(PAIRS, PAIRS)), given)
        few = run(own, query(Cross(Limit(PAIRS, 2), PAIRS)), given)
        assert len(list(few.rows(0))) == 22
