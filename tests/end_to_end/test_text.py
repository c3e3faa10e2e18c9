"""Lines are those of Spark's textFile, whatever the bytes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import incoop

from .jobs import listed
from .places import Place


def lines(_: Any, line: str) -> Any:
    yield line, 1


BYTES = random.Random(0).randbytes(6000)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.txt": b"one\ntwo", "b.txt": b"three\n", "c.txt": b"four"}, id="no newline at the end"),
        pytest.param({"a.txt": b"one\r\ntwo\r\n\r\nthree\rfour\r\r\nfive"}, id="carriage returns"),
        pytest.param({"a.txt": b"\n\n\n", "b.txt": b"", "c.txt": b"\n"}, id="empty lines and an empty file"),
        pytest.param({"a.txt": "é\u2028ü\x0b\x0c\x1c\x85ß\n\u0000 zero\n".encode()}, id="other line separators"),
        pytest.param({"a.txt": b"\xff\xfe\n\xed\xa0\x80 \xe4\xb8\n\xc3"}, id="bytes that are no text"),
        pytest.param({"a.txt": b"x" * 20_000 + b"\n" + b"y" * 5000}, id="lines longer than chunks"),
        pytest.param({"a.txt": b"same line\n" * 2000}, id="nothing but repetition"),
        pytest.param({"a.txt": BYTES.replace(b"\r", b"")}, id="random bytes"),
        pytest.param({"_hidden": b"no\n", ".hidden": b"no\n", "shown": b"yes\n"}, id="hidden files"),
    ],
)
def test_lines_are_those_of_spark(files: dict[str, bytes], place: Place) -> None:
    for name, data in files.items():
        (place.input / name).write_bytes(data)
    expected = Counter(place.spark.sparkContext.textFile(str(place.input)).collect())
    result = place.run(incoop.Job("lines", lines, listed))
    assert {key: len(values) for key, values in result} == expected
    assert result.report.counters == {}
