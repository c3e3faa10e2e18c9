"""Macros and imports: what a script says once they are expanded."""

from __future__ import annotations

from pathlib import Path

import pytest

from incoop.fronts.pig.syntax.errors import BadMacro, ImportNotFound, PigSyntaxError, UndefinedParameter
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.print_script import print_script
from incoop.fronts.pig.syntax.script import parse_script, read_script

TOP = """DEFINE top(rel, column, n) RETURNS best {
    sorted = ORDER $rel BY $column DESC;
    $best = LIMIT sorted $n;
};
"""


def expanded(script: str, **parameters: str) -> list[str]:
    return print_script(parse_script(script, Parameters(parameters))).splitlines()


def test_arguments_stand_for_parameters_and_aliases_are_the_calls_own() -> None:
    assert expanded(TOP + "b = top(a, age, 3);\nc = top(b, 'name', '2');") == [
        "macro_top_sorted_0 = ORDER a BY age DESC;",
        "b = LIMIT macro_top_sorted_0 3;",
        "macro_top_sorted_1 = ORDER b BY name DESC;",
        "c = LIMIT macro_top_sorted_1 2;",
    ]


def test_bags_prefixes_and_scalars_follow_their_relation() -> None:
    script = """DEFINE m(in) RETURNS out {
        g = GROUP $in BY k;
        j = JOIN g BY group, $in BY k;
        $out = FOREACH j GENERATE g::group, g.total, COUNT(g), x.g, $in::k;
        SPLIT $in INTO p IF x > g.n, q OTHERWISE;
        STORE p INTO 'p';
    }
    r = m(a);"""
    assert expanded(script) == [
        "macro_m_g_0 = GROUP a BY k;",
        "macro_m_j_0 = JOIN macro_m_g_0 BY group, a BY k;",
        "r = FOREACH macro_m_j_0 GENERATE macro_m_g_0::group, macro_m_g_0.total, COUNT(macro_m_g_0), x.g, a::k;",
        "SPLIT a INTO macro_m_p_0 IF x > macro_m_g_0.n, macro_m_q_0 OTHERWISE;",
        "STORE macro_m_p_0 INTO 'p';",
    ]


def test_names_of_a_block_hide_relations() -> None:
    script = (
        "DEFINE m(in) RETURNS b { $b = FOREACH $in { b = FILTER x BY y; c = b.z; GENERATE COUNT(b), c; } }\nc = m(a);"
    )
    assert "    GENERATE COUNT(b), c;" in expanded(script)


def test_macros_call_macros_and_see_the_scripts_parameters() -> None:
    script = TOP + "DEFINE two(rel) RETURNS x { $x = top($rel, $by, 2); }\ny = two(a);"
    assert expanded(script, by="age") == [
        "macro_two_macro_top_sorted_0_0 = ORDER a BY age DESC;",
        "y = LIMIT macro_two_macro_top_sorted_0_0 2;",
    ]


def test_several_results_or_none() -> None:
    script = """DEFINE halves(in) RETURNS l, r { $l = FILTER $in BY x; $r = FILTER $in BY y; }
    DEFINE keep(in, path) RETURNS void { STORE $in INTO '$path'; }
    p, q = halves(a);
    keep(p, 'out');"""
    assert expanded(script) == ["p = FILTER a BY x;", "q = FILTER a BY y;", "STORE p INTO 'out';"]


def test_a_parameter_of_a_macro_hides_the_scripts() -> None:
    script = "DEFINE m(x) RETURNS r { $r = LOAD '$x'; }\na = m('inner');\nb = LOAD '$x';"
    assert expanded(script, x="outer") == ["a = LOAD 'inner';", "b = LOAD 'outer';"]


def test_braces_in_texts_and_comments_of_a_macro_do_not_count() -> None:
    script = "DEFINE m() RETURNS r { $r = LOAD '}' AS (b: {(x: int)}); -- }\n /* } */ }\na = m();"
    assert expanded(script) == ["a = LOAD '}' AS (b: bag{tuple(x: int)});"]


def test_places_name_the_macro_and_its_call(tmp_path: Path) -> None:
    macros, main = tmp_path / "macros.pig", tmp_path / "main.pig"
    macros.write_text("DEFINE m(in) RETURNS r {\n  $r = FILTER $in BY x > 0;\n}\n")
    main.write_text("IMPORT 'macros.pig';\n a = m(b);\n")
    (statement,) = read_script(main).statements
    assert str(statement.place) == f"{macros}:2:3 (in macro m, called at {main}:2:2)"

    macros.write_text("DEFINE m(in) RETURNS r {\n  $r = FILTR $in BY x > 0;\n}\n")
    with pytest.raises(PigSyntaxError) as caught:
        read_script(main)
    assert caught.value.place == statement.place.__class__(str(macros), 2, 8, statement.place.called)
    assert "  $r = FILTR $in BY x > 0;" in str(caught.value)
    assert "Did you mean FILTER?" in str(caught.value)


def test_imports_are_found_beside_the_file_and_in_the_search_path_and_read_once(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "far").mkdir()
    (tmp_path / "lib" / "one.pig").write_text("IMPORT 'two.pig';\nIMPORT 'far.pig';\nx = LOAD '$in';\n")
    (tmp_path / "lib" / "two.pig").write_text("DEFINE m() RETURNS r { $r = LOAD 'two'; }\n")
    (tmp_path / "far" / "far.pig").write_text("SET far 1;\n")
    main = tmp_path / "main.pig"
    main.write_text(
        f"SET pig.import.search.path '{tmp_path}/none,{tmp_path}/far';\n"
        "IMPORT 'lib/one.pig';\nIMPORT 'lib/two.pig';\na = m();\n"
    )
    printed = print_script(read_script(main, Parameters({"in": "data"}))).splitlines()
    assert printed[1:] == ["SET far 1;", "x = LOAD 'data';", "a = LOAD 'two';"]
    main.write_text("IMPORT 'far.pig';\n")
    assert len(read_script(main, search=[tmp_path / "far"]).statements) == 1


def test_an_import_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImportNotFound) as caught:
        parse_script("a = b;\n  IMPORT 'none.pig';", folder=tmp_path)
    assert "there is no file none.pig" in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert (caught.value.place.line, caught.value.place.column) == (2, 3)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param("a = tpo(b, c, 1);", "Did you mean top?", id="misspelled"),
        pytest.param("a = top(b);", "takes 3 (rel, column, n), and here is 1", id="arguments missing"),
        pytest.param("a, b = top(c, d, 1);", "returns 1 (best), and here are 2", id="too many results"),
        pytest.param("top(c, d, 1);", "returns 1 (best), and here are 0", id="no result"),
        pytest.param("DEFINE top() RETURNS void { }", "there is a macro top already, at script:1:1", id="twice"),
        pytest.param("DEFINE m(x, x) RETURNS y { }", "two parameters are called x", id="a parameter twice"),
        pytest.param(
            "DEFINE m() RETURNS y { z = LOAD 'x'; }\na = m();", "nothing in it makes that", id="no result made"
        ),
        pytest.param("DEFINE m() RETURNS void { m(); }\nm();", "m calls m", id="calls itself"),
        pytest.param(
            "DEFINE m() RETURNS void { n(); }\nDEFINE n() RETURNS void { m(); }\nm();",
            "m calls n calls m: a macro cannot call itself",
            id="calls itself through another",
        ),
        pytest.param(
            "DEFINE m() RETURNS void { DEFINE n() RETURNS void { } }\nm();", "macro m defines another", id="nested"
        ),
        pytest.param("DEFINE m() RETURNS void {", "has no end", id="not closed"),
        pytest.param(
            "DEFINE m() RETURNS y { x = LOAD 'p'; $y = LOAD 'q' AS (x: int); }\na = m();",
            "x is a field here, and the alias of a relation",
            id="a field called as a relation",
        ),
    ],
)
def test_a_macro_that_cannot_be(script: str, said: str) -> None:
    with pytest.raises(BadMacro) as caught:
        parse_script(TOP + script)
    assert said in str(caught.value)


def test_a_parameter_that_a_macro_does_not_have() -> None:
    with pytest.raises(UndefinedParameter) as caught:
        parse_script("DEFINE m(inn) RETURNS y {\n $y = FILTER $in BY x; }\na = m(b);")
    assert str(caught.value.place) == "script:2:14 (in macro m, called at script:3:1)"
    assert "Did you mean $inn?" in str(caught.value)
