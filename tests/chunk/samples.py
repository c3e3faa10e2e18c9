"""Generated inputs, chunk settings and record formats that the tests of Inc-HDFS share."""

from __future__ import annotations

import csv
import io
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from incoop.inchdfs import ChunkSettings, Csv, Delimited, FixedLength, Lines, RecordFormat, WholeFile

#: Real data, where the repository lies next to it; tests that use it are skipped elsewhere.
REAL_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

#: Chunks small enough that a few kilobytes hold dozens of them.
RABIN = ChunkSettings(average=256, minimum=64, maximum=1024)
FASTCDC = ChunkSettings(average=256, minimum=64, maximum=1024, chunker="fastcdc")
SIZES = (
    RABIN,
    FASTCDC,
    ChunkSettings(average=100, minimum=48, maximum=120),
    ChunkSettings(average=2048, minimum=1900, maximum=2100),
)

#: The machine may be busy with other work, so examples have no deadline.
checked = settings(
    deadline=None,
    max_examples=int(os.environ.get("EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)


@dataclass(frozen=True)
class LengthPrefixed:
    """A user's own format of two methods: one byte says how many bytes follow."""

    def ends_around(self, data: bytes | bytearray, start: int, position: int, end: int) -> tuple[int, int]:
        before = start
        while before < position:
            after = before + 1 + data[before]
            if after > end:
                return before, -1
            if after >= position:
                return (after, after) if after == position else (before, after)
            before = after
        return before, before

    def records(self, chunk: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(chunk):
            yield chunk[at + 1 : at + 1 + chunk[at]]
            at += 1 + chunk[at]


def text(seed: int, size: int) -> bytes:
    """Lines of words, the same for the same seed on every machine."""
    rng = random.Random(seed)
    words = [bytes(rng.choices(b"abcdefghijklmnop", k=rng.randint(1, 9))) for _ in range(500)]
    lines: list[bytes] = []
    left = size
    while left > 0:
        lines.append(b" ".join(rng.choices(words, k=rng.randint(1, 12))) + b"\n")
        left -= len(lines[-1])
    return b"".join(lines)[:size]


def noise(seed: int, size: int) -> bytes:
    """Bytes of every value."""
    return random.Random(seed).randbytes(size)


def mixed_line_ends(seed: int, size: int) -> bytes:
    r"""Lines that end in \n, \r\n or \r, with bytes that are no UTF-8."""
    rng = random.Random(seed)
    parts = [b"\n", b"\r\n", b"\r", b"\n\n", b"plain words", "grün".encode(), b"\xff\xfe", b"\xe2\x82", b" "]
    return b"".join(rng.choices(parts, k=size // 3))[:size]


def long_lines(seed: int, size: int) -> bytes:
    """A few lines, most of them longer than a chunk may be."""
    rng = random.Random(seed)
    return bytes(rng.choices(b"abc\n", weights=(400, 400, 400, 1), k=size))


def repeated(seed: int, size: int) -> bytes:
    """The same line again and again: no marker, or one in every line."""
    line = text(seed, 40).replace(b"\n", b" ") + b"\n"
    return (line * (size // len(line) + 1))[:size]


def zeros(seed: int, size: int) -> bytes:
    return bytes(size)


def table(seed: int, size: int) -> bytes:
    """CSV with newlines, separators and doubled quotes inside quoted fields."""
    rng = random.Random(seed)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator=rng.choice(["\n", "\r\n"]))
    values = ["", "1", "two words", 'say "hi"', "a,b", "line\nbreak", '"\n"', "\r\n", "ü", "x" * 200]
    while file.tell() < size:
        writer.writerow(rng.choices(values, k=3))
    return file.getvalue().encode()


def delimited(seed: int, size: int) -> bytes:
    """Many occurrences of `aa` and `--`, overlapping ones too."""
    return bytes(random.Random(seed).choices(b"aab-\n", k=size))


def length_prefixed(seed: int, size: int) -> bytes:
    rng = random.Random(seed)
    records = []
    while size > 0:
        body = rng.randbytes(rng.randint(0, 255))
        records.append(bytes([len(body)]) + body)
        size -= len(records[-1])
    return b"".join(records)


Maker = Callable[[int, int], bytes]
LINE_MAKERS: tuple[Maker, ...] = (text, noise, mixed_line_ends, long_lines, repeated, zeros)

#: Each format with makers of content that is valid in it.
FORMATS: tuple[tuple[RecordFormat, tuple[Maker, ...]], ...] = (
    (Lines(), LINE_MAKERS),
    (Lines(encoding=None), LINE_MAKERS),
    (FixedLength(1), (noise, zeros)),
    (FixedLength(7), (noise, text)),
    (FixedLength(1500), (noise, zeros)),
    (Delimited(b"\0"), (noise, zeros, text)),
    (Delimited(b"aa"), (delimited, zeros)),
    (Delimited(b"aba"), (delimited,)),
    (Delimited(b"--\n"), (delimited,)),
    (WholeFile(), (text,)),
    (Csv(), (table,)),
    (LengthPrefixed(), (length_prefixed,)),
)


@st.composite
def contents(draw: st.DrawFn, makers: tuple[Maker, ...] = LINE_MAKERS, largest: int = 12_000) -> bytes:
    """An input: generated, or a few arbitrary bytes."""
    maker = draw(st.sampled_from(makers))
    return maker(draw(st.integers(0, 1000)), draw(st.sampled_from([0, 1, 47, 48, 63, 64, 1024, 1025, 5000, largest])))


@st.composite
def formatted_contents(draw: st.DrawFn, largest: int = 12_000) -> tuple[RecordFormat, bytes]:
    """A record format and an input of whole records in it."""
    form, makers = draw(st.sampled_from(FORMATS))
    content = draw(contents(makers, largest))
    if isinstance(form, FixedLength):
        content = content[: len(content) // form.length * form.length]
    return form, content


@st.composite
def edits(draw: st.DrawFn, content: bytes) -> bytes:
    """Another version of `content`: one edit of any kind."""
    size = len(content)
    at, to = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
    new = draw(st.sampled_from([b"", b"\n", b"x", b"a new line\n", text(7, 300), zeros(0, 100), noise(3, 2000)]))
    kind = draw(
        st.sampled_from(["insert", "delete", "replace", "move", "append", "truncate", "duplicate", "empty", "keep"])
    )
    middle = content[at:to]
    return {
        "insert": content[:at] + new + content[at:],
        "delete": content[:at] + content[to:],
        "replace": content[:at] + new + content[at + len(new) :],
        "move": content[:at] + content[to:] + middle,
        "append": content + new,
        "truncate": content[:at],
        "duplicate": (content[:to] + middle + content[to:])[:60_000],
        "empty": b"",
        "keep": content,
    }[kind]


def odd_reads(content: bytes, seed: int) -> Callable[[memoryview], int]:
    """A pipe: gives a few bytes at a time, of odd sizes, and nothing only at the end."""
    rng = random.Random(seed)
    rest = memoryview(content)

    def read_into(target: memoryview) -> int:
        nonlocal rest
        size = min(len(target), len(rest), rng.choice([1, 2, 3, 47, 61, 1021]))
        target[:size] = rest[:size]
        rest = rest[size:]
        return size

    return read_into


def all_records(form: RecordFormat, chunks: list[bytes]) -> list[Any]:
    return [record for chunk in chunks for record in form.records(chunk)]
