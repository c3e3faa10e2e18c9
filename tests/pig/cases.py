"""Small scripts with what they print, worked out by hand from Pig's rules: the files in scripts/.

A case begins with `== ` and its claim. Sections: `[name]` the lines of an input, `[script]`, and `[printed]` what the
script dumps, or `[error]` what is said of it before anything runs. Lines of a relation without an order may stand in
any order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from incoop.fronts.pig.errors import texts
from incoop.fronts.pig.formats import dumped
from incoop.fronts.pig.running.batches import plan_of, rounds
from incoop.fronts.pig.running.beside import write_beside
from incoop.fronts.pig.running.paths import inputs_of
from incoop.fronts.pig.running.prepare import Preparation
from incoop.fronts.pig.running.steps import DumpStep, ScriptStep, ShowStep, StoreStep
from incoop.fronts.pig.syntax.script import parse_script
from incoop.inchdfs.files.sources import expand
from incoop.query.plan.node import Plan
from incoop.query.sources.tagged import TaggedText
from incoop.query.types import Row
from incoop.query.warnings import Warnings

from ..query.reference import answer

FOLDER = Path(__file__).with_name("scripts")


@dataclass(frozen=True)
class Case:
    claim: str
    inputs: Mapping[str, str]
    script: str
    printed: tuple[str, ...]
    error: str | None

    def __str__(self) -> str:
        return self.claim


def cases() -> list[Case]:
    found = []
    for file in sorted(FOLDER.glob("*.txt")):
        for text in re.split(r"^== ", file.read_text(), flags=re.MULTILINE)[1:]:
            found.append(_case(text))
    return found


def _case(text: str) -> Case:
    claim, _, rest = text.partition("\n")
    sections: dict[str, str] = {}
    for section in re.split(r"^\[", rest, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("]\n")
        sections[name] = body
    script, printed, error = (sections.pop(name, None) for name in ("script", "printed", "error"))
    assert script is not None and (printed is None) != (error is None), claim
    return Case(claim, sections, script, tuple((printed or "").rstrip("\n").splitlines()), error and error.rstrip("\n"))


def write_inputs(case: Case, folder: Path) -> None:
    for name, text in case.inputs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def prepared(case: Case, folder: Path) -> list[ScriptStep]:
    script = parse_script(case.script, folder=folder)
    return Preparation(texts({"script": case.script})).script(script, folder)


#: The rows of outputs that run together.
Evaluate = Callable[[tuple[Plan, ...], Mapping[str, list[str]]], list[list[Row]]]


def by_reference(plans: tuple[Plan, ...], inputs: Mapping[str, list[str]], steps: list[ScriptStep]) -> list[list[Row]]:
    tables = {}
    for name, paths in inputs.items():
        form = next(
            step.loads[name].form for step in steps if isinstance(step, StoreStep | DumpStep) and name in step.loads
        )
        files = [file.path for path in paths for file in expand([path])]
        tables[name] = [
            row
            for file in files
            for row in (form.of_file(file) if isinstance(form, TaggedText) else form).rows(
                file.read_bytes(), Warnings(), None, True
            )
        ]
    return [answer(plan, tables) for plan in plans]


def printed_by(steps: list[ScriptStep], evaluate: Evaluate) -> list[str]:
    """What a script prints; relations without an order sorted."""
    shown: list[str] = []
    pending: list[StoreStep | DumpStep] = []

    def batch() -> None:
        for ready in rounds(pending):
            plans = tuple(map(plan_of, ready))
            names = {name for step in ready for name in scans(step)}
            inputs = {name: inputs_of(ready[0].loads[name], texts()) for name in names}
            for step, rows in zip(ready, evaluate(plans, inputs), strict=True):
                if isinstance(step, StoreStep):
                    step.folder.mkdir(parents=True, exist_ok=True)
                    write_beside(step.folder, step.beside)
                    (step.folder / "part-00000").write_bytes(step.plan.format.printed(rows))
                else:
                    lines = [dumped(row, step.relation.schema.fields) for row in rows]
                    shown.extend(lines if step.relation.plan.ordered else sorted(lines))
        pending.clear()

    for step in steps:
        if isinstance(step, StoreStep | DumpStep):
            pending.append(step)
        if not isinstance(step, StoreStep):
            batch()
        if isinstance(step, ShowStep):
            shown.append(step.text)
    batch()
    return shown


def scans(step: StoreStep | DumpStep) -> list[str]:
    from incoop.fronts.pig.running.batches import scans_of

    return scans_of(plan_of(step))
