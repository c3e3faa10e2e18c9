"""Expressions: how strongly operators bind, what literals are worth, what parentheses mean."""

from __future__ import annotations

from decimal import Decimal

import pytest

from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.syntax.operators import FilterOperator
from incoop.fronts.pig.syntax.print_terms import print_condition
from incoop.fronts.pig.syntax.script import parse_script
from incoop.fronts.pig.syntax.statements import AssignStatement

K = t.LiteralKind
X, Y, Z = (t.NameTerm(each) for each in "xyz")


def term(written: str) -> t.Term:
    (statement,) = parse_script(f"r = FILTER a BY {written};").statements
    assert isinstance(statement, AssignStatement)
    assert isinstance(statement.operator, FilterOperator)
    return statement.operator.condition


@pytest.mark.parametrize(
    ("written", "kind", "value"),
    [
        ("12", K.INT, 12),
        ("12L", K.LONG, 12),
        ("12l", K.LONG, 12),
        ("1.5", K.DOUBLE, Decimal("1.5")),
        (".5", K.DOUBLE, Decimal("0.5")),
        ("1e3", K.DOUBLE, Decimal(1000)),
        ("1.5E-3", K.DOUBLE, Decimal("0.0015")),
        ("1.5f", K.FLOAT, Decimal("1.5")),
        ("2F", K.FLOAT, Decimal(2)),
        ("12BI", K.BIGINTEGER, 12),
        ("1.5BD", K.BIGDECIMAL, Decimal("1.5")),
        ("'a'", K.CHARARRAY, "a"),
        (r"'it\'s'", K.CHARARRAY, "it's"),
        (r"'a\tb\\c\n'", K.CHARARRAY, "a\tb\\c\n"),
        (r"'\u00e9'", K.CHARARRAY, "é"),
        (r"'\d+'", K.CHARARRAY, "\\d+"),
        ("TRUE", K.BOOLEAN, True),
        ("false", K.BOOLEAN, False),
        ("NULL", K.NULL, None),
    ],
)
def test_literal(written: str, kind: t.LiteralKind, value: object) -> None:
    found = term(written)
    assert isinstance(found, t.LiteralTerm)
    assert (found.kind, found.value) == (kind, value)
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("x + y * z", "x + (y * z)"),
        ("x - y - z", "(x - y) - z"),
        ("x * -y", "x * (-y)"),
        ("(int) x + y", "((int) x) + y"),
        ("-(int) x", "-((int) x)"),
        ("(chararray) x#'k'", "(chararray) (x#'k')"),
        ("x > y and y > z or z > x", "((x > y) and (y > z)) or (z > x)"),
        ("not x == y and z == x", "(not (x == y)) and (z == x)"),
        ("x + 1 > y and z is not null", "((x + 1) > y) and (z is not null)"),
        ("x eq y", "x == y"),
        ("x NEQ y", "x != y"),
        ("x lt y or x lte y or x gt y or x gte y", "x < y or x <= y or x > y or x >= y"),
        ("(x > y ? x : (y))", "(x > y ? (x) : y)"),
    ],
)
def test_binding(written: str, same: str) -> None:
    assert term(written) == term(same) != term("x")


def test_a_chain_is_one_node() -> None:
    chain = term(" and ".join(["x"] * 500))
    assert chain == t.LogicTerm("and", (X,) * 500)
    assert term("x and y or z and x") == t.LogicTerm("or", (t.LogicTerm("and", (X, Y)), t.LogicTerm("and", (Z, X))))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("$3", t.IndexTerm(3)),
        ("rel::x", t.NameTerm("rel::x")),
        ("x.y", t.FieldsTerm(X, (Y,))),
        ("x.(y, $1)", t.FieldsTerm(X, (Y, t.IndexTerm(1)))),
        ("x.y.z", t.FieldsTerm(t.FieldsTerm(X, (Y,)), (Z,))),
        ("x#'k'#'l'", t.LookupTerm(t.LookupTerm(X, "k"), "l")),
        ("COUNT(*)", t.CallTerm("COUNT", (t.StarTerm(),))),
        ("f()", t.CallTerm("f", ())),
        ("org.f.G(x, $1..)", t.CallTerm("org.f.G", (X, t.RangeTerm(t.IndexTerm(1), None)))),
        ("f(x).y", t.FieldsTerm(t.CallTerm("f", (X,)), (Y,))),
        ("f(..y)", t.CallTerm("f", (t.RangeTerm(None, Y),))),
        ("(x, y)", t.TupleTerm((X, Y))),
        ("()", t.TupleTerm(())),
        ("(1)", t.TupleTerm((t.LiteralTerm(K.INT, 1),))),
        ("(-1)", t.NegativeTerm(t.LiteralTerm(K.INT, 1))),
        ("(x)", X),
        ("{(x, y)}", t.BagTerm((t.TupleTerm((X, Y)),))),
        ("{}", t.BagTerm(())),
        ("['a'#x]", t.MapTerm((t.MapEntry("a", X),))),
        ("[]", t.MapTerm(())),
        ("[x, y]", t.CallTerm("TOMAP", (X, Y))),
        ("([]) x", t.CastTerm(t.MapTypeName(), X)),
        ("([int]) x", t.CastTerm(t.MapTypeName(t.ScalarTypeName(t.TypeWord.INT)), X)),
        ("(map[]) x", t.CastTerm(t.MapTypeName(), X)),
        (
            "(bag{tuple(int, bytearray)}) x",
            t.CastTerm(
                t.BagTypeName(
                    t.TupleTypeName(
                        tuple(
                            t.FieldDeclaration(None, t.ScalarTypeName(word))
                            for word in (t.TypeWord.INT, t.TypeWord.BYTEARRAY)
                        )
                    )
                ),
                X,
            ),
        ),
        ("CASE WHEN x > y THEN x END", t.CaseTerm(None, (t.CaseBranch(t.ComparisonTerm(">", X, Y), X),), None)),
        ("case x when 'a' then y else z end", t.CaseTerm(X, (t.CaseBranch(t.LiteralTerm(K.CHARARRAY, "a"), Y),), Z)),
        ("x MATCHES 'a.*'", t.ComparisonTerm("matches", X, t.LiteralTerm(K.CHARARRAY, "a.*"))),
        ("x IS NULL", t.NullTestTerm(X, False)),
        ("x IS NOT NULL", t.NullTestTerm(X, True)),
        ("(['a'#1])", t.TupleTerm((t.MapTerm((t.MapEntry("a", t.LiteralTerm(K.INT, 1)),)),))),
        ("(['a'#x])", t.MapTerm((t.MapEntry("a", X),))),
        ("({(x)})", t.BagTerm((X,))),
        ("x IN (1, y)", t.MembershipTerm(X, (t.LiteralTerm(K.INT, 1), Y))),
    ],
)  # fmt: skip
def test_term(written: str, expected: t.Term) -> None:
    assert term(written) == expected


def test_two_signs_are_printed_apart() -> None:
    assert print_condition(t.NegativeTerm(t.NegativeTerm(X))) == "- -x"
