"""Functions that a user wrote in Python: loaded, called, told apart, sent to workers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from incoop.code.pickler import dumps
from incoop.fingerprint import ImpurityWarning
from incoop.fronts.pig.udfs import UdfFileFailed, UserFunction, load_udfs
from incoop.query.errors import QueryError, UserFunctionFailed
from incoop.query.expressions import build
from incoop.query.expressions.nodes import Constant, Reference
from incoop.query.types import BYTES, DATETIME, INT, TEXT, BagType, Field, MapType, TupleType

from .calls import constant, value_of

BAG = BagType((Field("w", TEXT), Field("n", INT)))


@pytest.fixture(autouse=True)
def _modules_are_as_before(tmp_path: Path) -> Iterator[None]:
    path = list(sys.path)
    yield
    for name, module in list(sys.modules.items()):
        if name == "pig_util" or str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    sys.path[:] = path


def loaded(folder: Path, text: str, namespace: str | None = "my", language: str = "jython") -> Any:
    file = folder / "udfs.py"
    file.write_text(text)
    return load_udfs(file, language, namespace)


def called(function: UserFunction, *values: Any) -> Any:
    return value_of(function.call([constant(each) for each in values]))[0]


def test_functions_are_found_by_name_with_the_decorators_that_jython_has(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        '@outputSchema("word: chararray")\n'
        "def shout(word):\n    return word.upper() + '!'\n"
        "def plain(x): return x\n"
        "class Thing: pass\n"
        "number = 3\n",
    )
    assert set(found) == {"my.shout", "my.plain"}
    shout = found["my.shout"]
    assert (shout.result_name, str(shout.call([constant("a")]).type)) == ("word", "text")
    assert called(shout, "a") == "A!"
    assert found["my.plain"].result_name is None
    assert found["my.plain"].call([constant(1)]).type == BYTES
    assert called(found["my.plain"], 7) == 7


@pytest.mark.parametrize("language", ["jython", "streaming_python", "python", "JYTHON"])
def test_pig_util_can_be_imported_without_pig(tmp_path: Path, language: str) -> None:
    found = loaded(
        tmp_path,
        "from pig_util import outputSchema\n@outputSchema('n: int')\ndef size(x): return len(x)\n",
        None,
        language,
    )
    assert list(found) == ["size"]
    assert called(found["size"], "abc") == 3


def test_modules_beside_the_file_are_found_and_may_import_pig_util(tmp_path: Path) -> None:
    (tmp_path / "pig_test_helper.py").write_text("import pig_util\ndef twice(x): return x * 2\n")
    found = loaded(
        tmp_path, "import pig_test_helper\n@outputSchema('x: int')\ndef f(x): return pig_test_helper.twice(x)\n"
    )
    assert called(found["my.f"], 4) == 8


def test_schemas_by_another_function(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        "@outputSchemaFunction('same')\ndef square(x): return x * x\n"
        "@schemaFunction('same')\ndef same(input): return input\n"
        "@outputSchemaFunction('said')\ndef pair(x): return x, 'a'\n"
        "@schemaFunction('said')\ndef said(input): return 'x: int, y: chararray'\n"
        "@outputSchemaFunction('bad')\ndef odd(x): return x\n"
        "@schemaFunction('bad')\ndef bad(input): return 1\n"
        "@outputSchemaFunction('raises')\ndef odder(x): return x\n"
        "@schemaFunction('raises')\ndef raises(input): return 1 / 0\n",
    )
    assert set(found) == {"my.square", "my.pair", "my.odd", "my.odder"}
    assert found["my.square"].call([Reference(0, INT)]).type == INT
    assert str(found["my.pair"].call([Reference(0, INT)]).type) == "(x: int, y: text)"
    assert called(found["my.pair"], 1) == (1, "a")
    with pytest.raises(QueryError, match="returned 1"):
        found["my.odd"].call([Reference(0, INT)])
    with pytest.raises(QueryError, match="ZeroDivisionError"):
        found["my.odder"].call([Reference(0, INT)])


RETURNS = [
    ("int", "1", 1),
    ("long", "2 ** 40", 2**40),
    ("double", "1", 1.0),
    ("float", "0.1", 0.10000000149011612),
    ("bigdecimal", "__import__('decimal').Decimal('1.50')", Decimal("1.5")),
    ("biginteger", "2 ** 70", Decimal(2**70)),
    ("chararray", "b'a\\xff'", "a\ufffd"),
    ("chararray", "'\\ud800'", "?"),
    ("bytearray", "bytearray(b'a')", b"a"),
    ("bytearray", "'a'", "a"),
    ("boolean", "True", True),
    ("datetime", "__import__('datetime').datetime(2015, 1, 3)", datetime(2015, 1, 3, tzinfo=UTC)),
    ("datetime", "__import__('datetime').date(2015, 1, 3)", datetime(2015, 1, 3, tzinfo=UTC)),
    ("t: (a: int, b: chararray)", "[1, 'x']", (1, "x")),
    ("a: int, b: chararray", "(1, None)", (1, None)),
    ("tuple", "(1, 'x')", (1, "x")),
    ("{(a: int)}", "[3, (1,), [2]]", [(3,), (1,), (2,)]),
    ("bag{t: (a: int)}", "(x for x in (2, 1))", [(2,), (1,)]),
    ("{(a: int)}", "{3, 1, 2}", [(1,), (2,), (3,)]),
    ("{}", "[('a', 1)]", [("a", 1)]),
    ("map[int]", "{'b': 1, 'a': 2}", {"a": 2, "b": 1}),
    ("map[]", "{'a': [1]}", {"a": [(1,)]}),
    ("int", "None", None),
]


@pytest.mark.parametrize(("schema", "result", "expected"), RETURNS)
def test_what_a_function_gives_becomes_a_value_of_its_schema(
    tmp_path: Path, schema: str, result: str, expected: Any
) -> None:
    found = loaded(tmp_path, f"@outputSchema({schema!r})\ndef f():\n    return {result}\n")
    assert repr(called(found["my.f"])) == repr(expected)


@pytest.mark.parametrize(
    ("schema", "result", "said"),
    [
        ("int", "'1'", "its schema says int"),
        ("int", "3 / 2", "// is a whole one"),
        ("int", "2 ** 31", "which no int holds"),
        ("long", "2 ** 63", "which no long holds"),
        ("int", "True", "bool"),
        ("chararray", "1", "its schema says text"),
        ("boolean", "1", "its schema says boolean"),
        ("datetime", "'2015'", "its schema says datetime"),
        ("(a: int, b: int)", "(1,)", "2 fields"),
        ("(a: int)", "1", "(value,)"),
        ("{(a: int)}", "'ab'", "Give a list of tuples"),
        ("{(a: int)}", "7", "Give a list of tuples"),
        ("map[int]", "{1: 1}", "Keys are str"),
        ("map[int]", "[1]", "Give a dict"),
        ("bytearray", "object()", "Give a number, str"),
        ("bytearray", "2 ** 63", "which no long holds"),
    ],
)
def test_what_its_schema_does_not_say_ends_the_query_with_the_record(
    tmp_path: Path, schema: str, result: str, said: str
) -> None:
    found = loaded(tmp_path, f"@outputSchema({schema!r})\ndef f(x):\n    return {result}\n")
    with pytest.raises(UserFunctionFailed) as caught:
        called(found["my.f"], "the record")
    assert said in str(caught.value)
    assert "my.f failed on ('the record',)" in str(caught.value)


def test_a_function_that_raises_says_where_and_on_what(tmp_path: Path) -> None:
    found = loaded(tmp_path, "def inner(x):\n    return 1 / x\ndef f(x):\n    return inner(x)\n")
    with pytest.raises(UserFunctionFailed) as caught:
        called(found["my.f"], 0)
    assert 'udfs.py", line 2, in inner' in str(caught.value)
    assert "incoop" not in str(caught.value).partition("Traceback")[2]  # our own frames are left out
    assert "ZeroDivisionError" in str(caught.value) and "(0,)" in str(caught.value)


def test_what_a_function_gets_is_its_own(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        "@outputSchema('chararray')\n"
        "def f(*values):\n"
        "    said = repr(values)\n"
        "    values[0].append(('z', 9)); values[1]['z'] = 1; values[2][0].clear()\n"
        "    return said\n",
    )
    bag, mapping, row = [("a", 1)], {"k": 2}, ([("b", 2)], None)
    given = [Constant(bag, BAG), Constant(mapping, MapType(INT)), Constant(row, TupleType())]
    assert value_of(found["my.f"].call(given))[0] == "([('a', 1)], {'k': 2}, ([('b', 2)], None))"
    assert (bag, mapping, row) == ([("a", 1)], {"k": 2}, ([("b", 2)], None))
    said = value_of(found["my.f"].call([*given, constant(b"x"), Constant(datetime(2015, 1, 3, tzinfo=UTC), DATETIME)]))[
        0
    ]
    assert "b'x'" in said and "2015, 1, 3" in said


def test_arguments_are_counted_before_anything_runs(tmp_path: Path) -> None:
    found = loaded(tmp_path, "def f(a, b=1): return a\n")
    for count in (0, 3):
        with pytest.raises(QueryError, match=r"my\.f\(a, b=1\) cannot be called"):
            found["my.f"].call([build.constant(1)] * count)
    assert called(found["my.f"], 1) == 1


def test_a_helper_two_calls_away_changes_the_identity_and_a_comment_does_not(tmp_path: Path) -> None:
    helper = tmp_path / "pig_test_words.py"
    text = (
        "from pig_test_words import clean\ndef middle(x): return clean(x)\n"
        "@outputSchema('x: chararray')\ndef f(x): return middle(x)\n"
    )

    def identity(helped: str, own: str = text) -> bytes:
        for name in ("udfs", "pig_test_words"):
            sys.modules.pop(name, None)
        helper.write_text(helped)
        call = loaded(tmp_path, own)["my.f"].call([constant("a")])
        return bytes(call.identity)

    first = identity("def clean(x): return x.strip()\n")
    assert identity("# why\ndef clean(x):\n    return x.strip()\n") == first
    assert identity("def clean(x): return x.strip()\n", "# more\n" + text) == first
    assert identity("def clean(x): return x.strip(' .')\n") != first


def test_functions_travel_with_what_they_use(tmp_path: Path) -> None:
    """To a process that knows neither the file nor its folder."""
    found = loaded(
        tmp_path,
        "import re\nWORD = re.compile('[a-z]+')\ndef words(x): return WORD.findall(x)\n"
        "@outputSchema('{(word: chararray)}')\ndef f(x): return words(x)\n",
    )
    data, _, _ = dumps(found["my.f"].call([Reference(0, TEXT)]))
    program = (
        "import pickle, sys; from incoop.query.expressions.rows import compile_row; "
        "from incoop.query.expressions.evaluation import Evaluation; "
        "print(compile_row(pickle.load(sys.stdin.buffer))(('ab cd',), Evaluation()))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True, cwd="/")
    assert done.stdout.decode().strip() == "[('ab',), ('cd',)]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x):\n    print 'a'\n", "line 2.*Python 2"),
        ("import no_such_module_there\n", "ModuleNotFoundError"),
        ("x = 1\n", "defines no function"),
        ("raise SystemExit(3)\n", "SystemExit"),
        ("@outputSchema('a: nix')\ndef f(x): return x\n", "no schema"),
        ("@outputSchema(3)\ndef f(x): return x\n", "no text"),
        ("@outputSchemaFunction('gone')\ndef f(x): return x\n", "no function there"),
        ("def f(x)\n", "line 1"),
    ],
)
def test_a_file_that_cannot_be_registered(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(QueryError, match=f"(?s){said}"):
        loaded(tmp_path, text)
    assert called(loaded(tmp_path, "def f(x): return x\n")["my.f"], 1) == 1  # mended


def test_files_and_languages_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UdfFileFailed, match="no such file"):
        load_udfs(tmp_path / "gone.py", "jython", "my")
    (tmp_path / "a.js").write_text("x")
    with pytest.raises(QueryError, match="in javascript cannot be called"):
        load_udfs(tmp_path / "a.js", "javascript", "my")


def test_a_function_that_asks_a_clock_is_said_and_one_that_reads_a_file_is_not(tmp_path: Path) -> None:
    with pytest.warns(ImpurityWarning, match=r"my\.f in .*udfs\.py calls time\.time .*a parameter"):
        loaded(tmp_path, "import time\ndef f(): return time.time()\n")
    loaded(tmp_path, "def f(): return open('x').read()\n")  # what it reads counts


def test_what_a_file_prints_does_not_stand_among_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded(tmp_path, "print('hello')\ndef f(x): return x\n")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")
