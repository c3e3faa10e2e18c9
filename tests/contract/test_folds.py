"""Which combiners are known to be sums, minima or maxima: by what they do, not by what their file imports."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.contraction.tree.folds import Fold, fold_groups, recognise

FUTURES = ("", "from __future__ import annotations\n", "from __future__ import division, generator_stop\n")

FOLDS = {
    "yielded": "def f(key, values):\n    yield key, {0}(values)",
    "on one line": "def f(key, values): yield key, {0}(values)",
    "with a docstring": "def f(key, values):\n    'Doc.'\n    yield key, {0}(values)",
    "with other names and annotations": "def f(word: str, counts: list) -> object:\n    yield word, {0}(counts)",
    "split over lines": "def f(key, values):\n    yield (\n        key,\n        {0}(\n            values),\n    )",
    "returned in a list": "def f(key, values):\n    return [(key, {0}(values))]",
    "returned in a tuple": "def f(key, values):\n    return ((key, {0}(values)),)",
    "by way of a name": "def f(key, values):\n    found = {0}(values)\n    yield key, found",
    "a lambda": "f = lambda key, values: [(key, {0}(values))]",
    "made in a function": "def make():\n    def f(key, values): yield key, {0}(values)\n    return f\nf = make()",
}

LOOPS = {
    "added up": "def f(key, values):\n    n = 0\n    for v in values:\n        n += v\n    yield key, n",
    "added up in full": "def f(key, values):\n    n = 0\n    for v in values:\n        n = n + v\n    yield key, n",
    "with a docstring": "def f(word, ones):\n    'Doc.'\n    n = 0\n    for one in ones: n += one\n    yield word, n",
    "returned in a list": "def f(key, values):\n    n = 0\n    for v in values: n += v\n    return [(key, n)]",
    "returned in a tuple": "def f(key, values):\n    n = 0\n    for v in values: n += v\n    return ((key, n),)",
}

OTHER_LOOPS = {
    "from one on": "def f(key, values):\n    n = 1\n    for v in values:\n        n += v\n    yield key, n",
    "from a float on": "def f(key, values):\n    n = 0.0\n    for v in values:\n        n += v\n    yield key, n",
    "from False on": "def f(key, values):\n    n = False\n    for v in values:\n        n += v\n    yield key, n",
    "counted": "def f(key, values):\n    n = 0\n    for v in values:\n        n += 1\n    yield key, n",
    "taken away": "def f(key, values):\n    n = 0\n    for v in values:\n        n -= v\n    yield key, n",
    "added to the key": "def f(key, values):\n    n = 0\n    for key in values:\n        n += key\n    yield key, n",
    "the last one only": "def f(key, values):\n    n = 0\n    for v in values:\n        n += v\n    yield key, v",
    "some of them": "def f(key, values):\n    n = 0\n    for v in values:\n        if v: n += v\n    yield key, n",
    "as they come": "def f(key, values):\n    n = 0\n    for v in values:\n        n += v\n        yield key, n",
    "to the first": "def f(key, values):\n    n = 0\n    for v in values:\n        n += v; break\n    yield key, n",
    "of the key": "def f(key, values):\n    n = 0\n    for v in key:\n        n += v\n    yield key, n",
}

OTHERS = {
    "more than the sum": "def f(key, values):\n    yield key, {0}(values) + 1",
    "twice": "def f(key, values):\n    yield key, {0}(values)\n    yield key, {0}(values)",
    "of something else": "def f(key, values):\n    yield key, {0}([1])",
    "the other way round": "def f(values, key):\n    yield key, {0}(values)",
    "with another argument": "def f(key, values, more):\n    yield key, {0}(values)",
    "with any more arguments": "def f(key, values, *more):\n    yield key, {0}(values)",
    "with a keyword": "def f(key, values, *, more):\n    yield key, {0}(values)",
    "with a keyword that has a default": "def f(key, values, *, more=1):\n    yield key, {0}(values)",
    "with any keywords": "def f(key, values, **more):\n    yield key, {0}(values)",
    "of a method": "def f(key, values):\n    yield key, values.{0}()",
    "of another name": "def f(key, values):\n    yield key, len(values)",
    "returned alone": "def f(key, values):\n    return key, {0}(values)",
    "with a captured name": (
        "def make({0}):\n    def f(key, values): yield key, {0}(values)\n    return f\nf = make(len)"
    ),
    "a name that is captured": ("def f(key, values):\n    yield key, {0}(values)\n    lambda: key"),
    "with a default": "def f(key, values=()):\n    yield key, {0}(values)",
    "with any arguments": "def f(key, *values):\n    yield key, {0}(values)",
    "asynchronous": "async def f(key, values):\n    yield key, {0}(values)",
    "with a function of that name": "def {0}(values): return 3\ndef f(key, values):\n    yield key, {0}(values)",
}


def _function(source: str, future: str, fold: Fold) -> Any:
    """Compile as the user's own file is compiled: nothing of this file's imports gets in."""
    namespace: dict[str, Any] = {"__name__": "job"}
    text = future + textwrap.dedent(source).format(fold.value)
    exec(compile(text, "job.py", "exec", dont_inherit=True), namespace)
    return namespace["f"]


@pytest.mark.parametrize("fold", Fold)
@pytest.mark.parametrize("future", FUTURES)
@pytest.mark.parametrize("name", FOLDS)
def test_a_fold_is_recognised_whatever_its_file_imports(name: str, future: str, fold: Fold) -> None:
    assert recognise(_function(FOLDS[name], future, fold)) is fold


@pytest.mark.parametrize("future", FUTURES)
@pytest.mark.parametrize("name", LOOPS)
def test_a_sum_in_a_loop_is_recognised(name: str, future: str) -> None:
    assert recognise(_function(LOOPS[name], future, Fold.SUM)) is Fold.SUM


@pytest.mark.parametrize("name", OTHER_LOOPS)
def test_a_loop_that_does_anything_else_is_no_sum(name: str) -> None:
    assert recognise(_function(OTHER_LOOPS[name], "", Fold.SUM)) is None


@pytest.mark.parametrize("fold", Fold)
@pytest.mark.parametrize("future", FUTURES)
@pytest.mark.parametrize("name", OTHERS)
def test_what_does_anything_else_is_no_fold(name: str, future: str, fold: Fold) -> None:
    assert recognise(_function(OTHERS[name], future, fold)) is None


def test_what_is_no_function_is_no_fold() -> None:
    assert recognise(None) is None
    assert recognise(sum) is None
    assert recognise(np.add) is None


def test_a_combiner_that_says_what_it_is_is_believed() -> None:
    class Says:
        known_fold = Fold.MAX

        def __call__(self, key: Any, values: Any) -> Any:
            raise NotImplementedError

    class SaysNonsense(Says):
        known_fold = "max"  # type: ignore[assignment]

    assert recognise(Says()) is Fold.MAX
    assert recognise(SaysNonsense()) is None


def test_the_builtin_itself_under_its_own_name_is_the_builtin() -> None:
    assert recognise(_function("from builtins import {0}\ndef f(key, values): yield key, {0}(values)", "", Fold.MIN))


def test_a_fold_is_named_after_its_builtin() -> None:
    assert {fold.value for fold in Fold} == {"sum", "min", "max"}


def folded(fold: Fold, groups: list[list[int]]) -> list[int] | None:
    firsts = np.cumsum([0, *map(len, groups)])
    found = fold_groups(fold, np.array([number for group in groups for number in group], np.int64), firsts)
    return found.tolist() if found is not None else None


@given(st.lists(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5), min_size=1, max_size=6))
def test_groups_are_folded_as_the_builtins_fold_them(groups: list[list[int]]) -> None:
    for fold, builtin in ((Fold.SUM, sum), (Fold.MIN, min), (Fold.MAX, max)):
        assert folded(fold, groups) == [builtin(group) for group in groups]


@pytest.mark.parametrize(
    ("groups", "fits"),
    [
        pytest.param([[2**62 - 1, 2**62 - 1], [1]], True, id="just fits"),
        pytest.param([[2**62, 2**62], [1]], False, id="just does not"),
        pytest.param([[-(2**62), -(2**62)], [1]], False, id="nor below zero"),
        pytest.param([[2**63 - 1], [1]], True, id="alone"),
        pytest.param([[2**62], [1, 1]], False, id="a long group elsewhere may be its"),
    ],
)
def test_sums_that_may_not_fit_are_left_to_the_function(groups: list[list[int]], fits: bool) -> None:
    assert folded(Fold.SUM, groups) == ([sum(group) for group in groups] if fits else None)
    assert folded(Fold.MAX, groups) == [max(group) for group in groups]


def test_no_groups_fold_to_none() -> None:
    for fold in Fold:
        assert folded(fold, []) == []
