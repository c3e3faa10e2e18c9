"""Stages of a query: jobs of the engine, run one by one.

Contract: a stage's name is the digest of the plan node that it is for, so that it finds its earlier runs however the
rest of the query changed; its version says all that its results depend on besides its input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incoop.base.content_ids import content_id
from incoop.engine.chosen import Choice, ChosenChunks, ChunkTable, OneLook
from incoop.engine.failures import JobFailed
from incoop.engine.stages.map_contract.mapping import PiecesMapper
from incoop.inchdfs.cutting.records import Lines
from incoop.job import Job, Reducer
from incoop.query.errors import QueryError
from incoop.query.execution.held import Types
from incoop.query.execution.keys import KeyForm
from incoop.query.execution.mapper import BranchMapper
from incoop.query.execution.reading import PairShape, ReadPairs
from incoop.query.execution.reducers import TooManyRows
from incoop.query.execution.relations import Branch, FewPairs, Relation
from incoop.query.execution.sessions import JobResult, RunsJobs
from incoop.query.execution.sinks import Sink, StoreRanges, StoreRows
from incoop.query.execution.steps import ThroughFunction
from incoop.query.expressions.nodes import Expression
from incoop.query.plan.digest import digest
from incoop.query.plan.node import Plan

#: Part of every version: what execution makes of a plan, and how it is stored. Another meaning, another number.
EXECUTION_VERSION = 3

#: Average bytes of a leaf, which an edit maps again. Pieces of rows are looked at many at once, but each has states of
#: its own; rows by key are kept one by one, whatever their piece.
LEAF_OF_STATES, LEAF_OF_ROWS, LEAF_OF_FEW = 32 << 10, 8 << 10, 64 << 10


@dataclass(frozen=True, slots=True)
class StageRan:
    """One stage of a query."""

    #: The plan node that it is for, and what of it the stage does.
    node: Plan
    role: str
    #: What it goes by in the query.
    name: str
    result: JobResult


@dataclass(slots=True)
class Sending:
    """One input of a stage."""

    relation: Relation
    sink: Sink


class Stages(ABC):
    """Runs jobs for plan nodes."""

    def __init__(self, name: str, session: RunsJobs) -> None:
        self._name, self._session = name, session
        self.ran: list[StageRan] = []
        #: Warnings, by the name of the node and the kind.
        self.counted: dict[str, int] = {}

    @abstractmethod
    def relation(self, plan: Plan) -> Relation:
        """Where a plan's rows are; stages below it have run."""

    @abstractmethod
    def resolved(self, expressions: Iterable[Expression]) -> tuple[Expression, ...]:
        """Expressions with the values of other plans in place of these."""

    def stage(
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
            version=said_hash(EXECUTION_VERSION, said).hex(),
            depends_on=depends_on,
            records=records.pop() if records else Lines(),
            leaf=leaf or None,
            stage=f"{tag_of(plan)} {role}".strip(),
        )
        result = self._run(plan, role, job, inputs)
        self.counted.update(result.report.counters)
        return result

    def _run(self, plan: Plan, role: str, job: Job, inputs: Mapping[str, Any]) -> JobResult:
        try:
            result = self._session.run(job, inputs)
        except JobFailed as failed:
            if isinstance(failed.cause, QueryError | TooManyRows):
                raise failed.cause from failed
            raise
        self.ran.append(StageRan(plan, role, job.stage, result))
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
        result = self.stage(plan, role, [Sending(alone, StoreRows())], None, None, ("rows",), 0)
        (stored,) = self.reduced(plan, result, relation.tags, types=relation.types).branches
        return stored

    def materialized(self, plan: Plan, relation: Relation, depends_on: Sequence[str] = ()) -> Relation:
        """A relation's rows, stored."""
        ranges = all(
            isinstance(branch.reading, ReadPairs) and branch.reading.shape is PairShape.RANGES
            for branch in relation.branches
        )
        ordered = plan.ordered and ranges
        sink: Sink = StoreRanges() if ordered else StoreRows()
        streams = any(isinstance(step, ThroughFunction) for branch in relation.branches for step in branch.steps)
        result = self.stage(
            plan, "rows", [Sending(relation, sink)], None, None, ("rows", ordered), 0, depends_on, streams
        )
        shape = PairShape.RANGES if ordered else PairShape.ROWS
        return self.reduced(plan, result, relation.tags, shape, types=relation.types, most=relation.most)

    def reduced(
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
        said = said_hash("pairs", shape.value, form)
        return Relation((Branch(result, reading, said, tag_of(plan)),), known, tags | {tag_of(plan)}, most)

    def few(self, plan: Plan, pairs: Sequence[Any], tags: frozenset[str]) -> Relation:
        return self.reduced(plan, FewPairs(pairs), tags, most=len(pairs))


def tag_of(plan: Plan) -> str:
    return digest(plan).hex()[:16]


def digest_of(expression: Expression) -> str:
    return digest(expression).hex()  # type: ignore[arg-type]


def said_hash(*parts: Any) -> bytes:
    return content_id(repr(parts).encode("utf-8", "surrogatepass"))


def _mappers(plan: Plan, branch: Branch, sink: Sink, whole: bool) -> Iterator[tuple[PiecesMapper, Any]]:
    """The mappers of a branch, each with its input: chunks that begin files may be read in another way."""
    sent = digest(plan)

    def mapper(reading: Any, said: str, takes_whole: bool) -> PiecesMapper:
        version = said_hash(said, branch.digest, [each.digest for each in branch.steps], sink_said(sink), sent).hex()
        return PiecesMapper(BranchMapper(reading, branch.steps, sink, branch.tag, tag_of(plan)), version, takes_whole)

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
    counts = np.array([count for _, count in table.files], np.int64)
    return (np.cumsum(counts) - counts)[counts > 0]


def _first_of_files(table: ChunkTable) -> Choice:
    return Choice(_firsts(table))


def _behind_first(table: ChunkTable) -> Choice:
    return Choice(np.setdiff1d(np.arange(len(table.rows)), _firsts(table)))
