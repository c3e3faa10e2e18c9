"""A plan to stages: jobs of the engine, chained through their results, run as they are compiled.

Contract: a stage's name is the digest of the plan node that it is for, so that it finds its earlier runs however the
rest of the query changed; its version says all that its results depend on besides its input. Whatever a stage needs
to know of its input's content (where ranges end, the value of a scalar) is the result of a stage before it, and part
of the version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.job import Reducer
from incoop.query.errors import BadPlan, QueryError
from incoop.query.execution import reducers
from incoop.query.execution.finishing import Finishing, chain_to_key, uses_of
from incoop.query.execution.held import Types
from incoop.query.execution.joining import Joining, key_form, said_of
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.ordering import Ordering
from incoop.query.execution.parquet_input import ParquetInput, ReadParquet
from incoop.query.execution.reading import PairShape, ReadPairs, ReadText
from incoop.query.execution.records import cut_by
from incoop.query.execution.relations import Branch, FewPairs, Relation
from incoop.query.execution.row_nodes import step_of
from incoop.query.execution.sessions import JobResult, RunsJobs
from incoop.query.execution.sinks import (
    AggregateRows,
    DistinctKeys,
    RowsByKey,
)
from incoop.query.execution.stages import LEAF_OF_ROWS, LEAF_OF_STATES, Sending, digest_of, said_hash, tag_of
from incoop.query.execution.states import MergedStates
from incoop.query.execution.steps import (
    CrossWith,
    ExpandRows,
    ForgetTypes,
    ProjectRows,
    ThroughFunction,
)
from incoop.query.execution.stream import Through
from incoop.query.execution.tagged_files import tagged_files
from incoop.query.expressions.nodes import Constant, Expression, Reference, Scalar
from incoop.query.functions.aggregates import Collect
from incoop.query.order import encoded
from incoop.query.partial import Aggregation, finished
from incoop.query.plan.digest import digest
from incoop.query.plan.node import Plan
from incoop.query.plan.several import Cogroup, Cross, Except, Intersect, Join, Union
from incoop.query.plan.single import (
    AggregateBy,
    DistinctRows,
    Expand,
    Filter,
    Generate,
    Limit,
    Project,
    Rank,
    Scan,
    Sort,
    Store,
    StreamThrough,
    TopK,
    WindowOver,
)
from incoop.query.sources.parquet import Parquet
from incoop.query.sources.tagged import TaggedText
from incoop.query.sources.text_format import TextFormat
from incoop.query.types import Row

#: Rows of a cross's smaller side: they travel to each task.
MOST_BROADCAST = 1_000_000

#: Pairs that become rows at once, where these are read here.
_PORTION = 4096


class Compiler(Ordering, Joining):
    """Runs the stages of a query's plans, each once."""

    def __init__(self, name: str, session: RunsJobs, inputs: Mapping[str, Any], outputs: Sequence[Plan] = ()) -> None:
        super().__init__(name, session)
        self._inputs = inputs
        self.uses = uses_of(outputs)
        self._relations: dict[bytes, Relation] = {}

    def finished(self, plan: Plan, result: JobResult, tags: frozenset[str], finishing: Finishing) -> Relation:
        """What a stage by key gave whose reducer did what stands above it."""
        tags |= {tag_of(plan), *(step.tag for step in finishing.steps)}
        return self.reduced(finishing.top, result, tags)

    def relation(self, plan: Plan) -> Relation:
        """Where a plan's rows are; stages below it have run."""
        name = digest(plan)
        known = self._relations.get(name)
        if known is None:
            known = self._relations[name] = self._made(plan)
        return known

    def stored(self, plan: Plan) -> tuple[Relation, Branch]:
        """The rows of a plan, stored as they are."""
        relation = self.relation(plan)
        branch = relation.stored
        if branch is None or isinstance(branch.input, FewPairs):
            relation = self.materialized(plan, relation)
            branch = relation.stored
        assert branch is not None
        return relation, branch

    def rows(self, plan: Plan) -> Iterator[Row]:
        """All rows of a plan, read here."""
        _, branch = self.stored(plan)
        return read_rows(branch)

    def _made(self, plan: Plan) -> Relation:
        for kinds, make in _MAKERS:
            if isinstance(plan, kinds):
                return make(self, plan)
        raise BadPlan(f"nothing is known of how to carry out {type(plan).__name__}.", plan.position)

    # Row by row.

    def _scan(self, plan: Scan) -> Relation:
        given = self._inputs.get(plan.name, plan.name)
        tag, types = tag_of(plan), plan.schema.types
        if isinstance(plan.format, TaggedText):  # stored, so that what stands above has one input, whichever files come
            return self.materialized(plan, tagged_files(plan, plan.format, given))
        if hasattr(given, "output_blocks"):
            if plan.format.schema.width != 2:
                raise BadPlan(
                    f"{plan.name!r} is a result of pairs, with two fields a row: key and value.", plan.position
                )
            kinds = plan.format.schema.types
            reading = ReadPairs(PairShape.PAIRS, kinds)
            relation = Relation((Branch(given, reading, b"pairs", tag),), kinds, frozenset([tag]))
            if plan.wanted is None or kinds is None:
                return relation
            results = tuple(Reference(at, kinds[at]) for at in plan.wanted)
            return relation.through(ProjectRows(tag, said_hash("project", *map(digest_of, results)), results), types)
        if isinstance(plan.format, Parquet):
            wanted = tuple(range(len(plan.format.known()))) if plan.wanted is None else plan.wanted
            source = ParquetInput(lambda: self._session.datasets, given, plan.format, wanted)
            branch = Branch(source, ReadParquet(plan.format, wanted), digest(plan), tag)
            return Relation((branch,), types, frozenset([tag]))
        if not isinstance(plan.format, TextFormat):
            raise BadPlan(f"nothing is known of how to read {type(plan.format).__name__}.", plan.position)
        first = ReadText(plan.format, plan.wanted, types, True) if getattr(plan.format, "header", False) else None
        branch = Branch(given, ReadText(plan.format, plan.wanted, types), digest(plan), tag, cut_by(plan.format), first)
        return Relation((branch,), types, frozenset([tag]))

    def _by_row(self, plan: Filter | Project | Generate) -> Relation:
        if isinstance(plan, Project) and (join := self.projected_join(plan)) is not None:
            return join
        if (found := chain_to_key(plan, self.uses)) is not None:
            chain, keyed = found
            finishing = Finishing(plan, tuple(step_of(each, self.resolved) for each in chain))
            if isinstance(keyed, Cogroup):
                return self._cogroup(keyed, finishing)
            assert isinstance(keyed, AggregateBy)
            return self._aggregate(keyed, finishing)
        below = self.relation(plan.input)
        most = None if isinstance(plan, Generate) else below.most
        return below.through(step_of(plan, self.resolved), plan.schema.types, most)

    def _expand(self, plan: Expand) -> Relation:
        projections = tuple(map(self.resolved, plan.projections))
        name = said_hash("expand", *([digest_of(each) for each in results] for results in projections))
        step = ExpandRows(tag_of(plan), name, projections)
        return self.relation(plan.input).through(step, plan.schema.types)

    def _store(self, plan: Store) -> Relation:
        return self.relation(plan.input)

    def _union(self, plan: Union) -> Relation:
        parts = [self.relation(each) for each in plan.inputs]
        if plan.schema.types is None:
            forget = ForgetTypes(tag_of(plan), b"forget types")
            parts = [part if part.types is None else part.through(forget, None, part.most) for part in parts]
        branches = tuple(branch for part in parts for branch in part.branches)
        return Relation(branches, plan.schema.types, frozenset().union(*(part.tags for part in parts)))

    def _cross(self, plan: Cross) -> Relation:
        left, right = self.relation(plan.left), self.relation(plan.right)
        before = left.most is not None and (right.most is None or left.most < right.most)
        small, large = (plan.left, right) if before else (plan.right, left)
        others: list[Row] = []
        for row in self.rows(small):
            others.append(row)
            if len(others) > MOST_BROADCAST:
                raise QueryError(
                    f"a cross takes at most {MOST_BROADCAST:,} rows on its smaller side, which is read as a whole. "
                    "Filter it before, limit it, or write a join.",
                    plan.position,
                )
        relation = Relation(large.branches, large.types, large.tags | self.relation(small).tags)
        name = said_hash("cross", before, *sorted(map(encoded, others)), *map(repr, others))
        return relation.through(
            CrossWith(tag_of(plan), name, tuple(others), plan.schema.types, before), plan.schema.types
        )

    def _stream(self, plan: StreamThrough) -> Relation:
        through = Through(plan.command, plan.sent, plan.received, str(plan.position or ""))
        step = ThroughFunction(tag_of(plan), said_hash("stream", digest(plan)), through, plan.schema.types)
        below = self.relation(plan.input).through(step, plan.schema.types)
        return self.materialized(plan, below, depends_on=through.files())

    # By key.

    def _aggregate(self, plan: AggregateBy, finishing: Finishing | None = None) -> Relation:
        keys = self.resolved(plan.keys)
        aggregations = tuple(Aggregation(each.aggregate, self.resolved(each.arguments)) for each in plan.aggregations)
        form = KeyForm(tuple(key.type for key in keys))
        rows = AggregateRows(keys, form, aggregations)
        aggregates = tuple(each.aggregate for each in aggregations)
        sink: AggregateRows | MergedStates = rows
        below = self.states_of_join(plan, rows)
        if below is not None:
            sink = MergedStates(aggregates, rows.counts)
        else:
            below = self.relation(plan.input)
        said = ("aggregate", [digest_of(key) for key in keys], [said_of(each) for each in aggregations])
        if sink.counts and keys:
            added = LawfulCombiner(reducers.add_up, Fold.SUM)
            result = self.stage(plan, "", [Sending(below, sink)], added, added, said, LEAF_OF_STATES)
            return self.reduced(plan, result, below.tags, PairShape.KEYS_AND_VALUE, form)
        combiner: Reducer | None = LawfulCombiner(reducers.MergeStates(aggregates))
        if any(isinstance(each, Collect) for each in aggregates):
            combiner = None  # bags do not get less
        if sink.counts:
            combiner = LawfulCombiner(reducers.add_up, Fold.SUM)
        finish: Reducer = reducers.CountOfAll() if sink.counts else reducers.FinishStates(aggregates, form)
        leaf = LEAF_OF_STATES if combiner is not None else LEAF_OF_ROWS
        if finishing is not None:
            finish = finishing.of(finish)
        result = self.stage(plan, "", [Sending(below, sink)], combiner, finish, said, leaf)
        if finishing is not None:
            return self.finished(plan, result, below.tags, finishing)
        if not keys and plan.row_of_nothing and not any(True for _ in result):
            row = finished(aggregations, tuple(each.initial() for each in aggregates))
            return self.few(plan, [(0, row)], below.tags)
        return self.reduced(plan, result, below.tags, most=None if keys else 1)

    def _distinct(self, plan: DistinctRows) -> Relation:
        below = self.relation(plan.input)
        form, keys = KeyForm(below.types), _fields(below.types)
        anything = LawfulCombiner(reducers.any_of, Fold.MAX)
        sendings = [Sending(below, DistinctKeys(keys, form))]
        result = self.stage(plan, "", sendings, anything, anything, ("distinct",), LEAF_OF_STATES)
        return self.reduced(plan, result, below.tags, PairShape.KEYS, form, below.most)

    def _of_two(self, plan: Intersect | Except) -> Relation:
        sides = [self.relation(plan.left), self.relation(plan.right)]
        types = sides[0].types if sides[0].types == sides[1].types else None
        form, keys = KeyForm(types), _fields(types)
        sendings = [Sending(each, DistinctKeys(keys, form, at)) for at, each in enumerate(sides)]
        intersects = isinstance(plan, Intersect)
        result = self.stage(
            *(plan, "", sendings, LawfulCombiner(reducers.add_sides)),
            *(reducers.RowsOfTwo(intersects, plan.all, form), ("of two", intersects, plan.all), LEAF_OF_STATES),
        )
        return self.reduced(plan, result, sides[0].tags | sides[1].tags, types=plan.schema.types)

    def _cogroup(self, plan: Cogroup, finishing: Finishing | None = None) -> Relation:
        sides = [self.relation(each) for each in plan.inputs]
        keys = [self.resolved(each) for each in plan.keys]
        form = key_form(keys, plan.nulls_apart and len(sides) > 1)
        sendings = [
            Sending(side, RowsByKey(each, form, at if len(sides) > 1 else None))
            for at, (side, each) in enumerate(zip(sides, keys, strict=True))
        ]
        reducer: Reducer = reducers.BagsOfKey(len(sides), plan.required, form)
        if finishing is not None:
            reducer = finishing.of(reducer)
        said = ("cogroup", plan.required, plan.nulls_apart, [list(map(digest_of, each)) for each in keys])
        result = self.stage(plan, "", sendings, None, reducer, said, LEAF_OF_ROWS)
        tags = frozenset().union(*(side.tags for side in sides))
        if finishing is not None:
            return self.finished(plan, result, tags, finishing)
        return self.reduced(plan, result, tags)

    def _window(self, plan: WindowOver) -> Relation:
        below = self.relation(plan.input)
        partition, keys = self.resolved(plan.partition), self.resolved(plan.keys)
        aggregations = tuple(Aggregation(each.aggregate, self.resolved(each.arguments)) for each in plan.aggregations)
        form = KeyForm(tuple(each.type for each in partition))
        reducer = reducers.WindowRows(keys, plan.directions, aggregations, plan.running, tag_of(plan))
        said = (
            *("window", plan.running, plan.directions, list(map(digest_of, partition)), list(map(digest_of, keys))),
            *map(said_of, aggregations),
        )
        result = self.stage(plan, "", [Sending(below, RowsByKey(partition, form))], None, reducer, said, LEAF_OF_ROWS)
        return self.reduced(plan, result, below.tags)

    # Scalars.

    def resolved(self, expressions: Iterable[Expression]) -> tuple[Expression, ...]:
        return tuple(map(self._resolved, expressions))

    def _resolved(self, expression: Expression) -> Expression:
        """The expression with the values of other plans in place of these, computed now."""
        if isinstance(expression, Scalar):
            found: list[Row] = []
            for row in self.rows(expression.plan):
                found.append(row)
                if len(found) > 1:
                    raise QueryError(
                        "a relation that is used as a value has more than one row. Aggregate it, or limit it to one.",
                        expression.position or expression.plan.position,
                    )
            value = found[0][expression.index] if found and expression.index < len(found[0]) else None
            return Constant(value, expression.kind, position=expression.position)
        return expression.rebuilt(self._resolved, self._resolved)


def _fields(types: Types) -> tuple[Expression, ...]:
    return tuple(Reference(at, kind) for at, kind in enumerate(types or ()))


def read_rows(branch: Branch) -> Iterator[Row]:
    """The rows of a stored relation; those of an ordered one in their order."""
    assert isinstance(branch.reading, ReadPairs)
    reading = branch.reading
    if reading.shape is PairShape.RANGES:
        pairs = branch.input.pairs if isinstance(branch.input, FewPairs) else branch.input
        for _, rows in sorted(pairs, key=lambda pair: pair[0]):
            yield from rows
        return
    pairs = iter(branch.input.pairs if isinstance(branch.input, FewPairs) else branch.input)
    while portion := list(islice(pairs, _PORTION)):
        yield from reading.rows(portion)


Maker = Callable[[Compiler, Any], Relation]
_MAKERS: tuple[tuple[Any, Maker], ...] = (
    (Scan, Compiler._scan),
    (Filter | Project | Generate, Compiler._by_row),
    (Expand, Compiler._expand),
    (Store, Compiler._store),
    (Union, Compiler._union),
    (Cross, Compiler._cross),
    (StreamThrough, Compiler._stream),
    (AggregateBy, Compiler._aggregate),
    (DistinctRows, Compiler._distinct),
    (Intersect, Compiler._of_two),
    (Except, Compiler._of_two),
    (Cogroup, Compiler._cogroup),
    (Join, Compiler.join),
    (WindowOver, Compiler._window),
    (Sort, Compiler.sort),
    (TopK, Compiler.top_k),
    (Limit, Compiler.limit),
    (Rank, Compiler.rank),
)
