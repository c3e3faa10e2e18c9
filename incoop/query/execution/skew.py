"""Keys of a join with very many rows, cut into parts that are joined one by one.

Contract: how often a key is cut follows from how many rows it has on both sides, and which part a row is in from the
row. So parts are those of a run from scratch, and one changed row is joined again with the rows of its parts alone.

Rows of each side are dealt out by hash, to so many hands. Each hand of the left side meets each of the right one: a
row is sent to as many parts as the other side has hands. A key whose rows are cut has some on both sides, and keeps
each: inner, left, right and full joins of it are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xxhash

from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.query.execution.held import Held
from incoop.query.execution.keys import TOGETHER
from incoop.query.execution.reducers import JoinRows, Pairs, add_up
from incoop.query.execution.relations import Relation
from incoop.query.execution.sinks import NOTHING, Cells, RowsByKey, Sent, Sink, grouped, used_only
from incoop.query.execution.stages import LEAF_OF_STATES, Sending, Stages, digest_of
from incoop.query.expressions.evaluation import Evaluation
from incoop.query.plan.node import Plan
from incoop.query.types import Row

#: Kinds of joins whose keys can be cut: those of one side alone make no pairs.
CUT_KINDS = ("inner", "left", "right", "full")

#: Rows of the larger side in a part, at the least: with the pairs that they make, they cost about what the 4,096 of a
#: sort's range do. Of the smaller side a part has an eighth of that; where these are more than a few, the larger side
#: has fewer, so that a part makes some 16,000 pairs.
ROWS_OF_A_PART = 1024

#: Hands are a power of this many, so that they stay as many until a key has that many times its rows: when their number
#: changes, the join is another job.
_STEP = 8

#: Counts of both sides travel as one integer, which adds up: the right one above these bits.
_BITS = 32

#: For a key, its hands on the left and on the right.
Hands = tuple[int, int]


def hands_of(left: int, right: int, rows: int = ROWS_OF_A_PART) -> Hands:
    """How many parts a key's rows on either side are dealt out to; one each where it is not cut.

    Example:
        >>> hands_of(1000, 10), hands_of(100_000, 10), hands_of(10, 100_000), hands_of(20_000, 20_000)
        ((1, 1), (64, 1), (1, 64), (64, 64))
    """
    if not left or not right:
        return 1, 1
    small, large = min(left, right), max(left, right)
    of_small = min(small, rows // 8)
    of_large = max(min(16 * rows // of_small, rows), rows // 8)
    few, many = _power(small // of_small), _power(large // of_large)
    return (many, few) if left > right else (few, many)


def _power(count: int) -> int:
    """The largest power of the step that is not above a count."""
    found = 1
    while found * _STEP <= count:
        found *= _STEP
    return found


@dataclass(frozen=True, slots=True)
class CountSides(Sink):
    """How many rows each key has, as what the sides add up to."""

    rows: RowsByKey

    @property
    def side(self) -> int | None:
        return self.rows.side

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        if not len(held):
            return NOTHING
        rows = self.rows
        numbers, found = grouped(held, rows.keys, rows.form, evaluation)
        cells = Cells.of(held, numbers, found.count)
        counts = np.bincount(cells.of_row, minlength=len(cells.pieces)) << (_BITS if rows.side else 0)
        names = rows.form.keys(found, TOGETHER if rows.side is None else rows.side)
        return Sent(names, cells.keys, counts.tolist(), cells.pieces)


@dataclass(frozen=True, slots=True)
class KeysToCut:
    """The keys that are cut, each with its hands."""

    rows: int

    def __call__(self, key: Any, values: Iterable[int]) -> Pairs:
        total = sum(values)
        hands = hands_of(total & ((1 << _BITS) - 1), total >> _BITS, self.rows)
        return [(key, hands)] if hands != (1, 1) else []


def keys_to_cut(stages: Stages, plan: Plan, sides: Sequence[Relation], sinks: Sequence[RowsByKey]) -> dict[Any, Hands]:
    """The keys of a join that are cut, by the result of a stage that counts their rows."""
    sendings = [Sending(side, CountSides(each)) for side, each in zip(sides, sinks, strict=True)]
    form = [(each.form, each.drops_nulls, list(map(digest_of, each.keys))) for each in sinks]
    added = LawfulCombiner(add_up, Fold.SUM)
    reducer = KeysToCut(ROWS_OF_A_PART)
    return dict(stages.stage(plan, "keys to cut", sendings, added, reducer, (reducer, form), LEAF_OF_STATES))


@dataclass(frozen=True, slots=True)
class RowsByPart(Sink):
    """Rows by key and part; keys that are not cut have one part, the last before the first."""

    rows: RowsByKey
    cut: Mapping[Any, Hands]

    @property
    def side(self) -> int | None:
        return self.rows.side

    def send(self, held: Held, evaluation: Evaluation) -> Sent:
        sent = self.rows.send(held, evaluation)
        assert isinstance(sent.values, list)
        hot = {at: self.cut[key] for at, key in enumerate(sent.keys) if key in self.cut}
        whole: list[Any] = [(key, WHOLE) for key in sent.keys]
        if not hot:
            return Sent(whole, sent.codes, sent.values, sent.pieces)
        names = {(at, WHOLE): at for at in range(len(whole))}
        codes: list[int] = []
        places: list[int] = []
        for place, code in enumerate(sent.codes.tolist()):
            if code in hot:
                for part in self._parts(sent.values[place][1], hot[code]):
                    name = code, part
                    if name not in names:
                        names[name] = len(whole)
                        whole.append((sent.keys[code], part))
                    codes.append(names[name])
                    places.append(place)
            else:
                codes.append(code)
                places.append(place)
        values = [sent.values[place] for place in places]
        return used_only(whole, np.array(codes, np.int64), values, sent.pieces[np.array(places, np.int64)])

    def _parts(self, row: Row, hands: Hands) -> Sequence[int]:
        left, right = hands
        said = repr(row).encode("utf-8", "surrogatepass")
        hand = xxhash.xxh3_64_intdigest(said) % hands[self.rows.side or 0]
        if self.rows.side:
            return range(hand, left * right, right)
        return range(hand * right, (hand + 1) * right)


#: The part of keys that are not cut.
WHOLE = -1


@dataclass(frozen=True, slots=True)
class JoinParts:
    """Joins the rows of a part."""

    join: JoinRows

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        name, part = key
        join = self.join if part == WHOLE else replace(self.join, kind="inner")
        return join(name, values)
