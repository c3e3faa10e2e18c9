"""The examples of docs/pig.md are read and run, and its errors are as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incoop.fronts.pig.formats.storage import FORMATS
from incoop.fronts.pig.functions.registry import NAMES
from incoop.fronts.pig.syntax.errors import PigSyntaxError
from incoop.fronts.pig.syntax.print_script import print_script
from incoop.fronts.pig.syntax.script import parse_script

from ..conftest import REPOSITORY
from .cases import Case, by_reference, prepared, printed_by, write_inputs

PAGE = (REPOSITORY / "docs" / "pig.md").read_text()
EXAMPLES = re.findall(r"```pig\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split("\n")[0][:30])
def test_example(example: str) -> None:
    script = parse_script(example)
    assert len(script.statements) >= 3
    assert parse_script(print_script(script)).statements == script.statements


def test_the_page_has_examples_of_everything() -> None:
    assert len(EXAMPLES) == 4 and len(RUN) == 8 and set(INPUTS) == {"students", "marks"}


INPUTS = dict(re.findall(r"```text (\w+)\n(.*?)```", PAGE, re.DOTALL))
RUN = re.findall(r"```pig-run\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("script", "printed"), RUN, ids=lambda example: example.split("\n")[0][:30])
def test_what_an_example_prints(script: str, printed: str, tmp_path: Path) -> None:
    case = Case("an example", INPUTS, script, tuple(printed.splitlines()), None)
    write_inputs(case, tmp_path)
    steps = prepared(case, tmp_path)
    found = printed_by(steps, lambda plans, inputs: by_reference(plans, inputs, steps))
    assert found == list(case.printed)


VALUES = re.findall(r"```pig-values\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()


def test_what_functions_give_is_as_the_page_says(tmp_path: Path) -> None:
    calls = [tuple(map(str.strip, line.rsplit("--", 1))) for line in VALUES]
    assert len(calls) > 15
    script = "one = LOAD 'one' AS (n: int);\n" + "".join(
        f"v{at} = FOREACH one GENERATE {written};\nDUMP v{at};\n" for at, (written, _) in enumerate(calls)
    )
    case = Case("values", {"one": "1\n"}, script, (), None)
    write_inputs(case, tmp_path)
    steps = prepared(case, tmp_path)
    found = printed_by(steps, lambda plans, inputs: by_reference(plans, inputs, steps))
    assert found == [f"({value})" for _, value in calls]


def test_the_page_names_every_function_of_pigs_own() -> None:
    section = PAGE.split("## Functions")[1].split("Of the piggybank")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert named == {name for name in NAMES if "." not in name}


def test_the_page_names_every_format() -> None:
    section = PAGE.split("## Formats")[1].split("Rows are padded")[0]
    assert {name for name in FORMATS if "." not in name} - {"PigStreaming", "PigStorageSchema"} <= set(
        re.findall(r"\w+", section)
    )


def test_what_is_said_of_a_wrong_name(tmp_path: Path) -> None:
    ((script, shown),) = re.findall(r"```pig-bad-run\n(.*?)```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
    with pytest.raises(PigSyntaxError) as caught:
        prepared(Case("an error", INPUTS, script, (), shown), tmp_path)
    assert str(caught.value) == shown


def test_the_error_is_as_shown() -> None:
    ((script, shown),) = re.findall(r"```pig-bad\n(.*?)```\n\n```text\n(.*?)\n```", PAGE, re.DOTALL)
    with pytest.raises(PigSyntaxError) as caught:
        parse_script(script)
    assert str(caught.value) == shown


@pytest.mark.parametrize(
    "written",
    [
        "FOREACH a GENERATE input, left",
        r"FILTER a BY x MATCHES '\d+'",
        "LOAD 'x' AS (b: bag, t: tuple, m: map)",
        "FOREACH a GENERATE ['k'#x]",
        "FOREACH a { GENERATE x; } PARALLEL 3",
        "FOREACH a GENERATE (map[{(a: int)}]) x",
    ],
)
def test_what_the_page_says_is_read(written: str) -> None:
    assert len(parse_script(f"r = {written}").statements) == 1


@pytest.mark.parametrize(
    "written", ["b = FOREACH a GENERATE invoke&Math.abs(x);", "LIMIT a 3;", "b = FOREACH a GENERATE ([{(a: int)}]) x;"]
)
def test_what_the_page_says_is_not_read(written: str) -> None:
    with pytest.raises(PigSyntaxError):
        parse_script(written)
