"""Joins by column: keys joined together give what each gives by itself; columns are stored as their values would be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.contraction.columns.column import Column
from incoop.contraction.columns.column_bytes import write_column
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run
from incoop.engine.stages.map_contract.flat import gathered
from incoop.engine.stages.map_contract.reducing import reduced_keys
from incoop.query.execution import join_columns
from incoop.query.execution.held import Held
from incoop.query.execution.join_columns import FieldsByKey, JoinColumns
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.reducers import JoinRows
from incoop.query.execution.sinks import AggregateRows
from incoop.query.execution.steps import FilterRows
from incoop.query.execution.stored_columns import apart, fields_of, nested, query_column, stored_column
from incoop.query.expressions import build
from incoop.query.expressions.batches import to_column, to_values
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Reference
from incoop.query.functions import GENERAL
from incoop.query.order import bag_key
from incoop.query.partial import Aggregation
from incoop.query.plan.several import JoinKind
from incoop.query.types import DOUBLE, INT, LONG, TEXT, Row, Type

from .strategies import PLAIN, values_of
from .test_columns_mean_what_rows_mean import looks

KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "semi", "anti")


def stored(column: Column) -> bytes:
    out: list[Any] = []
    write_column(column, out)
    return b"".join(bytes(each) for each in out)


@settings(max_examples=200)
@given(st.data())
def test_a_column_is_stored_as_its_values_and_read_back(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(PLAIN))
    values = data.draw(st.lists(values_of(kind, data.draw(st.booleans())), max_size=6))
    column = to_column(values, kind)
    low = data.draw(st.integers(0, len(values)))
    assert stored(stored_column(column[low:], kind)) == stored(Column.of(to_values(column, kind)[low:]))
    read = query_column([stored_column(to_column(part, kind), kind) for part in (values[:low], values[low:])], kind)
    assert looks(tuple(to_values(read, kind))) == looks(tuple(to_values(column, kind)))


@given(st.lists(st.tuples(st.integers(-9, 9), st.text(max_size=2), st.none() | st.integers(0, 3)), max_size=5))
def test_fields_that_are_nested_come_apart(rows: list[Row]) -> None:
    columns = [Column.of([row[at] for row in rows]) for at in range(3)]
    whole = nested(columns, len(rows))
    assert [fields_of(value, 3) for value in whole.to_list()] == list(map(list, rows))
    if rows:
        assert [each.to_list() for each in apart(whole, 3)] == [each.to_list() for each in columns]
    assert nested([], 2).to_list() == [None, None] and fields_of(None, 0) == []


class Case:
    """Chunks of two sides, and a join of them."""

    def __init__(self, data: st.DataObject, grouped: bool) -> None:
        kinds = st.lists(st.sampled_from([INT, LONG, DOUBLE, TEXT, TEXT]), max_size=3)
        self.sent: tuple[tuple[Type, ...], tuple[Type, ...]] = (tuple(data.draw(kinds)), tuple(data.draw(kinds)))
        self.kind = data.draw(st.sampled_from(KINDS))
        width = sum(map(len, self.sent)) if self.kind not in ("semi", "anti") else len(self.sent[0])
        self.kept = tuple(data.draw(st.lists(st.integers(0, width - 1), max_size=4))) if width else ()
        self.form = KeyForm((INT,))
        self.runs = [self.chunk(data, data.draw(st.sampled_from([0, 1]))) for _ in range(data.draw(st.integers(1, 4)))]
        types = tuple((*self.sent[0], *self.sent[1])[at] for at in self.kept)
        self.reducer = JoinColumns(self.kind, self.form, self.sent, self.kept)
        if grouped:
            fields = [Reference(at, kind) for at, kind in enumerate(types)]
            keys = tuple(data.draw(st.lists(st.sampled_from(fields), max_size=2))) if fields else ()
            asked = [Aggregation(GENERAL.aggregate("count_rows", ())[0])]
            for each in fields:
                names = ["min", "count", "count_distinct"] + (["sum", "avg"] if each.type != TEXT else [])
                name = data.draw(st.sampled_from(names))
                asked.append(Aggregation(GENERAL.aggregate(name, (each.type,))[0], (each,)))
            steps = []
            if fields and data.draw(st.booleans()):
                alike = [each for each in fields if each.type == fields[0].type]
                condition = build.compare("<=", fields[0], data.draw(st.sampled_from(alike)))
                steps.append(FilterRows("f", b"f", condition))
            form = KeyForm(tuple(each.type for each in keys))
            groups = AggregateRows(keys, form, tuple(asked[: data.draw(st.integers(1, len(asked)))]))
            self.reducer = JoinColumns(self.kind, self.form, self.sent, self.kept, tuple(steps), groups, "g")

    def chunk(self, data: st.DataObject, side: int) -> Run:
        values = st.tuples(*(values_of(kind, data.draw(st.booleans())) for kind in self.sent[side]))
        rows = data.draw(st.lists(st.tuples(st.integers(0, 4), values), max_size=6))
        types = (INT, *self.sent[side])
        held = Held(types, np.zeros(len(rows), np.int64), None, [(key, *row) for key, row in rows])
        fields = tuple(Reference(at + 1, kind) for at, kind in enumerate(self.sent[side]))
        sent = FieldsByKey((Reference(0, INT),), self.form, side, fields).send(held, Evaluation())
        groups: dict[Any, list[Any]] = {key: [] for key in sent.keys}
        listed = sent.values.to_list() if isinstance(sent.values, Column) else sent.values
        for code, value in zip(sent.codes.tolist(), listed, strict=True):
            groups[sent.keys[code]].append(value)
        return Run.of_groups(groups)

    def one_by_one(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
        return self.reducer(key, values)


def only(run: Run, hashes: Hashes) -> Run:
    return run.take(np.flatnonzero(np.isin(run.hashes, hashes)))


@settings(max_examples=200, deadline=None)
@given(st.data(), st.booleans())
def test_keys_joined_together_give_what_each_gives_by_itself(data: st.DataObject, grouped: bool) -> None:
    case = Case(data, grouped)
    found = gathered(case.runs)
    if not len(found):
        return
    together = reduced_keys(case.reducer, found)
    assert case.reducer.reduce(found.by_column()) is not None
    assert together.to_bytes() == reduced_keys(case.one_by_one, found).to_bytes()
    some = sorted(data.draw(st.sets(st.integers(0, len(found) - 1), min_size=1)))
    hashes = found.places.hashes[some]
    alone = reduced_keys(
        case.reducer, gathered([run.take(np.flatnonzero(np.isin(run.hashes, hashes))) for run in case.runs])
    )
    here = together.take(np.flatnonzero(np.isin(together.hashes, hashes)))
    assert alone.to_bytes() == here.to_bytes()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_join_by_column_has_the_rows_of_one_row_by_row(data: st.DataObject) -> None:
    case = Case(data, False)
    found = gathered(case.runs)
    rows = JoinRows(case.kind, len(case.sent[0]), len(case.sent[1]), case.form, None)

    def plain(key: Any, values: Sequence[Any]) -> list[Row]:
        sides = [(side, tuple(fields_of(value, len(case.sent[side])))) for side, value in values]
        return [tuple(row[at] for at in case.kept) for _, row in rows(key, sides)]

    wanted = {key: plain(key, values) for key, values in found.groups()}
    made = {key: [row for _, row in pairs] for key, pairs in reduced_keys(case.reducer, found).groups()}
    for key, several in wanted.items():
        assert looks(sorted(made.get(key, []), key=bag_key)) == looks(sorted(several, key=bag_key))


def test_a_large_join_is_made_in_portions(monkeypatch: Any) -> None:
    monkeypatch.setattr(join_columns, "_AT_ONCE", 5)
    form = KeyForm((INT,))
    sides = [Run.of_groups({key: [(side, 10 * key + at) for at in range(3)] for key in range(4)}) for side in (0, 1)]
    reducer = JoinColumns("inner", form, ((LONG,), (LONG,)), (0, 1))
    found = gathered(sides)
    made = reduced_keys(reducer, found)
    assert made.counts().tolist() == [9] * 4
    assert made.to_bytes() == reduced_keys(lambda key, values: reducer(key, values), found).to_bytes()
