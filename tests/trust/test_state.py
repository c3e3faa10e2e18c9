"""Functions that keep something from one record to the next are found, and nothing of theirs is stored."""

from __future__ import annotations

import pytest

from incoop.code import KeepsState

from .workshop import SUM, Workshop

HEAD = "import incoop\nimport functools\n"
TAIL = SUM + "\njob = incoop.Job('state', mapper, {reducer})\n"

SEEN = """
seen = set()
def mapper(_, line):
    word = line[:4]
    if word not in seen:
        seen.add(word)
        yield word, 1
"""


@pytest.mark.parametrize(
    ("code", "reducer", "named"),
    [
        pytest.param(SEEN, "total", "`seen`", id="a set of what was seen"),
        pytest.param(
            "number = 0\ndef mapper(_, line):\n    global number\n    number += 1\n    yield number, 1\n",
            "total",
            "`number`",
            id="a counter of lines",
        ),
        pytest.param(
            "def mapper(_, line, before=[]):\n    before.append(line)\n    yield len(before), 1\n",
            "total",
            "`mapper`",
            id="a mutable default",
        ),
        pytest.param(
            "def made():\n    count = 0\n    def mapper(_, line):\n        nonlocal count\n        count += 1\n"
            "        yield count, 1\n    return mapper\nmapper = made()\n",
            "total",
            "`made.<locals>.mapper.count`",
            id="nonlocal",
        ),
        pytest.param(
            "class Numbered:\n    def __init__(self):\n        self.last = None\n"
            "    def __call__(self, _, line):\n        yield self.last is None, 1\n        self.last = line\n"
            "mapper = Numbered()\n",
            "total",
            "Numbered",
            id="an attribute of a callable object",
        ),
        pytest.param(
            "class Count:\n    lines = 0\ndef mapper(_, line):\n    Count.lines += 1\n    yield Count.lines, 1\n",
            "total",
            "`Count`",
            id="an attribute of a class",
        ),
        pytest.param(
            "def mapper(_, line):\n    mapper.calls = getattr(mapper, 'calls', 0) + 1\n    yield mapper.calls, 1\n",
            "total",
            "`mapper`",
            id="an attribute of the function",
        ),
        pytest.param(
            "import itertools\nnumbers = itertools.count()\ndef mapper(_, line):\n    yield next(numbers), 1\n",
            "total",
            "`numbers`",
            id="an iterator",
        ),
        pytest.param(
            "import decimal\nROUGH = decimal.Context(prec=2)\ndef mapper(_, line):\n"
            "    yield ROUGH.flags[decimal.Inexact], 1\n    ROUGH.divide(1, 7)\n",
            "total",
            "`ROUGH`",
            id="what a decimal context has signalled",
        ),
        pytest.param(
            "kept = []\ndef mapper(_, line):\n    yield line, 1\n"
            "def reducer(key, values):\n    kept.append(key)\n    yield key, len(kept)\n",
            "reducer",
            "`kept`",
            id="a reducer that keeps keys",
        ),
    ],
)
def test_state_is_an_error_that_names_it(code: str, reducer: str, named: str, workshop: Workshop) -> None:
    workshop.write(job=HEAD + code + TAIL.format(reducer=reducer))
    for _ in range(2):  # nothing was stored that a second run could take
        with pytest.raises(KeepsState) as caught:
            workshop.run()
        assert named in str(caught.value)
        assert "lru_cache" in str(caught.value)
    unmemoized = (
        TAIL.format(reducer=reducer)
        .replace("', ", "', memoize=False, mapper=")
        .replace("mapper=mapper, ", "mapper=mapper, reducer=")
    )
    workshop.write(job=HEAD + code + unmemoized)
    assert workshop.run(), "without reuse it runs"


def test_after_state_was_found_mended_code_gives_what_it_gives_from_scratch(workshop: Workshop) -> None:
    workshop.write(job=HEAD + SEEN + TAIL.format(reducer="total"))
    with pytest.raises(KeepsState):
        workshop.run()
    workshop.write(
        job=HEAD
        + SEEN.replace("if word not in seen:", "if word not in ():").replace("        seen.add(word)\n", "")
        + TAIL.format(reducer="total")
    )
    assert workshop.run() == {"line": 40}


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("@functools.lru_cache\ndef kind(word):\n    return word.upper()\n", id="lru_cache"),
        pytest.param("@functools.cache\ndef kind(word):\n    return word.upper()\n", id="cache"),
        pytest.param(
            "@functools.singledispatch\ndef kind(word):\n    return word.upper()\n"
            "@kind.register\ndef _(word: int):\n    return word\n",
            id="singledispatch",
        ),
        pytest.param(
            "class Words:\n    @functools.cached_property\n    def upper(self):\n        return str.upper\n"
            "def kind(word):\n    return Words().upper(word)\n",
            id="cached_property of an object that is made anew",
        ),
        pytest.param(
            "class Words:\n    @functools.cached_property\n    def table(self):\n        return {'line': 'LINE'}\n"
            "WORDS = Words()\ndef kind(word):\n    return WORDS.table[word]\n",
            id="cached_property of an object that is kept",
        ),
        pytest.param(
            "import decimal\nROUGH = decimal.Context(prec=2)\n"
            "def kind(word):\n    return word.upper() if str(ROUGH.divide(1, 7)) == '0.14' else word\n",
            id="what a decimal context has signalled",
        ),
        pytest.param("import re\ndef kind(word):\n    return re.sub('l', 'L', word).upper()\n", id="re's own cache"),
    ],
)
def test_a_cache_that_python_knows_is_no_state(code: str, workshop: Workshop) -> None:
    workshop.write(
        job=HEAD + code + "def mapper(_, line):\n    yield kind(line[:4]), 1\n" + TAIL.format(reducer="total")
    )
    assert workshop.run() == {"LINE": 40}


def test_a_trial_of_the_combiner_does_not_change_what_the_mapper_sees(workshop: Workshop) -> None:
    """The trial maps a sample first; a mapper that counts its calls would show it."""
    code = "def mapper(_, line):\n    yield 'lines', 1\n" + SUM + "job = incoop.Job('tried', mapper, total, total)\n"
    workshop.write(job=HEAD + code)
    assert workshop.run() == {"lines": 40}
