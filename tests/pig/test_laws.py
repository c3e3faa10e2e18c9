"""After every edit, part files are byte for byte those of a run on an empty store, and hold what plans mean."""

from __future__ import annotations

import random
from pathlib import Path

import incoop
from incoop.fronts.pig.errors import texts
from incoop.fronts.pig.running.batches import plan_of, scans_of
from incoop.fronts.pig.running.paths import inputs_of
from incoop.fronts.pig.running.prepare import Preparation
from incoop.fronts.pig.running.run import ScriptReport, ScriptRun
from incoop.fronts.pig.running.steps import ScriptStep, StoreStep
from incoop.fronts.pig.syntax.script import parse_script

from .cases import by_reference
from .test_engine import edited

SCRIPT = """
v = LOAD 'views' USING PigStorage(',') AS (user: chararray, action: int, spent: double);
u = LOAD 'users' USING PigStorage(',') AS (user: chararray, city: chararray);
g = GROUP v BY (user, action);
sums = FOREACH g GENERATE FLATTEN(group) AS (user, action), SUM(v.spent) AS spent, COUNT(v);
STORE sums INTO 'sums';
j = JOIN v BY user LEFT OUTER, u BY user;
cities = FOREACH (GROUP j BY city) {
    d = DISTINCT j.v::user;
    big = FILTER j BY spent > 3.0;
    GENERATE group, COUNT(d), COUNT_STAR(big);
}
STORE cities INTO 'cities' USING PigStorage('|');
o = ORDER v BY action DESC, spent;
STORE o INTO 'ordered';
SPLIT v INTO low IF spent < 2.0, rest OTHERWISE;
both = UNION low, (FILTER rest BY action == 1);
ranked = RANK both BY spent DENSE;
STORE ranked INTO 'ranked' USING JsonStorage();
c = COGROUP v BY user, u BY user;
lost = FOREACH (FILTER c BY IsEmpty(u)) GENERATE group, v.spent;
STORE lost INTO 'lost';
"""


def _run(session: incoop.Session, folder: Path, out: Path) -> tuple[ScriptReport, list[ScriptStep]]:
    script = SCRIPT.replace("INTO '", f"INTO '{out.name}/")
    steps = Preparation(texts()).script(parse_script(script), folder)
    return ScriptRun(session, "law", lambda _: None, lambda _: None, texts()).run(steps), steps


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("part-*"))}


def test_after_every_edit_files_are_those_of_a_run_from_scratch(tmp_path: Path) -> None:
    chance = random.Random(7)
    views = [
        f"{chance.choice('abcdefg')},{chance.choice(['', 1, 2, 3])},{chance.choice(['', 0.5, 1.25, 4.0, 'x'])}"
        for _ in range(40)
    ]
    inputs = {
        "views": "".join(f"{line}\n" for line in views),
        "users": "a,Rome\nb,Oslo\n,Bern\nd,Rome\nz,Bonn\n",
    }
    with incoop.connect(tmp_path / "store") as session:
        for number in range(3):
            for name, text in inputs.items():
                (tmp_path / name).write_text(text)
            _, steps = _run(session, tmp_path, tmp_path / "out")
            with incoop.connect(tmp_path / f"fresh-{number}") as fresh:
                _run(fresh, tmp_path, tmp_path / f"scratch-{number}")
            assert _files(tmp_path / "out") == _files(tmp_path / f"scratch-{number}")
            check_meaning([step for step in steps if isinstance(step, StoreStep)], list(steps))
            again, _ = _run(session, tmp_path, tmp_path / "out")
            assert again.written == 0 and again.queries[0].nothing_ran
            inputs = {name: edited(text, chance) for name, text in inputs.items()}


def check_meaning(stores: list[StoreStep], steps: list[ScriptStep]) -> None:
    """What scripts stored is what a plain evaluator gives, in its order where there is one."""
    for step in stores:
        names = scans_of(plan_of(step))
        inputs = {name: inputs_of(step.loads[name], texts()) for name in names}
        (rows,) = by_reference((plan_of(step),), inputs, steps)
        expected = step.plan.format.printed(rows).splitlines()
        found = [line for path in sorted(step.folder.glob("part-*")) for line in path.read_bytes().splitlines()]
        assert (found == expected) if step.plan.ordered else (sorted(found) == sorted(expected))
