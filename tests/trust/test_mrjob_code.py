"""What an mrjob step runs counts: neighbours of the job file, commands and filters with all that they lead to.

Each member is a real job, compared with mrjob's own runner before and after an edit; unchanged, it reuses everything.
All runs are of one session, whose workers live on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import base, place
from tests.end_to_end.places import Place
from tests.fronts.mrjob_runs import FEW_CHUNKS, Memoized, plain
from tests.fronts.test_mrjob_examples import some_text

#: Fixtures of the end-to-end tests.
__all__ = ["base", "place"]

JOB = """\
import os
import sys

from mrjob.job import MRJob
from mrjob.step import MRStep
{imports}

class Changes(MRJob):
{body}

if __name__ == "__main__":
    Changes.run()
"""

MAPPER = """\
    def mapper(self, _, line):
        {inside}
        yield {call}, 1

    def reducer(self, word, counts):
        yield word, sum(counts)
"""

ONE = "def change(line):\n    return line.strip().upper()\n"
TWO = "def change(line):\n    return line.strip()[::-1]\n"

SCRIPT = "import sys\nfrom helper import change\nfor line in sys.stdin:\n    print(change(line))\n"


class Case:
    """A folder with a job file and what it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: mrjob's runner to compare with: commands need the local one.
        self.runner = "inline"
        self.options: list[str] = []

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def job(self, imports: str = "", inside: str = "", call: str = "change(line)", body: str = "") -> None:
        body = body or MAPPER.format(inside=inside, call=call)
        self.write("job.py", JOB.format(imports=imports, body=body))

    def step(self, **parts: str) -> None:
        """A job of one step with commands; they see what mrjob's local runner shows them."""
        self.runner = "local"
        arguments = ", ".join(f"{name}={value!r}" for name, value in parts.items())
        self.job(body=f"    def steps(self):\n        return [MRStep({arguments})]\n")


Edit = Callable[[], object]
CASES: dict[str, Callable[[Case], Edit]] = {}


def case(build: Callable[[Case], Edit]) -> Callable[[Case], Edit]:
    CASES[build.__name__] = build
    return build


def edit(case: Case, name: str = "helper.py", one: str = ONE, two: str = TWO) -> Edit:
    case.write(name, one)
    return lambda: case.write(name, two)


@case
def a_neighbour(case: Case) -> Edit:
    case.job("from helper import change")
    return edit(case)


@case
def a_neighbour_imported_inside_the_mapper(case: Case) -> Edit:
    case.job(inside="import helper", call="helper.change(line)")
    return edit(case)


@case
def a_module_of_a_package_beside_the_job(case: Case) -> Edit:
    case.write("kit/__init__.py", "from .deep import change\n")
    case.write("kit/deep.py", "from .helper import change\n")
    case.job("import kit", call="kit.change(line)")
    return edit(case, "kit/helper.py")


@case
def a_module_whose_name_is_computed_in_the_mapper(case: Case) -> Edit:
    case.job("import importlib", "rules = importlib.import_module('_'.join(['rules', 'one']))", "rules.change(line)")
    return edit(case, "rules_one.py")


@case
def a_module_whose_name_is_computed_above_the_job(case: Case) -> Edit:
    case.job("import importlib\nrules = importlib.import_module('_'.join(['rules', 'two']))", call="rules.change(line)")
    return edit(case, "rules_two.py")


@case
def a_module_in_a_package_chosen_by_an_option(case: Case) -> Edit:
    case.options = ["--rules", "three"]
    body = MAPPER.format(
        inside="import importlib; rules = importlib.import_module('plugins.' + self.options.rules)",
        call="rules.change(line)",
    )
    case.write("plugins/__init__.py", "")
    options = (
        "    def configure_args(self):\n        super().configure_args()\n        self.add_passthru_arg('--rules')\n"
    )
    case.job(body=options + "\n" + body)
    return edit(case, "plugins/three.py")


@case
def code_that_is_executed_from_a_file(case: Case) -> Edit:
    inside = f"rules = {{}}; exec(open('{case.folder}/rules.txt').read(), rules)"
    case.job(inside=inside, call="rules['change'](line)")
    return edit(case, "rules.txt")


@case
def a_file_beside_the_job(case: Case) -> Edit:
    inside = "sign = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'sign.txt')).read()"
    case.job(inside=inside, call="line.strip() + sign")
    return edit(case, "sign.txt", "!", "?")


@case
def a_side_file(case: Case) -> Edit:
    case.job(inside="sign = open('sign.txt').read()", call="line.strip() + sign")
    case.options = ["--files", str(case.folder / "sign.txt")]
    return edit(case, "sign.txt", "!", "?")


@case
def a_command(case: Case) -> Edit:
    case.step(mapper_cmd=f"sh {case.folder}/map.sh", reducer_cmd="uniq -c")
    return edit(case, "map.sh", "tr a-z A-Z\n", "tr a-z b-za\n")


@case
def a_neighbour_of_a_commands_script(case: Case) -> Edit:
    case.step(mapper_cmd=f"python3 {case.write('map.py', SCRIPT)}", reducer_cmd="uniq -c")
    return edit(case)


@case
def a_script_in_a_shells_command_line(case: Case) -> Edit:
    case.step(mapper_cmd=f"sh -c 'python3 {case.write('map.py', SCRIPT)} | cat'", reducer_cmd="uniq -c")
    return edit(case)


@case
def a_reducers_script(case: Case) -> Edit:
    case.step(mapper_cmd="tr -s ' ' '\\n'", reducer_cmd=f"sh -c 'uniq -c | sh {case.folder}/end.sh'")
    return edit(case, "end.sh", "tr a-z A-Z\n", "tr a-z b-za\n")


@case
def a_filters_script(case: Case) -> Edit:
    case.runner = "local"
    parts = f"mapper_pre_filter='sh {case.folder}/filter.sh', mapper=self.own"
    own = "    def own(self, _, line):\n        yield line, 1\n"
    case.job(body=f"    def steps(self):\n        return [MRStep({parts})]\n\n{own}")
    return edit(case, "filter.sh", "grep -v b\n", "grep -v e\n")


@case
def a_module_on_pythonpath_of_a_command(case: Case) -> Edit:
    case.options = ["--cmdenv", f"PYTHONPATH={case.folder}/library"]
    case.step(mapper_cmd=f"python3 {case.write('map.py', SCRIPT)}", reducer_cmd="uniq -c")
    return edit(case, "library/helper.py")


@case
def what_a_side_files_script_calls(case: Case) -> Edit:
    case.write("run.sh", f"sh {case.folder}/deeper.sh\n")
    case.options = ["--files", str(case.folder / "run.sh")]
    case.step(mapper_cmd="sh run.sh", reducer_cmd="uniq -c")
    return edit(case, "deeper.sh", "tr a-z A-Z\n", "tr a-z b-za\n")


@pytest.mark.parametrize("name", CASES)
def test_changed_runs_again_and_unchanged_is_reused(place: Place, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    place.chunks = FEW_CHUNKS
    case = Case(place.folder / "jobs")
    case.folder.mkdir()
    change = CASES[name](case)
    place.write(some_text(40))
    run, job, path = Memoized(place.session), case.folder / "job.py", place.input / "input.txt"

    def outcome() -> bytes:
        expected = plain(job, *case.options, path, runner=case.runner)
        assert sorted(run(job, *case.options, path).splitlines()) == sorted(expected.splitlines())
        for each in case.folder.rglob("*"):
            each.touch()
        assert sorted(run(job, *case.options, path).splitlines()) == sorted(expected.splitlines())
        assert run.report.map.executed == 0 and run.report.keys_reduced == 0
        return expected

    before = outcome()
    change()
    assert outcome() != before


def test_a_comment_in_the_job_file_changes_nothing(place: Place) -> None:
    case = Case(place.folder / "jobs")
    case.folder.mkdir()
    case.job("from helper import change")
    case.write("helper.py", ONE)
    place.write(some_text(40))
    run, path = Memoized(place.session), place.input / "input.txt"
    first = run(case.folder / "job.py", path)
    for name in ("job.py", "helper.py"):
        (case.folder / name).write_text("# A comment.\n" + (case.folder / name).read_text())
    assert run(case.folder / "job.py", path) == first
    assert run.report.map.executed == 0
