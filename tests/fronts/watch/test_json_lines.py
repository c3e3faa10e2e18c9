"""Changed keys as JSON: every value is one line that any reader of JSON takes, and what it stood for can be told."""

from __future__ import annotations

import enum
import json
import math
from collections import OrderedDict, namedtuple
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.fronts.watch.json_lines import as_json, line_of_change


class Colour(enum.StrEnum):
    RED = "red"


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (10**30, 10**30),
        (1.5, 1.5),
        (math.nan, {"$float": "nan"}),
        (-math.inf, {"$float": "-inf"}),
        (b"hi", {"$bytes": "aGk="}),
        (("a", 1), ["a", 1]),
        (Point(1, 2), [1, 2]),
        (Colour.RED, "red"),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (frozenset({2, 1}), {"$set": [1, 2]}),
        ({"a": {"b": b""}}, {"a": {"b": {"$bytes": ""}}}),
        ({1: 2}, {"$dict": [[1, 2]]}),
        ({"$set": [1]}, {"$dict": [["$set", [1]]]}),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Decimal("1.10"), {"$repr": "Decimal('1.10')"}),
        (date(2024, 2, 29), {"$repr": "datetime.date(2024, 2, 29)"}),
    ],
)
def test_what_json_cannot_say_is_an_object_with_one_key(value: Any, expected: Any) -> None:
    assert as_json(value) == expected
    assert json.loads(line_of_change("j", value, None, value))["key"] == expected


def test_a_list_that_holds_itself_ends() -> None:
    endless: list[Any] = []
    endless.append(endless)
    json.loads(line_of_change("j", "k", None, endless))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


def _decoded(value: Any) -> Any:
    """What the encoding stands for, as its documentation says it."""
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    match list(value.items()):
        case [("$float", text)]:
            return float(text)
        case [("$bytes", text)]:
            import base64

            return base64.b64decode(text)
        case [("$dict", pairs)]:
            return {_decoded(key): _decoded(each) for key, each in pairs}
    return {key: _decoded(each) for key, each in value.items()}


@given(PLAIN, st.text())
def test_a_line_is_one_line_of_ascii_and_gives_the_values_back(value: Any, job: str) -> None:
    line = line_of_change(job, value, None, value)
    assert line.isascii() and line.count("\n") == 1 and line.endswith("\n") and "\x7f" not in line
    read = json.loads(line)
    assert list(read) == ["job", "key", "old", "new"]
    assert repr(_decoded(read["new"])) == repr(value)
    assert read["job"] == job
