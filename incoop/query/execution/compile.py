"""A plan to stages: jobs of the engine, chained through their results, run as they are compiled.

Contract: a stage's name is the digest of the plan node that it is for, so that it finds its earlier runs however the
rest of the query changed; its version says all that its results depend on besides its input. Whatever a stage needs
to know of its input's content (where ranges end, the value of a scalar) is the result of a stage before it, and part
of the version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from incoop.base.content_ids import content_id
from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.engine.chosen import Choice, ChosenChunks, ChunkTable, OneLook
from incoop.engine.failures import JobFailed
from incoop.engine.stages.map_contract.mapping import PiecesMapper
from incoop.inchdfs.cutting.records import Lines
from incoop.job import Job, Reducer
from incoop.query.errors import BadPlan, QueryError
from incoop.query.execution import reducers
from incoop.query.execution.held import Types
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.mapper import BranchMapper
from incoop.query.execution.reading import PairShape, ReadPairs, ReadText
from incoop.query.execution.records import cut_by
from incoop.query.execution.relations import Branch, FewPairs, Relation
from incoop.query.execution.sessions import JobResult, RunsJobs
from incoop.query.execution.sinks import (
    MOST_ENDS,
    AggregateRows,
    CountRanges,
    DistinctKeys,
    FirstRows,
    RowsByKey,
    RowsByRange,
    Sink,
    SketchOrder,
    StoreRanges,
    StoreRows,
)
from incoop.query.execution.steps import (
    CrossWith,
    ExpandRows,
    FilterRows,
    GenerateRows,
    NumberRows,
    ProjectRows,
    ThroughFunction,
)
from incoop.query.execution.stream import Through
from incoop.query.expressions.nodes import Constant, Expression, Reference, Scalar
from incoop.query.functions.aggregates import Collect
from incoop.query.order import Direction, encoded
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
from incoop.query.types import Row, Type

#: Part of every version: what execution makes of a plan, and how it is stored. Another meaning, another number.
EXECUTION_VERSION = 1

#: Average bytes of a leaf, which an edit maps again. Pieces of rows are looked at many at once, but each has states of
#: its own; rows by key are kept one by one, whatever their piece.
LEAF_OF_STATES, LEAF_OF_ROWS, LEAF_OF_FEW = 32 << 10, 8 << 10, 64 << 10

#: Rows of a range, on average, so that sorting one again takes some hundredths of a second.
ROWS_OF_A_RANGE = 4096

#: Rows of a cross's smaller side: they travel to each task.
MOST_BROADCAST = 1_000_000

#: First rows are kept by each node of the tree; of more than so many, a sort is kept in its place.
MOST_FIRST = 10_000


@dataclass(frozen=True, slots=True)
class StageRan:
    """One stage of a query."""

    #: The plan node that it is for, and what of it the stage does.
    node: Plan
    role: str
    result: JobResult


@dataclass(slots=True)
class Sending:
    """One input of a stage."""

    relation: Relation
    sink: Sink


class Compiler:
    """Runs the stages of a query's plans, each once."""

    def __init__(self, name: str, session: RunsJobs, inputs: Mapping[str, Any]) -> None:
        self._name, self._session, self._inputs = name, session, inputs
        self._relations: dict[bytes, Relation] = {}
        self.ran: list[StageRan] = []
        #: Warnings, by the name of the node and the kind.
        self.counted: dict[str, int] = {}

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
            relation = self._materialized(plan, relation)
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
        tag, types = _tag(plan), plan.schema.types
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
            return relation.through(ProjectRows(tag, _hash("project", *map(digest_of, results)), results), types)
        first = ReadText(plan.format, plan.wanted, types, True) if getattr(plan.format, "header", False) else None
        branch = Branch(given, ReadText(plan.format, plan.wanted, types), digest(plan), tag, cut_by(plan.format), first)
        return Relation((branch,), types, frozenset([tag]))

    def _filter(self, plan: Filter) -> Relation:
        below = self.relation(plan.input)
        condition = self._resolved(plan.condition)
        return below.through(
            FilterRows(_tag(plan), _hash("filter", digest_of(condition)), condition), below.types, below.most
        )

    def _project(self, plan: Project) -> Relation:
        below = self.relation(plan.input)
        results = self._all_resolved(plan.results)
        step = ProjectRows(_tag(plan), _hash("project", *map(digest_of, results)), results)
        return below.through(step, plan.schema.types, below.most)

    def _generate(self, plan: Generate) -> Relation:
        results = self._all_resolved(plan.results)
        name = _hash("generate", plan.flatten, *map(digest_of, results))
        step = GenerateRows(_tag(plan), name, results, plan.flatten, plan.schema.types)
        return self.relation(plan.input).through(step, plan.schema.types)

    def _expand(self, plan: Expand) -> Relation:
        projections = tuple(map(self._all_resolved, plan.projections))
        name = _hash("expand", *([digest_of(each) for each in results] for results in projections))
        step = ExpandRows(_tag(plan), name, projections)
        return self.relation(plan.input).through(step, plan.schema.types)

    def _store(self, plan: Store) -> Relation:
        return self.relation(plan.input)

    def _union(self, plan: Union) -> Relation:
        parts = [self.relation(each) for each in plan.inputs]
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
        name = _hash("cross", before, *sorted(map(encoded, others)), *map(repr, others))
        return relation.through(
            CrossWith(_tag(plan), name, tuple(others), plan.schema.types, before), plan.schema.types
        )

    def _stream(self, plan: StreamThrough) -> Relation:
        through = Through(plan.command, plan.sent, plan.received, str(plan.position or ""))
        step = ThroughFunction(_tag(plan), _hash("stream", digest(plan)), through, plan.schema.types)
        below = self.relation(plan.input).through(step, plan.schema.types)
        return self._materialized(plan, below, depends_on=through.files())

    # By key.

    def _aggregate(self, plan: AggregateBy) -> Relation:
        below = self.relation(plan.input)
        keys = self._all_resolved(plan.keys)
        aggregations = tuple(
            Aggregation(each.aggregate, self._all_resolved(each.arguments)) for each in plan.aggregations
        )
        form = KeyForm(tuple(key.type for key in keys))
        sink = AggregateRows(keys, form, aggregations)
        aggregates = tuple(each.aggregate for each in aggregations)
        said = ("aggregate", [digest_of(key) for key in keys], [_said(each) for each in aggregations])
        if sink.counts and keys:
            added = LawfulCombiner(reducers.add_up, Fold.SUM)
            result = self._stage(plan, "", [Sending(below, sink)], added, added, said, LEAF_OF_STATES)
            return self._reduced(plan, result, below.tags, PairShape.KEYS_AND_VALUE, form)
        combiner: Reducer | None = LawfulCombiner(reducers.MergeStates(aggregates))
        if any(isinstance(each, Collect) for each in aggregates):
            combiner = None  # bags do not get less
        if sink.counts:
            combiner = LawfulCombiner(reducers.add_up, Fold.SUM)
        finish: Reducer = CountOfAll() if sink.counts else reducers.FinishStates(aggregates, form)
        leaf = LEAF_OF_STATES if combiner is not None else LEAF_OF_ROWS
        result = self._stage(plan, "", [Sending(below, sink)], combiner, finish, said, leaf)
        if not keys and plan.row_of_nothing and not any(True for _ in result):
            row = finished(aggregations, tuple(each.initial() for each in aggregates))
            return self._few(plan, [(0, row)], below.tags)
        return self._reduced(plan, result, below.tags, most=None if keys else 1)

    def _distinct(self, plan: DistinctRows) -> Relation:
        below = self.relation(plan.input)
        form, keys = KeyForm(below.types), _fields(below.types)
        anything = LawfulCombiner(reducers.any_of, Fold.MAX)
        sendings = [Sending(below, DistinctKeys(keys, form))]
        result = self._stage(plan, "", sendings, anything, anything, ("distinct",), LEAF_OF_STATES)
        return self._reduced(plan, result, below.tags, PairShape.KEYS, form, below.most)

    def _of_two(self, plan: Intersect | Except) -> Relation:
        sides = [self.relation(plan.left), self.relation(plan.right)]
        types = sides[0].types if sides[0].types == sides[1].types else None
        form, keys = KeyForm(types), _fields(types)
        sendings = [Sending(each, DistinctKeys(keys, form, at)) for at, each in enumerate(sides)]
        intersects = isinstance(plan, Intersect)
        result = self._stage(
            *(plan, "", sendings, LawfulCombiner(reducers.add_sides)),
            *(reducers.RowsOfTwo(intersects, plan.all, form), ("of two", intersects, plan.all), LEAF_OF_STATES),
        )
        return self._reduced(plan, result, sides[0].tags | sides[1].tags, types=plan.schema.types)

    def _cogroup(self, plan: Cogroup) -> Relation:
        sides = [self.relation(each) for each in plan.inputs]
        keys = [self._all_resolved(each) for each in plan.keys]
        form = _key_form(keys, plan.nulls_apart and len(sides) > 1)
        sendings = [
            Sending(side, RowsByKey(each, form, at if len(sides) > 1 else None))
            for at, (side, each) in enumerate(zip(sides, keys, strict=True))
        ]
        reducer = reducers.BagsOfKey(len(sides), plan.required, form)
        said = ("cogroup", plan.required, plan.nulls_apart, [list(map(digest_of, each)) for each in keys])
        result = self._stage(plan, "", sendings, None, reducer, said, LEAF_OF_ROWS)
        return self._reduced(plan, result, frozenset().union(*(side.tags for side in sides)))

    def _join(self, plan: Join) -> Relation:
        sides = [self.relation(plan.left), self.relation(plan.right)]
        keys = [self._all_resolved(plan.left_keys), self._all_resolved(plan.right_keys)]
        apart = not plan.nulls_match
        form = _key_form(keys, apart and plan.kind in ("left", "right", "full", "anti"))
        stays = {"left": (0,), "anti": (0,), "right": (1,), "full": (0, 1)}.get(plan.kind, ())
        sendings = [
            Sending(side, RowsByKey(each, form, at, apart and at not in stays))
            for at, (side, each) in enumerate(zip(sides, keys, strict=True))
        ]
        widths = (plan.left.schema.width or 0, plan.right.schema.width or 0)
        reducer = reducers.JoinRows(plan.kind, *widths, form)
        said = ("join", plan.kind, plan.nulls_match, widths, [list(map(digest_of, each)) for each in keys])
        result = self._stage(plan, "", sendings, None, reducer, said, LEAF_OF_ROWS)
        return self._reduced(plan, result, sides[0].tags | sides[1].tags)

    def _window(self, plan: WindowOver) -> Relation:
        below = self.relation(plan.input)
        partition, keys = self._all_resolved(plan.partition), self._all_resolved(plan.keys)
        aggregations = tuple(
            Aggregation(each.aggregate, self._all_resolved(each.arguments)) for each in plan.aggregations
        )
        form = KeyForm(tuple(each.type for each in partition))
        reducer = reducers.WindowRows(keys, plan.directions, aggregations, plan.running, _tag(plan))
        said = (
            *("window", plan.running, plan.directions, list(map(digest_of, partition)), list(map(digest_of, keys))),
            *map(_said, aggregations),
        )
        result = self._stage(plan, "", [Sending(below, RowsByKey(partition, form))], None, reducer, said, LEAF_OF_ROWS)
        return self._reduced(plan, result, below.tags)

    # In an order.

    def _sort(self, plan: Sort) -> Relation:
        return self._sorted(plan, plan.input, self._all_resolved(plan.keys), plan.directions, by_key=False)

    def _sorted(
        self, plan: Plan, input: Plan, keys: tuple[Expression, ...], directions: tuple[Direction, ...], by_key: bool
    ) -> Relation:
        """Ranges of rows: where they end is found first, from a sample that depends on the rows alone."""
        below = self.relation(input)
        said = ("sort", by_key, directions, list(map(digest_of, keys)))
        merge = LawfulCombiner(reducers.merge_sketches)
        sketch = SketchOrder(keys, directions, by_key)
        sampled = self._stage(plan, "sample", [Sending(below, sketch)], merge, merge, said, LEAF_OF_FEW)
        ends = range_ends([value for _, value in sampled])
        result = self._stage(
            *(plan, "ranges", [Sending(below, RowsByRange(keys, directions, by_key, ends))], None),
            *(reducers.SortRange(keys, directions), (*said, ends), LEAF_OF_ROWS),
        )
        return self._reduced(plan, result, below.tags, PairShape.RANGES, types=below.types)

    def _top_k(self, plan: TopK) -> Relation:
        keys = self._all_resolved(plan.keys)
        if plan.count > MOST_FIRST:
            ranges = self._sorted(plan, plan.input, keys, plan.directions, by_key=False)
            return self._first(plan, ranges, None, (), plan.count, 0)
        return self._first(plan, self.relation(plan.input), keys, plan.directions, plan.count, 0)

    def _limit(self, plan: Limit) -> Relation:
        below = self.relation(plan.input)
        if plan.input.ordered:
            return self._first(plan, below, None, (), plan.count, plan.offset)
        if plan.count + plan.offset > MOST_FIRST:
            ranges = self._sorted(plan, plan.input, (), (), by_key=False)
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
        result = self._stage(plan, "first", [Sending(below, sink)], keep, first, said, LEAF_OF_FEW)
        return self._reduced(plan, result, below.tags, PairShape.RANGES, types=below.types, most=count)

    def _rank(self, plan: Rank) -> Relation:
        keys = self._all_resolved(plan.keys)
        if plan.keys:
            below = self._sorted(plan, plan.input, keys, plan.directions, by_key=True)
        elif plan.input.ordered:
            below = self.relation(plan.input)
        else:
            below = self._sorted(plan, plan.input, (), (), by_key=False)
        named = list(map(digest_of, keys))
        counts = self._stage(plan, "counts", [Sending(below, CountRanges(keys))], None, None, ("counts", named), 0)
        before: dict[int, int] = {}
        total = 0
        for number, (rows, names) in sorted(counts):
            before[number] = total
            total += names if plan.dense else rows
        types = plan.schema.types
        name = _hash("rank", plan.dense, sorted(before.items()), named)
        step = NumberRows(_tag(plan), name, keys, plan.dense, before, types)
        return below.through(step, types)

    # Stages.

    def _stage(
        self,
        plan: Plan,
        role: str,
        sendings: Sequence[Sending],
        combiner: Reducer | None,
        reducer: Reducer | None,
        said: tuple[Any, ...],
        leaf: int,
        depends_on: Sequence[str] = (),
        whole: bool = False,
    ) -> JobResult:
        """Run a job; `said` is all that its functions depend on besides what branches say."""
        sendings = self._of_one_format(plan, sendings)
        mappers: dict[str, Any] = {}
        inputs: dict[str, Any] = {}
        records: set[Any] = set()
        for sending in sendings:
            for branch in sending.relation.branches:
                for mapper, given in _mappers(plan, branch, sending.sink, whole):
                    name = str(len(mappers))
                    mappers[name], inputs[name] = mapper, given
                if branch.records is not None:
                    records.add(branch.records)
        job = Job(
            *(self._name, mappers, reducer, combiner),
            version=_hash(EXECUTION_VERSION, said).hex(),
            depends_on=depends_on,
            records=records.pop() if records else Lines(),
            leaf=leaf or None,
            stage=f"{_tag(plan)} {role}".strip(),
        )
        result = self._run(plan, role, job, inputs)
        self.counted.update(result.report.counters)
        return result

    def _run(self, plan: Plan, role: str, job: Job, inputs: Mapping[str, Any]) -> JobResult:
        try:
            result = self._session.run(job, inputs)
        except JobFailed as failed:
            if isinstance(failed.cause, QueryError | reducers.TooManyRows):
                raise failed.cause from failed
            raise
        self.ran.append(StageRan(plan, role, result))
        return result

    def _of_one_format(self, plan: Plan, sendings: Sequence[Sending]) -> Sequence[Sending]:
        """Files of a job are cut in one way: those that are cut in another are stored as rows first."""
        formats = {branch.records for each in sendings for branch in each.relation.branches if branch.records}
        if len(formats) <= 1:
            return sendings
        kept = min(formats, key=repr)
        found = []
        for number, each in enumerate(sendings):
            branches = tuple(
                branch
                if branch.records in (None, kept)
                else self._stored_branch(plan, branch, each.relation, f"rows {number} {at}")
                for at, branch in enumerate(each.relation.branches)
            )
            found.append(Sending(replace(each.relation, branches=branches), each.sink))
        return found

    def _stored_branch(self, plan: Plan, branch: Branch, relation: Relation, role: str) -> Branch:
        alone = replace(relation, branches=(branch,))
        result = self._stage(plan, role, [Sending(alone, StoreRows())], None, None, ("rows",), 0)
        (stored,) = self._reduced(plan, result, relation.tags, types=relation.types).branches
        return stored

    def _materialized(self, plan: Plan, relation: Relation, depends_on: Sequence[str] = ()) -> Relation:
        """A relation's rows, stored."""
        ranges = all(
            isinstance(branch.reading, ReadPairs) and branch.reading.shape is PairShape.RANGES
            for branch in relation.branches
        )
        ordered = plan.ordered and ranges
        sink: Sink = StoreRanges() if ordered else StoreRows()
        streams = any(isinstance(step, ThroughFunction) for branch in relation.branches for step in branch.steps)
        result = self._stage(
            plan, "rows", [Sending(relation, sink)], None, None, ("rows", ordered), 0, depends_on, streams
        )
        shape = PairShape.RANGES if ordered else PairShape.ROWS
        return self._reduced(plan, result, relation.tags, shape, types=relation.types, most=relation.most)

    def _reduced(
        self,
        plan: Plan,
        result: Any,
        tags: frozenset[str],
        shape: PairShape = PairShape.ROWS,
        form: KeyForm | None = None,
        most: int | None = None,
        types: Types = None,
    ) -> Relation:
        """What a stage gave."""
        known = types if types is not None else plan.schema.types
        reading = ReadPairs(shape, known, form)
        said = _hash("pairs", shape.value, form)
        return Relation((Branch(result, reading, said, _tag(plan)),), known, tags | {_tag(plan)}, most)

    def _few(self, plan: Plan, pairs: Sequence[Any], tags: frozenset[str]) -> Relation:
        return self._reduced(plan, FewPairs(pairs), tags, most=len(pairs))

    # Scalars.

    def _all_resolved(self, expressions: Iterable[Expression]) -> tuple[Expression, ...]:
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


@dataclass(frozen=True, slots=True)
class CountOfAll:
    """A row of the number of all rows."""

    def __call__(self, key: Any, values: Iterable[int]) -> Iterable[tuple[Any, Any]]:
        return [(0, (sum(values),))]


def _tag(plan: Plan) -> str:
    return digest(plan).hex()[:16]


def digest_of(expression: Expression) -> str:
    return digest(expression).hex()  # type: ignore[arg-type]


def _said(aggregation: Aggregation) -> tuple[Any, ...]:
    return repr(aggregation.aggregate), [digest_of(each) for each in aggregation.arguments]


def _hash(*parts: Any) -> bytes:
    return content_id(repr(parts).encode("utf-8", "surrogatepass"))


def _fields(types: Types) -> tuple[Expression, ...]:
    return tuple(Reference(at, kind) for at, kind in enumerate(types or ()))


def _key_form(keys: Sequence[tuple[Expression, ...]], marked: bool) -> KeyForm:
    """One form for the keys of all inputs."""
    kinds: list[Type] = []
    for several in zip(*keys, strict=True):
        types = {each.type for each in several}
        kinds.append(types.pop() if len(types) == 1 else _anything(several))
    return KeyForm(tuple(kinds), marked)


def _anything(several: Sequence[Expression]) -> Type:
    """Types that differ where nothing is known of one of them: keys are encoded."""
    from incoop.query.types import TupleType

    return TupleType(None)


def range_ends(sketches: Sequence[Any]) -> tuple[bytes, ...]:
    """What ends ranges: as many of the sample, with the smallest hashes, as there should be."""
    if not sketches:
        return ()
    ((count, sample),) = sketches
    wanted = 0
    while wanted < MOST_ENDS and (2 * wanted + 2) * ROWS_OF_A_RANGE <= count:
        wanted = 2 * wanted + 1
    return tuple(sorted(name for _, name in sample[:wanted]))


def _mappers(plan: Plan, branch: Branch, sink: Sink, whole: bool) -> Iterator[tuple[PiecesMapper, Any]]:
    """The mappers of a branch, each with its input: chunks that begin files may be read in another way."""
    sent = digest(plan)

    def mapper(reading: Any, said: str, takes_whole: bool) -> PiecesMapper:
        version = _hash(said, branch.digest, [each.digest for each in branch.steps], sink_said(sink), sent).hex()
        return PiecesMapper(BranchMapper(reading, branch.steps, sink, branch.tag, _tag(plan)), version, takes_whole)

    if branch.first is None:
        yield mapper(branch.reading, "", whole), branch.input
        return
    look = OneLook()
    yield mapper(branch.reading, "", whole), ChosenChunks(branch.input, _behind_first, look)
    yield mapper(branch.first, "first", True), ChosenChunks(branch.input, _first_of_files, look)


def sink_said(sink: Sink) -> str:
    """What tells apart the sinks of one stage; what they have in common is in the job's version."""
    return f"{type(sink).__name__} {getattr(sink, 'side', None)}"


def _firsts(table: ChunkTable) -> Any:
    import numpy as np

    counts = np.array([count for _, count in table.files], np.int64)
    return (np.cumsum(counts) - counts)[counts > 0]


def _first_of_files(table: ChunkTable) -> Choice:
    return Choice(_firsts(table))


def _behind_first(table: ChunkTable) -> Choice:
    import numpy as np

    return Choice(np.setdiff1d(np.arange(len(table.rows)), _firsts(table)))


def read_rows(branch: Branch) -> Iterator[Row]:
    """The rows of a stored relation; those of an ordered one in their order."""
    assert isinstance(branch.reading, ReadPairs)
    reading = branch.reading
    if reading.shape is PairShape.RANGES:
        pairs = branch.input.pairs if isinstance(branch.input, FewPairs) else branch.input
        for _, rows in sorted(pairs, key=lambda pair: pair[0]):
            yield from rows
        return
    for pair in branch.input.pairs if isinstance(branch.input, FewPairs) else branch.input:
        yield from reading.rows([pair])


Maker = Callable[[Compiler, Any], Relation]
_MAKERS: tuple[tuple[type[Plan], Maker], ...] = (
    (Scan, Compiler._scan),
    (Filter, Compiler._filter),
    (Project, Compiler._project),
    (Generate, Compiler._generate),
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
    (Join, Compiler._join),
    (WindowOver, Compiler._window),
    (Sort, Compiler._sort),
    (TopK, Compiler._top_k),
    (Limit, Compiler._limit),
    (Rank, Compiler._rank),
)
