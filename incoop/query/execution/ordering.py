"""Relations in an order: sorts by ranges, first rows, ranks.

Contract: where ranges end follows from the rows alone, never from what ran before. What a stage needs to know of it is
the result of a stage before it, and part of its version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.query.execution import reducers
from incoop.query.execution.reading import PairShape
from incoop.query.execution.relations import Relation
from incoop.query.execution.sinks import MOST_ENDS, CountRanges, FirstRows, RowsByRange, SketchOrder
from incoop.query.execution.stages import LEAF_OF_FEW, LEAF_OF_ROWS, Sending, Stages, digest_of, said_hash, tag_of
from incoop.query.execution.steps import NumberRows
from incoop.query.expressions.nodes import Expression
from incoop.query.order import Direction
from incoop.query.plan.node import Plan
from incoop.query.plan.single import Limit, Rank, Sort, TopK

#: Rows of a range, on average, so that sorting one again takes some hundredths of a second.
ROWS_OF_A_RANGE = 4096

#: First rows are kept by each node of the tree; of more than so many, a sort is kept in its place.
MOST_FIRST = 10_000


class Ordering(Stages):
    """Carries out what has an order."""

    def sort(self, plan: Sort) -> Relation:
        return self.in_ranges(plan, plan.input, self.resolved(plan.keys), plan.directions, by_key=False)

    def in_ranges(
        self, plan: Plan, input: Plan, keys: tuple[Expression, ...], directions: tuple[Direction, ...], by_key: bool
    ) -> Relation:
        """Ranges of rows: where they end is found first, from a sample that depends on the rows alone."""
        below = self.relation(input)
        said = ("sort", by_key, directions, list(map(digest_of, keys)))
        merge = LawfulCombiner(reducers.merge_sketches)
        sketch = SketchOrder(keys, directions, by_key)
        sampled = self.stage(plan, "sample", [Sending(below, sketch)], merge, merge, said, LEAF_OF_FEW)
        ends = range_ends([value for _, value in sampled])
        result = self.stage(
            *(plan, "ranges", [Sending(below, RowsByRange(keys, directions, by_key, ends))], None),
            *(reducers.SortRange(keys, directions), (*said, ends), LEAF_OF_ROWS),
        )
        return self.reduced(plan, result, below.tags, PairShape.RANGES, types=below.types)

    def top_k(self, plan: TopK) -> Relation:
        keys = self.resolved(plan.keys)
        if plan.count > MOST_FIRST:
            ranges = self.in_ranges(plan, plan.input, keys, plan.directions, by_key=False)
            return self._first(plan, ranges, None, (), plan.count, 0)
        return self._first(plan, self.relation(plan.input), keys, plan.directions, plan.count, 0)

    def limit(self, plan: Limit) -> Relation:
        below = self.relation(plan.input)
        if plan.input.ordered:
            return self._first(plan, below, None, (), plan.count, plan.offset)
        if plan.count + plan.offset > MOST_FIRST:
            ranges = self.in_ranges(plan, plan.input, (), (), by_key=False)
            return self._first(plan, ranges, None, (), plan.count, plan.offset)
        return self._first(plan, below, (), (), plan.count, plan.offset)

    def _first(
        self,
        plan: Plan,
        below: Relation,
        keys: tuple[Expression, ...] | None,
        directions: tuple[Direction, ...],
        count: int,
        offset: int,
    ) -> Relation:
        """The first rows, each node of the tree keeping its own."""
        sink = FirstRows(count + offset, keys, directions)
        said = ("first", count, offset, directions, None if keys is None else list(map(digest_of, keys)))
        keep = LawfulCombiner(reducers.KeepFirst(count + offset))
        first = reducers.FirstOfAll(count, offset)
        result = self.stage(plan, "first", [Sending(below, sink)], keep, first, said, LEAF_OF_FEW)
        return self.reduced(plan, result, below.tags, PairShape.RANGES, types=below.types, most=count)

    def rank(self, plan: Rank) -> Relation:
        keys = self.resolved(plan.keys)
        if plan.keys:
            below = self.in_ranges(plan, plan.input, keys, plan.directions, by_key=True)
        elif plan.input.ordered:
            below = self.relation(plan.input)
        else:
            below = self.in_ranges(plan, plan.input, (), (), by_key=False)
        named = list(map(digest_of, keys))
        counts = self.stage(plan, "counts", [Sending(below, CountRanges(keys))], None, None, ("counts", named), 0)
        before: dict[int, int] = {}
        total = 0
        for number, (rows, names) in sorted(counts):
            before[number] = total
            total += names if plan.dense else rows
        types = plan.schema.types
        name = said_hash("rank", plan.dense, sorted(before.items()), named)
        step = NumberRows(tag_of(plan), name, keys, plan.dense, before, types)
        return below.through(step, types)


def range_ends(sketches: Sequence[Any]) -> tuple[bytes, ...]:
    """What ends ranges: as many of the sample, with the smallest hashes, as there should be."""
    if not sketches:
        return ()
    ((count, sample),) = sketches
    wanted = 0
    while wanted < MOST_ENDS and (2 * wanted + 2) * ROWS_OF_A_RANGE <= count:
        wanted = 2 * wanted + 1
    return tuple(sorted(name for _, name in sample[:wanted]))
