"""What is printed of a syntax tree is read as the same tree."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings

from incoop.fronts.pig.syntax.operators import FilterOperator, RelationName
from incoop.fronts.pig.syntax.print_script import print_script
from incoop.fronts.pig.syntax.script import parse_script
from incoop.fronts.pig.syntax.statements import AssignStatement, PigScript
from incoop.fronts.pig.syntax.terms import Term

from .trees import SCRIPTS, TERMS

# A large tree has a large repr, which hypothesis warns of.
pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")

# Trees take longer to draw than to read.
DRAWING = (HealthCheck.too_slow, HealthCheck.data_too_large)


@settings(max_examples=200, suppress_health_check=DRAWING)
@given(SCRIPTS)
def test_a_printed_script_is_read_as_the_same_tree(script: PigScript) -> None:
    printed = print_script(script)
    assert parse_script(printed).statements == script.statements, printed
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", printed)


@settings(max_examples=300, suppress_health_check=DRAWING)
@given(TERMS)
def test_a_printed_expression_is_read_as_the_same_tree(term: Term) -> None:
    filtered = AssignStatement(RelationName("b"), FilterOperator(RelationName("a"), term))
    printed = print_script(PigScript("script", (filtered,)))
    assert parse_script(printed).statements == (filtered,), printed
