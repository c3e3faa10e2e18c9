"""A query: outputs that are asked for together, and share what they have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incoop.base.errors import BadCall
from incoop.base.paths import local_path
from incoop.engine.inputs import SCHEME
from incoop.inchdfs.files.sources import expand
from incoop.query.errors import BadPlan
from incoop.query.execution.compile import Compiler, read_rows
from incoop.query.execution.explain import explained
from incoop.query.execution.relations import Branch, Relation
from incoop.query.execution.report import QueryReport, StageReport
from incoop.query.execution.save import save_rows
from incoop.query.execution.sessions import RunsJobs
from incoop.query.plan.node import Plan, every_plan
from incoop.query.plan.single import Scan, Store
from incoop.query.rules import rewritten
from incoop.query.sources.delimited import DelimitedText
from incoop.query.sources.text_format import Format
from incoop.query.types import Row
from incoop.query.warnings import KINDS


class Query:
    """Plans, rewritten together. Equal parts of them run once, and what did not change since any earlier run is reused.

    `name` is what earlier runs are found by.
    """

    def __init__(self, name: str, outputs: tuple[Plan, ...]) -> None:
        if not outputs or not all(isinstance(each, Plan) for each in outputs):
            raise BadPlan("a query has one output at least, each of them a plan.")
        self.name = name
        #: How each output is written.
        self.formats = tuple(_format_of(each) for each in outputs)
        self.outputs = rewritten(tuple(outputs))

    @property
    def scans(self) -> tuple[str, ...]:
        """Names of the inputs that are read."""
        found = {node.name: None for plan in self.outputs for node in every_plan(plan) if isinstance(node, Scan)}
        return tuple(found)

    def run(self, session: RunsJobs, inputs: Mapping[str, Any] | None = None) -> QueryResult:
        """Run what is not known yet. `inputs` are what scans read, by name; a name that is not there is a path."""
        given = self._given(inputs)
        compiler = Compiler(self.name, session, given, self.outputs)
        stored = tuple(compiler.stored(plan) for plan in self.outputs)
        session.note_stages(self.name, (each.name for each in compiler.ran))
        return QueryResult(self, stored, compiler)

    def explain(self, session: RunsJobs, inputs: Mapping[str, Any] | None = None) -> str:
        """The plan, and of each stage what a run would reuse, what it would run, and why. Nothing is run."""
        return explained(self.name, self.outputs, session, self._given(inputs))

    def _given(self, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        given = dict(inputs or {})
        unknown = [name for name in given if name not in self.scans]
        if unknown:
            known = ", ".join(map(repr, self.scans)) or "nothing"
            raise BadCall(f"query {self.name!r} reads {known}, not {unknown[0]!r}.")
        for name in self.scans:
            _look_for(given.get(name, name))
        return given


def _look_for(named: Any) -> None:
    """Files that are not there are told before anything runs."""
    several = [named] if isinstance(named, str | os.PathLike) else named
    if isinstance(several, list | tuple) and all(isinstance(one, str | os.PathLike) for one in several):
        for one in map(os.fspath, several):
            if not one.startswith(SCHEME):
                expand(one)


def _format_of(plan: Plan) -> Format:
    return plan.format if isinstance(plan, Store) else DelimitedText(plan.schema)


class QueryResult:
    """What the outputs of a query hold."""

    def __init__(self, query: Query, stored: tuple[tuple[Relation, Branch], ...], compiler: Compiler) -> None:
        self._query, self._stored = query, stored
        #: What each stage gave, in the order in which they ran.
        self.stages = tuple(compiler.ran)
        self._counted = compiler.counted
        tags = frozenset().union(*(relation.tags for relation, _ in stored))
        self.warnings = self._warnings(tags)
        self.report = QueryReport(
            query.name,
            tuple(
                StageReport(type(ran.node).__name__, ran.role, str(ran.node.position or ""), ran.result.report)
                for ran in compiler.ran
            ),
            self.warnings,
        )

    def __len__(self) -> int:
        return len(self._stored)

    def rows(self, output: int = 0) -> Iterator[Row]:
        """The rows of an output: in its order where it has one, else in the same order for the same data."""
        return read_rows(self._stored[output][1])

    def save(self, output: int, folder: str | Path) -> list[Path]:
        """Write part files and `_SUCCESS`; those whose content did not change are left alone. Returns the rewritten."""
        query = self._query
        ordered = query.outputs[output].ordered
        return save_rows(self._stored[output][1], query.formats[output], Path(local_path(folder)), ordered)

    def warnings_of(self, output: int) -> dict[str, int]:
        """Of all that the rows of one output came from, what went wrong with single values."""
        return self._warnings(self._stored[output][0].tags)

    def _warnings(self, tags: frozenset[str]) -> dict[str, int]:
        found = dict.fromkeys(KINDS, 0)
        for name, count in self._counted.items():
            tag, _, kind = name.partition(" ")
            if tag in tags and kind:
                found[kind] = found.get(kind, 0) + count
        return {kind: count for kind, count in sorted(found.items()) if count}
