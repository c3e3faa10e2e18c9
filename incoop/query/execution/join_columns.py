"""Joins by column: what each side sends, and all keys of a shard joined at once.

Contract: a key's pairs follow from its rows alone, however many keys are joined beside it. Rows of a key: to each left
one in input order the right ones in theirs. With an aggregation above, the rows are never stored: a key gives a state
for each group that its rows are in, in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from incoop.contraction.columns.column import INTEGER, PAIR, Column, concat
from incoop.engine.running.counters import counter
from incoop.engine.stages.map_contract.column_reducer import ColumnReducer, KeyedColumns, KeyedPairs
from incoop.query.execution.held import Held, Numbers
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.reducers import MOST_ROWS_OF_A_KEY, Pairs, TooManyRows
from incoop.query.execution.sinks import NOTHING, AggregateRows, Sent, Sink, grouped, used_only
from incoop.query.execution.steps import RowStep
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.expressions.nodes import Reference
from incoop.query.plan.several import JoinKind
from incoop.query.types import Type
from incoop.query.warnings import Warnings

#: Rows that are made at once, unless one key has more: some hundred bytes each while they are looked at.
_AT_ONCE = 1 << 20

_NO_ROW = -1


@dataclass(frozen=True, slots=True)
class FieldsByKey(Sink):
    """Some fields of rows by key, with the number of the input."""

    keys: tuple[Any, ...]
    form: KeyForm
    side: int
    fields: tuple[Reference, ...]
    #: Whether rows with a null in their key are left out.
    drops_nulls: bool = False

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        from incoop.query.execution.stored_columns import nested, stored_column

        if not len(held):
            return NOTHING
        numbers, found = grouped(held, self.keys, self.form, evaluation)
        pieces = held.pieces
        columns = [stored_column(held.column(each, evaluation), each.type) for each in self.fields]
        if self.drops_nulls and any(without := found.with_null()):
            kept = np.flatnonzero(~np.array(without)[numbers])
            if not len(kept):
                return NOTHING
            numbers, pieces = numbers[kept], pieces[kept]
            columns = [each.take(kept) for each in columns]
        count = len(numbers)
        side = Column(INTEGER, count, numbers=np.full(count, self.side))
        values = Column(PAIR, count, children=(side, nested(columns, count)))
        return used_only(self.form.keys(found, self.side), numbers, values, pieces)


@dataclass(frozen=True, slots=True)
class _Places:
    """Rows of one side that are there: the number of each one's key, ascending, and which of the side's it is."""

    keys: Numbers
    rows: Numbers

    def between(self, low: int, high: int) -> _Places:
        """Those of some keys, whose numbers begin with 0."""
        first, behind = np.searchsorted(self.keys, [low, high]).tolist()
        return _Places(self.keys[first:behind] - low, self.rows[first:behind])


#: The values of a field: whose side it is, and which of that side's.
_Field = Callable[[int, int], Any]


@dataclass(frozen=True, slots=True)
class JoinColumns(ColumnReducer):
    """Rows of both sides with one key, beside each other."""

    kind: JoinKind
    form: KeyForm
    #: Types of the fields that each side sends; and which of all of them are those of a row.
    sent: tuple[tuple[Type, ...], tuple[Type, ...]]
    kept: tuple[int, ...]
    #: What is done with the rows, and what they are aggregated to; None where they are stored.
    steps: tuple[RowStep, ...] = ()
    groups: AggregateRows | None = None
    #: The name by which warnings of the groups are counted.
    tag: str = ""

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        from incoop.query.execution.stored_columns import fields_of
        from incoop.query.expressions.batches import to_column

        sides: tuple[list[list[Any]], list[list[Any]]] = ([], [])
        for side, value in values:
            sides[side].append(fields_of(value, len(self.sent[side])))
        left, right = map(len, sides)
        if left * right > MOST_ROWS_OF_A_KEY:
            raise TooManyRows("key", repr(self.form.values(key))[:200], left, right)

        def field(side: int, at: int) -> Any:
            return to_column([row[at] for row in sides[side]], self.sent[side][at])

        tally: dict[str, int] = {}
        places = [_Places(np.zeros(count, np.int64), np.arange(count)) for count in (left, right)]
        made = self._made(1, places[0], places[1], field, tally)
        for name, times in tally.items():
            counter(name, times)
        return zip(made.keys.to_list(), made.values.to_list(), strict=True)

    def reduce(self, found: KeyedColumns) -> KeyedPairs | None:
        sides = _sides(found)
        if sides is None:
            return None
        (left, right), columns = sides
        count = len(found.keys)
        pairs = np.bincount(left.keys, minlength=count) * np.bincount(right.keys, minlength=count)
        if pairs.max(initial=0) > MOST_ROWS_OF_A_KEY:
            return None
        field = _Stored(columns, self.sent)
        tally: dict[str, int] = {}
        made = []
        for low, high in _portions(pairs):
            some = left.between(low, high), right.between(low, high)
            made.append(self._made(high - low, *some, field, tally))
            if tally:
                return None  # whose values these warnings are of is counted by key
        return KeyedPairs(
            concat([each.keys for each in made]),
            concat([each.values for each in made]),
            np.concatenate([each.counts for each in made]),
        )

    def _made(self, count: int, left: _Places, right: _Places, field: _Field, tally: dict[str, int]) -> KeyedPairs:
        """What keys give whose rows are at these places."""
        from incoop.query.expressions.batches import ColumnBatch

        owners, lefts, rights = _beside(self.kind, count, left, right)
        types, columns = [], []
        for at in self.kept:
            side = int(at >= len(self.sent[0]))
            own = at - len(self.sent[0]) if side else at
            types.append(self.sent[side][own])
            columns.append(_taken(field(side, own), rights if side else lefts))
        held = Held(tuple(types), owners, ColumnBatch(tuple(types), tuple(columns), len(owners)))
        for step in self.steps:
            held = _counting(partial(step.apply, held), step.tag, tally)
        if self.groups is None:
            rows = held.row_list
            counts = np.bincount(held.pieces, minlength=count)
            return KeyedPairs(
                Column(INTEGER, len(rows), numbers=np.zeros(len(rows), np.int64)), Column.of(rows), counts
            )
        sent = _counting(partial(self.groups.send, held), self.tag, tally)
        ranks = np.empty(len(sent.keys), np.int64)
        ranks[sorted(range(len(sent.keys)), key=sent.keys.__getitem__)] = np.arange(len(sent.keys))
        order = np.lexsort((ranks[sent.codes], sent.pieces))
        assert isinstance(sent.values, list)
        values = [sent.values[at] for at in order.tolist()]
        counts = np.bincount(sent.pieces, minlength=count)
        return KeyedPairs(Column.of(sent.keys).take(sent.codes[order]), Column.of(values), counts)


def _counting(work: Callable[[Evaluation], Any], tag: str, tally: dict[str, int]) -> Any:
    """What the work gives; its warnings go into the tally."""
    warnings = Warnings()
    found = work(Evaluation(warnings))
    for kind, times in warnings.counts.items():
        name = f"{tag} {kind}"
        tally[name] = tally.get(name, 0) + times
    return found


def _sides(found: KeyedColumns) -> tuple[tuple[_Places, _Places], tuple[list[Column], list[Column]]] | None:
    """Where the rows of each side are, and the columns that hold its fields; None where a column holds both sides."""
    columns: tuple[list[Column], list[Column]] = ([], [])
    side_of, row_of = [], []
    counts = [0, 0]
    for column in found.columns:
        if column.children is None or column.children[0].numbers is None:
            return None
        side, fields = column.children
        assert side.numbers is not None
        which = int(side.numbers[0])
        if (side.numbers != which).any():
            return None
        columns[which].append(fields)
        side_of.append(np.full(len(column), which, np.int8))
        row_of.append(np.arange(counts[which], counts[which] + len(column)))
        counts[which] += len(column)
    sides, rows = np.concatenate(side_of)[found.places], np.concatenate(row_of)[found.places]
    keys = np.repeat(np.arange(len(found.counts)), found.counts)
    left, right = (_Places(keys[chosen], rows[chosen]) for chosen in (sides == 0, sides == 1))
    return (left, right), columns


class _Stored:
    """Fields of a shard's rows, made when they are asked for."""

    def __init__(self, columns: tuple[list[Column], list[Column]], types: Sequence[Sequence[Type]]) -> None:
        self._columns, self._types = columns, types
        self._apart: dict[int, list[list[Column]]] = {}
        self._made: dict[tuple[int, int], Any] = {}

    def __call__(self, side: int, at: int) -> Any:
        from incoop.query.execution.stored_columns import apart, query_column

        if side not in self._apart:
            self._apart[side] = [apart(each, len(self._types[side])) for each in self._columns[side]]
        if (side, at) not in self._made:
            several = [each[at] for each in self._apart[side]]
            self._made[side, at] = query_column(several, self._types[side][at])
        return self._made[side, at]


def _portions(pairs: Numbers) -> list[tuple[int, int]]:
    """Keys whose rows are made at once; each key is one of a portion."""
    numbers = np.cumsum(pairs) // _AT_ONCE
    begins = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()]
    return list(zip(begins, [*begins[1:], len(pairs)], strict=True))


def _beside(kind: JoinKind, count: int, left: _Places, right: _Places) -> tuple[Numbers, Numbers, Numbers]:
    """For each row of the join its key, and the rows of both sides that it is of."""
    lefts, rights = (np.bincount(each.keys, minlength=count) for each in (left, right))
    partners = rights[left.keys]
    if kind in ("semi", "anti"):
        stays = (partners > 0) == (kind == "semi")
        return left.keys[stays], left.rows[stays], np.full(int(stays.sum()), _NO_ROW)
    times = np.maximum(partners, 1) if kind in ("left", "full") else partners
    keys, of_left = np.repeat(left.keys, times), np.repeat(left.rows, times)
    within = np.arange(len(keys)) - np.repeat(np.cumsum(times) - times, times)
    of_right = np.full(len(keys), _NO_ROW)
    met = rights[keys] > 0
    of_right[met] = right.rows[(np.cumsum(rights) - rights)[keys[met]] + within[met]]
    if kind in ("right", "full"):
        alone = lefts[right.keys] == 0
        keys = np.concatenate([keys, right.keys[alone]])
        order = np.argsort(keys, kind="stable")
        of_left = np.concatenate([of_left, np.full(int(alone.sum()), _NO_ROW)])[order]
        of_right = np.concatenate([of_right, right.rows[alone]])[order]
        keys = keys[order]
    return keys, of_left, of_right


def _taken(column: Any, rows: Numbers) -> Any:
    """The values of some rows, null where there is none."""
    from incoop.query.arrays import of_numbers

    if isinstance(column, list):
        return [column[at] if at != _NO_ROW else None for at in rows.tolist()]
    there = rows != _NO_ROW
    return column.take(of_numbers(rows, None if there.all() else there))
