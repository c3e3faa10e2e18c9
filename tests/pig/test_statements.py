"""Each kind of statement: what is written, and what it is in the tree."""

from __future__ import annotations

from decimal import Decimal

import pytest

from incoop.fronts.pig.syntax import operators as o
from incoop.fronts.pig.syntax import statements as s
from incoop.fronts.pig.syntax import terms as t
from incoop.fronts.pig.syntax.script import parse_script

INT, TEXT = t.ScalarTypeName(t.TypeWord.INT), t.ScalarTypeName(t.TypeWord.CHARARRAY)
A, B = o.RelationName("a"), o.RelationName("b")
X, Y = t.NameTerm("x"), t.NameTerm("y")


def number(value: int) -> t.LiteralTerm:
    return t.LiteralTerm(t.LiteralKind.INT, value)


def text(value: str) -> t.LiteralTerm:
    return t.LiteralTerm(t.LiteralKind.CHARARRAY, value)


def only(script: str) -> s.Statement:
    (statement,) = parse_script(script).statements
    return statement


def operator(written: str) -> o.RelationalOperator:
    statement = only(f"r = {written};")
    assert isinstance(statement, s.AssignStatement)
    assert statement.alias == o.RelationName("r")
    return statement.operator


STORAGE = o.FunctionReference("PigStorage", (",",))
POSITIVE = t.ComparisonTerm(">", X, number(0))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("LOAD 'in'", o.LoadOperator("in")),
        ("load 'in' using PigStorage(',')", o.LoadOperator("in", STORAGE)),
        (
            "LOAD 'in' USING org.example.Loader AS (n: int, m: map[], c)",
            o.LoadOperator(
                "in",
                o.FunctionReference("org.example.Loader"),
                (t.FieldDeclaration("n", INT), t.FieldDeclaration("m", t.MapTypeName()), t.FieldDeclaration("c")),
            ),
        ),
        ("LOAD 'in' AS line: chararray", o.LoadOperator("in", None, (t.FieldDeclaration("line", TEXT),))),
        (
            "LOAD 'in' AS (b: {t: (n: int)}, (x, y), bag{}, [int])",
            o.LoadOperator(
                "in",
                None,
                (
                    t.FieldDeclaration("b", t.BagTypeName(t.TupleTypeName((t.FieldDeclaration("n", INT),)), "t")),
                    t.FieldDeclaration(
                        None, t.TupleTypeName((t.FieldDeclaration("x"), t.FieldDeclaration("y")))
                    ),
                    t.FieldDeclaration(None, t.BagTypeName()),
                    t.FieldDeclaration(None, t.MapTypeName(INT)),
                ),
            ),
        ),
        ("FILTER a BY x > 0", o.FilterOperator(A, POSITIVE)),
        ("FILTER (LOAD 'in') BY x > 0", o.FilterOperator(o.LoadOperator("in"), POSITIVE)),
        ("FILTER @ BY x > 0 PARALLEL 3", o.FilterOperator(o.PreviousRelation(), POSITIVE, parallel=3)),
        (
            "FOREACH a GENERATE x AS n: int, FLATTEN(y) AS (p, q), *, $1..",
            o.ForeachOperator(
                A,
                (
                    o.GenerateItem(X, False, (t.FieldDeclaration("n", INT),)),
                    o.GenerateItem(Y, True, (t.FieldDeclaration("p"), t.FieldDeclaration("q"))),
                    o.GenerateItem(t.StarTerm()),
                    o.GenerateItem(t.RangeTerm(t.IndexTerm(1), None)),
                ),
            ),
        ),
        ("GROUP a ALL", o.GroupOperator((o.GroupedInput(A),))),
        ("GROUP a BY x USING 'collected'", o.GroupOperator((o.GroupedInput(A, (X,)),), "collected")),
        ("GROUP a BY (x, y)", o.GroupOperator((o.GroupedInput(A, (X, Y)),))),
        (
            "COGROUP a BY x INNER, b BY y OUTER PARTITION BY org.P PARALLEL 4",
            o.GroupOperator(
                (
                    o.GroupedInput(A, (X,), o.GroupSide.INNER),
                    o.GroupedInput(B, (Y,), o.GroupSide.OUTER),
                ),
                None,
                "org.P",
                parallel=4,
            ),
        ),
        ("JOIN a BY x, b BY y", o.JoinOperator((o.JoinedInput(A, (X,)), o.JoinedInput(B, (Y,))))),
        (
            "JOIN a BY $0 LEFT OUTER, b BY (y) USING 'replicated'",
            o.JoinOperator(
                (o.JoinedInput(A, (t.IndexTerm(0),)), o.JoinedInput(B, (Y,))), o.JoinWord.LEFT, "replicated"
            ),
        ),
        (
            "JOIN a BY (x, y) FULL, b BY (x, y)",
            o.JoinOperator((o.JoinedInput(A, (X, Y)), o.JoinedInput(B, (X, Y))), o.JoinWord.FULL),
        ),
        (
            "ORDER a BY x DESC, $1 ASC, (y DESC)",
            o.OrderOperator(
                A, (o.SortColumn(X, True), o.SortColumn(t.IndexTerm(1)), o.SortColumn(Y, True))
            ),
        ),
        ("ORDER a BY * DESC", o.OrderOperator(A, (o.SortColumn(t.StarTerm(), True),))),
        ("ORDER a BY $0..$2", o.OrderOperator(A, (o.SortColumn(t.RangeTerm(t.IndexTerm(0), t.IndexTerm(2))),))),
        ("RANK a", o.RankOperator(A)),
        ("RANK a BY x DESC, y DENSE", o.RankOperator(A, (o.SortColumn(X, True), o.SortColumn(Y)), True)),
        ("DISTINCT a PARALLEL 2", o.DistinctOperator(A, parallel=2)),
        ("LIMIT a 10", o.LimitOperator(A, number(10))),
        ("LIMIT a b.x / 2", o.LimitOperator(A, t.ArithmeticTerm("/", t.FieldsTerm(t.NameTerm("b"), (X,)), number(2)))),
        ("SAMPLE a 0.5", o.SampleOperator(A, t.LiteralTerm(t.LiteralKind.DOUBLE, Decimal("0.5")))),
        ("CROSS a, b", o.CrossOperator((A, B))),
        ("UNION a, b", o.UnionOperator((A, B))),
        ("UNION ONSCHEMA a, b", o.UnionOperator((A, B), True)),
        (
            "CUBE a BY CUBE(x, y), ROLLUP(*)",
            o.CubeOperator(A, (o.CubeDimension(False, (X, Y)), o.CubeDimension(True, (t.StarTerm(),)))),
        ),
        (
            "STREAM a THROUGH `awk '{print $1}'` AS (n: int)",
            o.StreamOperator(A, "awk '{print $1}'", None, (t.FieldDeclaration("n", INT),)),
        ),
        ("STREAM a THROUGH strip", o.StreamOperator(A, None, "strip")),
        (
            "MAPREDUCE 'x.jar' STORE a INTO 'p' LOAD 'q' AS (n: int) `org.X p q`",
            o.NativeOperator(
                "x.jar", A, "p", None, o.LoadOperator("q", None, (t.FieldDeclaration("n", INT),)), "org.X p q"
            ),
        ),
    ],
)  # fmt: skip
def test_operator(written: str, expected: o.RelationalOperator) -> None:
    assert operator(written) == expected
    assert operator(f"({written})") == expected
    assert operator(written.replace(" ", "\n")) == expected or "`" in written


def test_nested_block() -> None:
    block = operator(
        """FOREACH a {
        f = FILTER b BY x > 0;
        s = ORDER f BY x DESC;
        d = DISTINCT b.(x, y);
        l = LIMIT s 3;
        c = CROSS d, l;
        g = FOREACH l GENERATE x AS n;
        e = x + 1;
        p = b.x;
        GENERATE group, COUNT(d), FLATTEN(l);
    }"""
    )
    assert isinstance(block, o.ForeachOperator)
    assert block.block
    name = t.NameTerm
    assert [(each.name, each.value) for each in block.nested] == [
        ("f", o.NestedFilter(name("b"), POSITIVE)),
        ("s", o.NestedOrder(name("f"), (o.SortColumn(X, True),))),
        ("d", o.NestedDistinct(t.FieldsTerm(name("b"), (X, Y)))),
        ("l", o.NestedLimit(name("s"), number(3))),
        ("c", o.NestedCross((name("d"), name("l")))),
        ("g", o.NestedForeach(name("l"), (o.GenerateItem(X, False, (t.FieldDeclaration("n"),)),))),
        ("e", t.ArithmeticTerm("+", X, number(1))),
        ("p", t.FieldsTerm(name("b"), (X,))),
    ]
    assert [each.term for each in block.items] == [name("group"), t.CallTerm("COUNT", (name("d"),)), name("l")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("STORE a INTO 'out'", s.StoreStatement(A, "out")),
        ("store a into 'out' using PigStorage(',')", s.StoreStatement(A, "out", STORAGE)),
        ("r = STORE a INTO 'out'", s.StoreStatement(A, "out")),
        (
            "SPLIT a INTO p IF x > 0, q IF x == y, r OTHERWISE",
            s.SplitStatement(
                A,
                (
                    s.SplitBranch(o.RelationName("p"), POSITIVE),
                    s.SplitBranch(o.RelationName("q"), t.ComparisonTerm("==", X, Y)),
                    s.SplitBranch(o.RelationName("r"), None),
                ),
            ),
        ),
        ("ASSERT a BY x > 0, 'no'", s.AssertStatement(A, POSITIVE, "no")),
        ("b = a", s.RealiasStatement(B, A)),
        ("=> LOAD 'in'", s.AssignStatement(None, o.LoadOperator("in"))),
        ("DEFINE strip org.Strip('x', 'y')", s.DefineFunction("strip", o.FunctionReference("org.Strip", ("x", "y")))),
        (
            "DEFINE cmd `perl x.pl` SHIP('x.pl') CACHE('a#b') INPUT('i' USING PigStorage(','))"
            " OUTPUT(stdout) STDERR('e' LIMIT 5)",
            s.DefineCommand(
                "cmd",
                "perl x.pl",
                ("x.pl",),
                ("a#b",),
                (s.StreamHandle("i", False, STORAGE),),
                (s.StreamHandle("stdout", True),),
                "e",
                5,
            ),
        ),
        ("REGISTER 'f.py' USING jython AS f", s.RegisterStatement("f.py", "jython", "f")),
        ("register /lib/*.jar", s.RegisterStatement("/lib/*.jar")),
        ("SET job.name 'a; b'", s.SetStatement("job.name", "a; b")),
        ("set default_parallel 10", s.SetStatement("default_parallel", "10")),
        ("DUMP a", s.DumpStatement(A)),
        ("\\d a", s.DumpStatement(A)),
        ("dump", s.DumpStatement()),
        ("DUMP @", s.DumpStatement(o.PreviousRelation())),
        ("DESCRIBE a::b", s.DescribeStatement(o.RelationName("a::b"))),
        ("EXPLAIN -brief -out x a", s.ExplainStatement(A, None, "x", "text", True)),
        ("explain -script f.pig -param k=v", s.ExplainStatement(None, "f.pig", None, "text", False, ("k=v",))),
        ("ILLUSTRATE a", s.IllustrateStatement(A)),
        ("EXEC", s.ScriptStatement(True)),
        ("run -param a=1 -param_file p f.pig", s.ScriptStatement(False, "f.pig", ("a=1",), ("p",))),
        ("fs -rm -r /tmp/*", s.ShellStatement("fs", ("-rm", "-r", "/tmp/*"))),
        ("sh echo 'a b' -- c", s.ShellStatement("sh", ("echo", "a b"))),
        ("copyfromlocal a b", s.ShellStatement("copyFromLocal", ("a", "b"))),
        ("rmf out", s.ShellStatement("rmf", ("out",))),
        ("ls", s.ShellStatement("ls")),
    ],
)  # fmt: skip
def test_statement(written: str, expected: s.Statement) -> None:
    assert only(f"{written};") == expected
    assert only(f"-- before\n/* and */ {written}\n;;") == expected


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("b = FOREACH a { GENERATE x; }\ndump b;", id="after a block"),
        pytest.param("b = FOREACH a { GENERATE x; };dump b;", id="after a block, with one"),
        pytest.param("SET x 1\ndump b\n", id="after commands"),
        pytest.param("exec\nrm x\n", id="after exec"),
        pytest.param("register x.jar\nrun y.pig", id="after register"),
        pytest.param("b = a; dump b", id="at the end"),
        pytest.param("DEFINE m() RETURNS void { dump b; }\nm(); sh true", id="after a macro"),
    ],
)
def test_semicolons_may_be_missing(script: str) -> None:
    assert len(parse_script(script).statements) == 2


@pytest.mark.parametrize("word", ["rank", "cube", "end", "then", "input", "output", "left", "store", "group", "int"])
def test_keywords_are_names_where_they_can_only_be_names(word: str) -> None:
    generated = operator(f"FOREACH a GENERATE {word}, b.{word}, COUNT({word}) AS {word}2")
    assert isinstance(generated, o.ForeachOperator)
    assert generated.items[0].term == t.NameTerm(word)
    assert generated.items[1].term == t.FieldsTerm(t.NameTerm("b"), (t.NameTerm(word),))


@pytest.mark.parametrize("alias", ["dump", "set", "ls", "register", "explain", "rank", "cube"])
def test_commands_are_aliases_where_they_get_a_value(alias: str) -> None:
    assert only(f"{alias} = LOAD 'in';") == s.AssignStatement(o.RelationName(alias), o.LoadOperator("in"))


@pytest.mark.parametrize("word", ["end", "then", "else", "in", "rank", "cube", "when"])
@pytest.mark.parametrize(
    "written", ["LIMIT b {}", "LIMIT b.x {}", "LIMIT b.(x, y) {}", "DISTINCT {}", "FILTER {} BY {} > 0"]
)
def test_words_that_pig_takes_for_names_are_names_in_blocks(word: str, written: str) -> None:
    block = operator(f"FOREACH a {{ {word} = {written.replace('{}', word)}; GENERATE {word}; }}")
    assert isinstance(block, o.ForeachOperator)
    assert block.items[0].term == t.NameTerm(word)
