"""Examples of docs/queries.md give what they say; its table names all functions; pyarrow is loaded when it is
needed.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys

import pytest

from incoop.query.functions import GENERAL

from ..conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "queries.md"


def test_examples_give_what_they_say() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert found.attempted > 15
    assert found.failed == 0


def test_the_page_names_every_function_and_no_other() -> None:
    table = PAGE.read_text().split("## Functions")[1].split("```")[0]
    named = re.findall(r"`(\w+)`", table.split("| |\n|---|---|\n")[1])
    assert sorted(named) == sorted([*GENERAL.functions, *GENERAL.aggregates])


@pytest.mark.parametrize(
    "module",
    [
        *("incoop", "incoop.query.rules", "incoop.query.sources.delimited", "incoop.query.partial"),
        "incoop.query.execution",
    ],
)
def test_pyarrow_is_not_loaded_before_columns_are_asked_for(module: str) -> None:
    program = f"import sys, {module}; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
