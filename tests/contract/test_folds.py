"""Which combiners are known to be sums, minima or maxima: by what they do, not by what their file imports."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from incoop.contraction.tree.folds import Fold, recognise

FUTURES = ("", "from __future__ import annotations\n", "from __future__ import division, generator_stop\n")

FOLDS = {
    "yielded": "def f(key, values):\n    yield key, {0}(values)",
    "on one line": "def f(key, values): yield key, {0}(values)",
    "with a docstring": "def f(key, values):\n    'Doc.'\n    yield key, {0}(values)",
    "with other names and annotations": "def f(word: str, counts: list) -> object:\n    yield word, {0}(counts)",
    "split over lines": "def f(key, values):\n    yield (\n        key,\n        {0}(\n            values),\n    )",
    "returned in a list": "def f(key, values):\n    return [(key, {0}(values))]",
    "returned in a tuple": "def f(key, values):\n    return ((key, {0}(values)),)",
    "a lambda": "f = lambda key, values: [(key, {0}(values))]",
    "made in a function": "def make():\n    def f(key, values): yield key, {0}(values)\n    return f\nf = make()",
}

OTHERS = {
    "more than the sum": "def f(key, values):\n    yield key, {0}(values) + 1",
    "twice": "def f(key, values):\n    yield key, {0}(values)\n    yield key, {0}(values)",
    "of something else": "def f(key, values):\n    yield key, {0}([1])",
    "the other way round": "def f(values, key):\n    yield key, {0}(values)",
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


@pytest.mark.parametrize("fold", Fold)
@pytest.mark.parametrize("future", FUTURES)
@pytest.mark.parametrize("name", OTHERS)
def test_what_does_anything_else_is_no_fold(name: str, future: str, fold: Fold) -> None:
    assert recognise(_function(OTHERS[name], future, fold)) is None
