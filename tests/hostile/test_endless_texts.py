"""Texts that were made to take long, or to nest without end, where somebody else's input is read or shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from incoop.base.shown import shortened, without_passwords
from incoop.base.strict_json import DEEPEST
from incoop.engine.running.counters import counting_apart
from incoop.logs import json_line
from incoop.page.texts import shown
from incoop.query.schema import Schema
from incoop.query.sources.json_lines import JsonLines
from incoop.query.sources.quoted import QuotedText
from incoop.query.types import BYTES, BagType, Field, MapType, TupleType
from incoop.query.warnings import RECORD, Warnings

#: Seconds of the processor; each takes some hundredths where steps are a few for each character, and minutes where a
#: character is looked at again from each one before it.
MOST = 2.0


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "a." * 60_000, "a://" * 40_000, "a://" + "@" * 100_000, ("x" * 399 + " ") * 10_000],
    ids=["a word", "dots", "schemes", "logins", "words"],
)
def test_what_is_shown_is_searched_for_passwords_in_one_go(text: str) -> None:
    began = time.process_time()
    without_passwords(text)
    shortened(text)
    assert time.process_time() - began < MOST


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("redis://:hunter2@host:1/0", "redis://…@host:1/0"),
        ("no redis://a:hunter@2@host, nor x@y", "no redis://…@host, nor x@y"),
        ("'a://b' c@d", "'a://b' c@d"),
        ("x@y://z", "x@y://z"),
        ("see(rediss://u:hunter2@h)\nand s3://k:hunter2@b/c", "see(rediss://…@h)\nand s3://…@b/c"),
    ],
)
def test_passwords_are_found_as_before(said: str, expected: str) -> None:
    assert without_passwords(said) == expected


def test_a_page_of_long_keys_is_written_soon() -> None:
    began = time.process_time()
    for _ in range(300):  # one column of the longest list of a page
        shown("a" * 10_000)
    assert time.process_time() - began < MOST


@pytest.mark.parametrize(
    ("chunk", "count"),
    [
        (b'"a","b"\n' * 150_000, 150_000),
        (b'"' + b'""' * 1_500_000 + b'"\n', 1),
        (b'"",' * 400_000 + b"\n", 1),
        (b'"' * 1_500_000, 1),
    ],
    ids=["many records", "many quotes in a field", "many fields", "quotes alone"],
)
def test_csv_takes_as_long_as_there_is_of_it(chunk: bytes, count: int) -> None:
    form = QuotedText(Schema((Field("a", BYTES), Field("b", BYTES))))
    began = time.process_time()
    assert len(form.rows(chunk, Warnings())) == count
    assert time.process_time() - began < MOST


def deep(levels: int) -> str:
    return '{"a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


def called_from(depth: int, call: Callable[[], Any]) -> Any:
    """What a call gives that has so many others above it."""
    return call() if depth == 0 else called_from(depth - 1, call)


@pytest.mark.parametrize("levels", [DEEPEST, DEEPEST + 1, 600, 985, 990, 995, 100_000])
def test_how_deep_json_may_be_nested_does_not_depend_on_the_caller(levels: int) -> None:
    line = deep(levels)
    there = sys.getrecursionlimit() - 500
    with counting_apart():
        assert (json_line(line) is None) == (called_from(there, lambda: json_line(line)) is None) == (levels > DEEPEST)


@pytest.mark.parametrize("levels", [DEEPEST + 1, 600, 985, 990, 995, 100_000])
@pytest.mark.parametrize("kind", [BYTES, BagType(None), TupleType(None), MapType(None)], ids=str)
def test_json_that_is_nested_without_end_is_a_malformed_record(levels: int, kind: Any) -> None:
    for schema in (Schema((Field("a", kind),)), Schema(None)):
        warnings = Warnings()
        assert JsonLines(schema).rows(deep(levels).encode(), warnings) == [(None,)]
        assert warnings.counts == {RECORD: 1}
