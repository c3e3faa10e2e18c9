"""Functions that merge values of a key: what is known to add up, what changes its argument, and where keys are put."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop.contraction.tree.folds import Fold
from incoop.fronts.rdd.mergers import Merge, fold_of, is_addition

from .harness import CHUNKS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Function = Callable[[Any, Any], Any]


def added(a: Any, b: Any) -> Any:
    return a + b


OTHERS: dict[str, Any] = {
    "multiplied": lambda a, b: a * b,
    "subtracted": lambda a, b: a - b,
    "united": lambda a, b: a | b,
    "shifted": lambda a, b: a << b,
    "swapped": lambda a, b: b + a,
    "the first twice": lambda a, b: a + a,
    "the second twice": lambda a, b: b + b,
    "called": lambda a, b: max(a, b),
    "one more": lambda a, b: a + b + 1,
    "the first of them": lambda a, b: a,
    "with a default": lambda a, b=0: a + b,
    "one from outside": lambda a, b: a + OUTSIDE,
    "three of them": lambda a, b, c=0: a + b,
    "a named one": lambda a, *, b=0: a + b,
}
OUTSIDE = 5


@pytest.mark.parametrize("function", [added, operator.add, lambda one, other: one + other])
def test_a_function_that_adds_its_arguments_in_their_order_is_an_addition(function: Function) -> None:
    assert is_addition(function)
    assert fold_of(function) is Fold.SUM


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_function_is_an_addition(name: str) -> None:
    assert not is_addition(OTHERS[name])
    assert fold_of(OTHERS[name]) is None


@pytest.mark.parametrize("function", [operator.mul, operator.sub, operator.or_, operator.iadd, operator.concat, sum])
def test_a_builtin_that_is_no_fold_is_called(function: Any) -> None:
    assert fold_of(function) is None


def test_a_merge_that_changes_its_first_argument_changes_no_value_that_it_was_given() -> None:
    def extended(a: list[Any], b: list[Any]) -> list[Any]:
        a[0].extend(b[0])
        return a

    values = [[["a"]], [["b"]], [["c"]]]
    assert Merge(extended)("key", values) == [("key", [["a", "b", "c"]])]
    assert values == [[["a"]], [["b"]], [["c"]]]
    assert Merge(extended)("key", values) == [("key", [["a", "b", "c"]])]


@pytest.fixture(scope="module")
def inc(spark: SparkSession, base: Path) -> Iterator[incoop.Session]:
    with incoop.connect(base / "merging", spark=spark, chunks=CHUNKS) as session:
        yield session


#: Each key twice, far apart and side by side: then all of these give one result however they are put together.
LINES = [f"k{number % 300} {number + 2}" for number in range(600)] + [
    f"j{number // 2} {number}" for number in range(300)
]


def write(file: Path, lines: list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines))


MERGES: dict[str, tuple[Callable[[str], Any], Function]] = {
    "multiplied": (int, lambda a, b: a * b),
    "subtracted": (int, lambda a, b: a - b),
    "united": (int, lambda a, b: a | b),
    "swapped": (str, lambda a, b: b + a),
    "changed in place": (lambda text: [text], operator.iadd),
}


@pytest.mark.parametrize("name", MERGES)
def test_merged_values_are_those_of_python_before_and_after_an_edit(
    name: str, inc: incoop.Session, tmp_path: Path
) -> None:
    value, merge = MERGES[name]
    lines = list(LINES)
    for edit in ("k7 1", "j9 77", None):
        write(tmp_path / "lines.txt", lines)
        inc._rdds = None
        pairs = inc.textFile(str(tmp_path / "lines.txt")).map(str.split).map(lambda p: (p[0], value(p[1])))
        found = pairs.reduceByKey(merge).collectAsMap()
        groups: dict[str, list[Any]] = {}
        for key, text in map(str.split, lines):
            groups.setdefault(key, []).append(value(text))
        assert found == {key: reduce(merge, values) for key, values in groups.items()}
        if edit is not None:
            at = next(at for at, line in enumerate(lines) if line.startswith(edit.partition(" ")[0] + " "))
            lines[at] = edit


@pytest.mark.parametrize("number", [3, None], ids=["three partitions", "as many as there are"])
def test_keys_are_where_the_programs_own_function_puts_them(
    number: int | None, inc: incoop.Session, spark: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path / "lines.txt", LINES)
    for shift in (0, 1):

        def placed(key: str) -> int:
            return len(key) + shift  # noqa: B023

        def keys_of(pairs: Any) -> list[list[str]]:
            counts = pairs.map(lambda line: (line.split()[0], 1)).reduceByKey(operator.add, number, placed)
            return [sorted(key for key, _ in part) for part in counts.glom().collect()]

        inc._rdds = None
        theirs = keys_of(spark.sparkContext.textFile(str(tmp_path / "lines.txt")))
        assert keys_of(inc.textFile(str(tmp_path / "lines.txt"))) == theirs
        assert all(len({placed(key) % len(theirs) for key in part}) <= 1 for part in theirs)
