"""What a query would run, and why, without running it.

Contract: no task runs. A stage whose input is the result of one that would run cannot be told yet: it waits for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from incoop.engine.explain import Explanation
from incoop.job import Job
from incoop.query.execution.compile import Compiler
from incoop.query.execution.finishing import chain_to_key
from incoop.query.execution.relations import Relation
from incoop.query.execution.sessions import JobResult, RunsJobs
from incoop.query.plan.digest import digest
from incoop.query.plan.node import Plan, every_plan
from incoop.query.plan.several import Join
from incoop.query.plan.show import show_plan


class _Waits(Exception):
    """What is asked for comes of a stage that would run."""


class Explainer(Compiler):
    """Compiles as far as results are known."""

    def __init__(self, name: str, session: RunsJobs, inputs: Mapping[str, Any], outputs: Sequence[Plan]) -> None:
        super().__init__(name, session, inputs, outputs)
        self._outputs = outputs
        #: For each stage that was looked at, what it is for, and what of it would run.
        self.found: list[tuple[str, Explanation]] = []
        self._waiting: set[bytes] = set()

    def relation(self, plan: Plan) -> Relation:
        name = digest(plan)
        if name in self._waiting:
            raise _Waits
        try:
            return super().relation(plan)
        except _Waits:
            self._waiting.add(name)
            raise

    @property
    def parts_of_stages(self) -> set[int]:
        """Nodes that are carried out as a part of what stands above them, by their identity in memory."""
        found: set[int] = set()
        for output in self._outputs:
            for node in every_plan(output):
                if isinstance(node, Join):  # perhaps a part of what stands above it
                    found.add(id(node))
                if (taken := chain_to_key(node, self.uses)) is not None:
                    chain, keyed = taken
                    found |= {id(keyed), *map(id, chain[:-1])}
        return found

    def _run(self, plan: Plan, role: str, job: Job, inputs: Mapping[str, Any]) -> JobResult:
        explanation = self._session.explain(job, inputs)
        self.found.append((f"{type(plan).__name__} {role}".strip(), explanation))
        if explanation.why != "nothing changed":
            raise _Waits
        return super()._run(plan, role, job, inputs)  # all of it is known


def explained(name: str, outputs: Sequence[Plan], session: RunsJobs, inputs: Mapping[str, Any]) -> str:
    """The plans of a query; then of each stage what would be reused, and why not more."""
    explainer = Explainer(name, session, inputs, outputs)
    waiting = []
    for plan in outputs:
        try:
            explainer.stored(plan)
        except _Waits:
            waiting.append(plan)
            parts = explainer.parts_of_stages
            for node in every_plan(plan):  # what does not wait is looked at, too
                with suppress(_Waits):
                    if id(node) not in parts:
                        explainer.relation(node)
    lines = ["\n\n".join(map(show_plan, outputs)), ""]
    for what, each in explainer.found:
        lines.append(f"{what}: {each.reusable:.1%} of {each.input_bytes:,} bytes can be reused, because {each.why}")
    if waiting:
        lines.append("Stages behind one that would run are told when it has run.")
    return "\n".join(lines)
