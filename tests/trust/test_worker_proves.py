"""What a worker runs is what the driver hashed: it proves that before anything is stored."""

from __future__ import annotations

import importlib
import sys

import pytest

from incoop.code import CodeDiffers, Functions, pack
from tests.end_to_end.histories import lines_of

from .workshop import SUM, Workshop, plain

JOB = (
    """
import incoop
import rules

def mapper(_, line):
    yield rules.kind(line), rules.FACTOR

"""
    + SUM
    + """
job = incoop.Job("rules", mapper, total)
"""
)

RULES = """
FACTOR = 1
KINDS = ["line"]
STATE = {"tag": "old"}

class Limits:
    LENGTH = 4

def kind(line):
    return (STATE["tag"], len(KINDS), line[:Limits.LENGTH])
"""


@pytest.fixture
def rules(workshop: Workshop) -> Workshop:
    workshop.write(job=JOB, rules=RULES)
    return workshop


def expected(workshop: Workshop, job: object) -> dict[object, object]:
    lines = [line for path in sorted(workshop.place.input.iterdir()) for line in path.read_text().splitlines()]
    return plain(job, lines)  # type: ignore[arg-type]


def test_a_module_reloaded_in_a_session_is_what_workers_run(rules: Workshop) -> None:
    job = rules.load()
    assert rules.run(job) == {("old", 1, "line"): 40}
    rules.write(rules=RULES.replace("old", "newer"))
    importlib.reload(sys.modules["rules"])
    assert rules.run(job) == expected(rules, job) == {("newer", 1, "line"): 40}
    rules.write(rules=RULES.replace("FACTOR = 1", "FACTOR = 3"))
    importlib.reload(sys.modules["rules"])
    assert rules.run(job) == expected(rules, job) == {("old", 1, "line"): 120}


def test_a_module_edited_between_two_programs_is_what_workers_run(rules: Workshop) -> None:
    """The session's workers have the old one loaded."""
    for tag in ("old", "new", "newest", "old"):
        rules.write(rules=RULES.replace("old", tag))
        assert rules.run() == {(tag, 1, "line"): 40}


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        pytest.param("rules.FACTOR = 7", ("old", 1, "line"), 280, id="a number of a module"),
        pytest.param("rules.KINDS.append('x')", ("old", 2, "line"), 40, id="a list of a module, appended to"),
        pytest.param("rules.STATE['tag'] = 'set'", ("set", 1, "line"), 40, id="an item of a module's dict"),
        pytest.param("rules.Limits.LENGTH = 2", ("old", 1, "li"), 40, id="an attribute of a module's class"),
    ],
)
def test_values_that_the_program_sets_are_what_workers_have(
    change: str, key: object, value: int, rules: Workshop
) -> None:
    assert rules.run() == {("old", 1, "line"): 40}
    job = rules.load()
    exec(change, {"rules": sys.modules["rules"]})
    assert rules.run(job) == expected(rules, job) == {key: value}
    assert rules.run() == {("old", 1, "line"): 40}, "and without it, what it was"
    # A run from scratch, in workers that know both.
    with rules.place.scratch() as session:
        job = rules.load()
        exec(change, {"rules": sys.modules["rules"]})
        assert dict(session.run(job, str(rules.place.input)).collect()) == {key: value}


@pytest.mark.parametrize("remedy", ["memoize=False", "version='1'"])
def test_values_that_the_program_sets_and_sets_back_also_where_a_remedy_is_used(remedy: str, rules: Workshop) -> None:
    rules.write(job=JOB.replace("total)", f"total, {remedy})"))
    job = rules.load()
    for factor in (1, 7, 1, 2, 7):
        sys.modules["rules"].FACTOR = factor  # type: ignore[attr-defined]
        rules.place.write([f"line {number} for {factor}" for number in range(40 + factor)])
        assert rules.run(job) == {("old", 1, "line"): (40 + factor) * factor}


def test_what_a_job_file_does_to_a_module_is_done_in_workers(rules: Workshop) -> None:
    rules.write(job=JOB.replace("def mapper", "rules.KINDS.append('more')\nrules.FACTOR += 1\n\ndef mapper"))
    assert rules.run() == {("old", 2, "line"): 80}
    assert rules.run() == {("old", 2, "line"): 80}


def test_a_module_saved_after_it_was_loaded_stops_the_run(rules: Workshop) -> None:
    job = rules.load()
    rules.write(rules=RULES.replace("return (STATE", "return ('edited', STATE"))
    with pytest.raises(CodeDiffers, match="function `kind` in `rules`"):
        rules.run(job)
    assert rules.run() == {("edited", "old", 1, "line"): 40}, "a new program has the new one"
    rules.write(rules=RULES)
    assert rules.run() == {("old", 1, "line"): 40}, "nothing of the edited one was stored under the old one's id"


def test_a_shipment_opens_to_what_was_packed_and_to_nothing_else(rules: Workshop) -> None:
    """In this process, without Spark: the proof itself."""
    job = rules.load()
    packed = pack("rules", Functions((job.mapper,), None, job.reducer, job.records), prove=True)
    assert [module.name for module in packed.modules] == ["job", "rules"]
    assert packed.open().doubts() is None
    sys.modules["rules"].FACTOR = 2  # type: ignore[attr-defined]
    doubt = packed.open().doubts()
    assert doubt is not None and "`FACTOR` in `rules`" in str(doubt)


def test_workers_that_had_other_code_are_not_asked_again(rules: Workshop) -> None:
    """An edit back and forth runs nothing that is known, whatever workers hold."""
    rules.run()
    rules.write(rules=RULES.replace("old", "new"))
    rules.run()
    rules.write(rules=RULES)
    result = rules.place.run(rules.load())
    assert result.report.map.executed == 0
    assert lines_of({"x": ["a"]}) == ["a"]
