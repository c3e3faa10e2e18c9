"""A script carried out: its steps in turn, its outputs in batches.

Contract: what is loaded is there before the first batch runs, unless a command before it may bring it. Results go to
`say`, what a reader should know to `tell`. What was stored by batches before one that fails is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from incoop.engine.save import demand_folder
from incoop.fronts.pig.errors import MissingInput, TextOf, running
from incoop.fronts.pig.formats import dumped
from incoop.fronts.pig.running.batches import Output, plan_of, rounds
from incoop.fronts.pig.running.beside import write_beside
from incoop.fronts.pig.running.checks import check_inputs, check_outputs
from incoop.fronts.pig.running.paths import inputs_of
from incoop.fronts.pig.running.shell import run_shell
from incoop.fronts.pig.running.show import illustrated
from incoop.fronts.pig.running.steps import (
    BatchEnd,
    DumpStep,
    ExplainStep,
    IllustrateStep,
    Loads,
    ScriptStep,
    ShellStep,
    ShowStep,
    StoreStep,
)
from incoop.query.plan.node import Plan
from incoop.query.plan.show import show_plan
from incoop.query.plan.single import Limit

if TYPE_CHECKING:
    from incoop.job_session import JobSession
    from incoop.query.execution import QueryResult

Say = Callable[[str], None]
#: So many rows of each relation does ILLUSTRATE show.
_SHOWN = 3


@dataclass
class ScriptReport:
    """What ran."""

    script: str
    queries: list[Any] = field(default_factory=list)
    warnings: dict[str, int] = field(default_factory=dict)
    written: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "script": self.script,
            "queries": [each.as_dict() for each in self.queries],
            "files_written": self.written,
            "warnings": self.warnings,
        }

    def __str__(self) -> str:
        lines = [str(each) for each in self.queries]
        return "\n".join([*lines, f"{self.script}: {self.written} part files written"])


class ScriptRun:
    """One run of a script in a session."""

    def __init__(self, session: JobSession, name: str, say: Say, tell: Say, text_of: TextOf) -> None:
        self.session, self.name, self.text_of = session, name, text_of
        self.say, self.tell = say, tell
        self.report = ScriptReport(name)
        self._batches = 0

    def run(self, steps: Sequence[ScriptStep]) -> ScriptReport:
        check_inputs(steps, self.text_of)
        check_outputs(steps)
        pending: list[Output] = []
        for step in steps:
            match step:
                case StoreStep():
                    pending.append(step)
                    continue
                case ShowStep(text=text):
                    self.say(text)
                    continue
                case ExplainStep():
                    self._explain(step)
                    continue
                case DumpStep():
                    pending.append(step)
            self._batch(pending)
            pending = []
            match step:
                case ShellStep():
                    run_shell(step, self.say, self.text_of)
                case IllustrateStep():
                    self._illustrate(step)
                case BatchEnd() | DumpStep():
                    pass
        self._batch(pending)
        return self.report

    def _batch(self, outputs: list[Output]) -> None:
        for output in outputs:
            if isinstance(output, StoreStep):
                demand_folder(output.folder)
        for ready in rounds(outputs):
            self._batches += 1
            plans = tuple(map(plan_of, ready))
            with running(ready[-1].statement, self.text_of):
                result = self._query(f"{self.name} {self._batches}", plans, ready[0].loads)
            for number, output in enumerate(ready):
                if isinstance(output, StoreStep):
                    written = result.save(number, output.folder)
                    write_beside(output.folder, output.beside)
                    self.report.written += len(written)
                    self.tell(f"{len(written)} part files written to {output.folder}")
                else:
                    for row in result.rows(number):
                        self.say(dumped(row, output.relation.schema.fields))
            self.report.queries.append(result.report)
            for kind, count in result.warnings.items():
                self.report.warnings[kind] = self.report.warnings.get(kind, 0) + count

    def _query(self, name: str, plans: tuple[Plan, ...], loads: Loads) -> QueryResult:
        from incoop.query.execution import Query

        query = Query(name, plans)
        inputs = {each: inputs_of(loads[each], self.text_of) for each in query.scans}
        with TemporaryDirectory() as folder:
            nothing = Path(folder) / "nothing"
            nothing.touch()  # what folders without files hold
            return query.run(self.session, {each: paths or [str(nothing)] for each, paths in inputs.items()})

    def explain(self, steps: Sequence[ScriptStep]) -> None:
        """Print what `run` would reuse of each batch, and what it would run, and why; nothing runs."""
        pending: list[Output] = []
        for step in (*steps, None):
            if isinstance(step, StoreStep | DumpStep):
                pending.append(step)
            if not isinstance(step, StoreStep | ShowStep | ExplainStep):
                for ready in rounds(pending):
                    self._batches += 1
                    self.say("\n".join(map(_title, ready)))
                    name = f"{self.name} {self._batches}"
                    self.say(self._explained(name, tuple(map(plan_of, ready)), ready[0].loads) + "\n")
                pending = []

    def _explained(self, name: str, plans: tuple[Plan, ...], loads: Loads) -> str:
        from incoop.query.execution import Query

        query = Query(name, plans)
        try:
            inputs = {each: inputs_of(loads[each], self.text_of) for each in query.scans}
        except MissingInput as missing:
            shown = "\n\n".join(map(show_plan, query.outputs))
            return f"{shown}\nWhat would be reused is not known yet: {missing.problem}."
        return query.explain(self.session, {each: paths for each, paths in inputs.items() if paths})

    def _explain(self, step: ExplainStep) -> None:
        plans = tuple(each.plan for each in step.relations)
        text = self._explained(f"{self.name} explained", plans, step.loads)
        if step.out is None:
            self.say(text)
        else:
            step.out.write_text(text + "\n", encoding="utf-8")

    def _illustrate(self, step: IllustrateStep) -> None:
        plans = tuple(Limit(each.plan, _SHOWN) for each in step.relations)
        result = self._query(f"{self.name} illustrated", plans, step.loads)
        for number, relation in enumerate(step.relations):
            rows = list(islice(result.rows(number), _SHOWN))
            self.say(illustrated(relation.alias or "@", relation.schema, rows) + "\n")


def _title(output: Output) -> str:
    if isinstance(output, StoreStep):
        return f"STORE {output.plan.name} INTO {output.folder}"
    return f"DUMP {output.relation.alias or '@'}"
