"""Every node stands where its text does, in the file as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.script import parse_script

from .test_docs import EXAMPLES

MORE = """a = LOAD 'in';
%default day /* a comment */ '2024' -- gone
    b = FILTER a -- a comment
        BY NOT ('$day' == x.$0) AND CASE y WHEN 1 THEN $2 ELSE null END IS NOT NULL
        OR (w IS NULL) OR x IN (-1.5, ([]) z);
c = FOREACH (GROUP b ALL) { q = CROSS b, a.x;
    r = FOREACH b GENERATE {(1)}, ['k'#true], ([int]) x, (map[]) y, ([]); GENERATE q; }
d = JOIN a BY (x, ..y) FULL, b BY (f(*), z#'k');
e = STREAM d THROUGH `cat` AS (bag{tuple(n: map[int])}, (x), [long]);
=> LOAD '$day';
f = MAPREDUCE 'x.jar' STORE e INTO 'p' LOAD 'q';
\tdump   e
g = ORDER a BY * DESC; h = a; i = @;
"""


def nodes(value: Any) -> Iterator[PigNode]:
    if isinstance(value, PigNode):
        yield value
        for each in fields(value):
            yield from nodes(getattr(value, each.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from nodes(each)


def beginning(node: PigNode) -> str | None:
    """How the text of a node begins, as a pattern, where that follows from the node."""
    match node:
        case t.NameTerm(name) | o.RelationName(name):
            return re.escape(name)
        case t.IndexTerm(index):
            return rf"\${index}"
        case t.LiteralTerm(t.LiteralKind.CHARARRAY):
            return "'"
        case t.LiteralTerm(_, value):
            return (
                r"[\d.]"
                if type(value) is not bool and value is not None
                else str(value).lower().replace("none", "null")
            )
        case t.TupleTerm() | t.CastTerm() | t.BincondTerm():
            return r"\("
        case t.BagTerm():
            return r"\{"
        case t.MapTerm():
            return r"\(?\["
        case t.NegativeTerm():
            return "-"
        case t.StarTerm():
            return r"\*"
        case t.NotTerm():
            return "(?i)not"
        case t.CaseTerm():
            return "(?i)case"
        case t.NullTestTerm(operand) | t.MembershipTerm(operand):
            return beginning(operand)
        case t.CallTerm(function):
            return re.escape(function)
        case o.OperatorNode() | o.NestedFilter() | o.NestedOrder() | o.NestedDistinct() | o.NestedLimit():
            word = re.sub("Operator|Nested", "", type(node).__name__)
            return f"(?i){word.replace('Native', 'mapreduce').replace('Group', '(?:co)?group')}|'"
        case s.StoreStatement() | s.SplitStatement() | s.AssertStatement() | s.DumpStatement() | s.SetStatement():
            return f"(?i){type(node).__name__.removesuffix('Statement')}"
        case s.AssignStatement(alias):
            return alias.name if alias else "=>"
        case t.FieldDeclaration(name) if name:
            return name
        case _:
            return None


@pytest.mark.parametrize("example", [*EXAMPLES, MORE], ids=lambda example: example.split("\n")[0][:30])
def test_a_node_stands_where_its_text_does(example: str) -> None:
    lines = example.split("\n")
    checked = 0
    for node in nodes(parse_script(example, Parameters({"day": "x"})).statements):
        assert node.place.line >= 1, node
        pattern = beginning(node)
        if pattern is not None and node.place.called is None:
            text = "\n".join((lines[node.place.line - 1][node.place.column - 1 :], *lines[node.place.line :]))
            assert re.match(pattern, text), (node, text)
            checked += 1
    assert checked >= 5


def test_what_came_of_a_parameter_stands_where_it_does() -> None:
    script = parse_script(
        "b = FILTER $in BY\n  x > 0 AND $more AND y > 0;", Parameters({"in": "long_name", "more": "p == q"})
    )
    (statement,) = script.statements
    assert isinstance(statement, s.AssignStatement)
    filtered = statement.operator
    assert isinstance(filtered, o.FilterOperator)
    assert isinstance(filtered.condition, t.LogicTerm)
    assert str(filtered.source.place) == "script:1:12"
    places = [str(each.place) for each in nodes(filtered.condition.operands) if isinstance(each, t.NameTerm)]
    assert places == ["script:2:3", "script:2:13", "script:2:13", "script:2:23"]


def test_places_behind_a_macro_and_a_directive() -> None:
    script = "DEFINE m() RETURNS void { SET x 1; } %declare y 1\n DEFINE n() RETURNS void {\n\n} a = LOAD 'x'; b = a;"
    assert [str(each.place) for each in parse_script(script).statements] == ["script:4:3", "script:4:17"]
