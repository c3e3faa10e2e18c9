"""The benchmark's scripts give what plans mean; what it measures is compared with a run from scratch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import incoop
from bench import bench_pig
from incoop.fronts.pig.errors import texts
from incoop.fronts.pig.running.prepare import Preparation
from incoop.fronts.pig.running.steps import StoreStep
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.script import read_script

from ..pig.test_laws import check_meaning

SCRIPTS = sorted(bench_pig.SCRIPTS.glob("*.pig"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pig-bench")
    bench_pig.write_tables(folder, 4_000)
    return folder


@pytest.fixture(scope="module")
def session(tables: Path) -> Iterator[incoop.Session]:
    with incoop.connect(tables / "session") as opened:
        yield opened


def test_there_are_ten() -> None:
    assert len(SCRIPTS) == 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_gives_what_its_plans_mean(script: Path, tables: Path, session: incoop.Session) -> None:
    bench_pig.run(session, script, tables, script.stem)
    given = {"views": str(tables / "views"), "users": str(tables / "users"), "out": str(tables / script.stem)}
    steps = Preparation(texts()).script(read_script(script, Parameters(given)), tables)
    check_meaning([step for step in steps if isinstance(step, StoreStep)], list(steps))


def test_a_measurement_compares_with_a_run_from_scratch(tables: Path) -> None:
    cells = bench_pig.measure(bench_pig.SCRIPTS / "anti_join.pig", tables)
    assert cells[0] == "anti_join" and len(cells) == 6
    assert not (tables / "fresh").exists() and not (tables / "store").exists()
