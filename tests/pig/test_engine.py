"""Scripts on the engine: what was worked out by hand, and after edits what a plain evaluator gives."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import incoop
from incoop.query.execution import Query
from incoop.query.order import bag_key
from incoop.query.plan.node import Plan
from incoop.query.types import Row

from ..conftest import IN_MEMORY
from .cases import Case, by_reference, cases, prepared, printed_by, write_inputs

CASES = [case for case in cases() if case.error is None]
#: Those that take a while and ask nothing that others do not: edits of them all would take a minute.
EDITED = CASES[::4]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[incoop.Session]:
    folder = tmp_path_factory.mktemp("pig-engine")
    with incoop.connect(folder / "store") as opened:
        yield opened


class _Engine:
    """Evaluates the batches of one script."""

    def __init__(self, session: incoop.Session, name: str) -> None:
        self.session, self.name, self.batches = session, name, 0

    def __call__(self, plans: tuple[Plan, ...], inputs: Mapping[str, list[str]]) -> list[list[Row]]:
        self.batches += 1
        query = Query(f"{self.name} {self.batches}", plans)
        result = query.run(self.session, {name: inputs[name] for name in query.scans})
        found = [list(result.rows(number)) for number in range(len(plans))]
        return [rows if plan.ordered else sorted(rows, key=bag_key) for plan, rows in zip(plans, found, strict=True)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, session: incoop.Session, tmp_path: Path) -> None:
    write_inputs(case, tmp_path)
    assert printed_by(prepared(case, tmp_path), _Engine(session, case.claim)) == list(case.printed)


@pytest.mark.parametrize("case", EDITED, ids=str)
def test_after_edits_a_script_gives_what_a_plain_evaluator_gives(
    case: Case, session: incoop.Session, tmp_path: Path
) -> None:
    chance = random.Random(case.claim)
    write_inputs(case, tmp_path)
    for _ in range(3):
        case = replace(case, inputs={name: edited(text, chance) for name, text in case.inputs.items()})
        for each in tmp_path.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        write_inputs(case, tmp_path)
        steps = prepared(case, tmp_path)
        found = printed_by(steps, _Engine(session, case.claim))
        assert found == printed_by(steps, lambda plans, inputs, steps=steps: by_reference(plans, inputs, steps))


def edited(text: str, chance: random.Random) -> str:
    """Lines deleted, repeated, moved, or with a part of another line in them."""
    lines = text.splitlines()
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines) + 1)
        match chance.choice(["delete", "repeat", "move", "mix"]):
            case "delete" if len(lines) > 1:
                lines.pop(min(at, len(lines) - 1))
            case "repeat" if lines:
                lines.insert(at, chance.choice(lines))
            case "move" if lines:
                lines.append(lines.pop(0))
            case "mix" if len(lines) > 1:
                one, other = chance.sample(lines, 2)
                lines.insert(at, one[: len(one) // 2 + 1] + other[len(other) // 2 + 1 :])
    return "".join(f"{line}\n" for line in lines)


def test_cases_are_many() -> None:
    assert len(CASES) >= 50
    assert IN_MEMORY is None or IN_MEMORY.is_dir()
