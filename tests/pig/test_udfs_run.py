"""Functions of users on the engine: what a changed helper, a comment or a changed record runs again, and what not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import incoop
from incoop.fronts.pig.running.steps import DumpStep
from incoop.inchdfs import ChunkSettings
from incoop.query.errors import UserFunctionFailed
from incoop.query.execution import Query
from incoop.query.execution.report import QueryReport
from incoop.query.types import Row

from .cases import Case, by_reference, prepared

UDFS = """from pig_util import outputSchema
import pig_run_helper

@outputSchema("words: {(word: chararray)}")
def words(line):
    return [(each,) for each in pig_run_helper.clean(line).split()]

@outputSchema("n: int")
def size(bag):
    return len(bag)
"""
HELPER = "def clean(line):\n    return kept(line).lower()\ndef kept(line):\n    return line.replace(',', ' ')\n"
SCRIPT = """REGISTER 'pig_run_udfs.py' USING jython AS my;
a = LOAD 'in' USING TextLoader() AS (line: chararray);
b = FOREACH a GENERATE FLATTEN(my.words(line));
c = FOREACH (GROUP b BY word) GENERATE group, COUNT(b) AS n, my.size(b) AS m;
DUMP c;
"""
LINES = [f"word{at % 40}, and Word{at % 7}" for at in range(1000)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[incoop.Session]:
    with incoop.connect(tmp_path_factory.mktemp("pig-udfs") / "store", chunks=ChunkSettings(average=4096)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _path_is_as_before() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path


class Scripts:
    """One script in a folder, run again and again, each time as in a new program."""

    def __init__(self, session: incoop.Session, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.write(helper=HELPER, udfs=UDFS, lines=LINES)

    def write(self, helper: str | None = None, udfs: str | None = None, lines: list[str] | None = None) -> None:
        for name, text in (("pig_run_helper.py", helper), ("pig_run_udfs.py", udfs)):
            if text is not None:
                (self.folder / name).write_text(text)
        if lines is not None:
            (self.folder / "in").write_text("".join(f"{line}\n" for line in lines))

    def run(self) -> tuple[list[Row], QueryReport]:
        """The rows, which are those of a run from scratch, and what ran."""
        for name in ("pig_run_helper", "pig_run_udfs"):
            sys.modules.pop(name, None)
        steps = prepared(Case("udfs", {}, SCRIPT, (), None), self.folder)
        (step,) = [each for each in steps if isinstance(each, DumpStep)]
        inputs = {"a": [str(self.folder / "in")]}
        result = Query("udfs", (step.relation.plan,)).run(self.session, inputs)
        rows = sorted(result.rows())
        assert rows == sorted(by_reference((step.relation.plan,), inputs, steps)[0])
        return rows, result.report


def test_what_a_change_of_code_or_data_runs_again(session: incoop.Session, tmp_path: Path) -> None:
    scripts = Scripts(session, tmp_path)
    rows, first = scripts.run()
    assert ("word3", 25 + 143, 25 + 143) in rows
    assert first.fresh_bytes > 0

    assert scripts.run()[1].nothing_ran

    scripts.write(
        helper="# why\n" + HELPER, udfs=UDFS.replace("import pig_run_helper", "import pig_run_helper  # ours")
    )
    assert scripts.run()[1].nothing_ran

    scripts.write(lines=[*LINES[:500], "a new, Word", *LINES[501:]])
    changed, report = scripts.run()
    assert ("new", 1, 1) in changed
    assert 0 < report.fresh_bytes < first.fresh_bytes / 2

    scripts.write(helper=HELPER.replace("','", "'w'"))  # two calls away
    other, report = scripts.run()
    assert other != changed
    assert report.fresh_bytes >= first.fresh_bytes / 2


def test_a_function_that_raises_on_a_record_ends_the_query_with_it(session: incoop.Session, tmp_path: Path) -> None:
    scripts = Scripts(session, tmp_path)
    scripts.write(helper=HELPER + "def clean(line):\n    return 'ok' if 'odd' not in line else 1 / 0\n")
    scripts.write(lines=[*LINES, "an odd one"])
    with pytest.raises(UserFunctionFailed) as caught:
        scripts.run()
    said = str(caught.value)
    assert "my.words failed on ('an odd one',)" in said
    assert "ZeroDivisionError" in said and "pig_run_helper.py" in said
    scripts.write(lines=LINES)
    assert scripts.run()[0] == [("ok", 1000, 1000)]
