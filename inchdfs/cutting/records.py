"""Record formats: where records end, so that a chunk holds whole ones, and how to read them back.

Contract: a format is two methods. A record end depends only on bytes between the chunk's start (which is always the
start of a record) and that end, never on what precedes the chunk.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from incoop.base.errors import BadCall
from incoop.inchdfs.errors import PartialRecord

Buffer = bytes | bytearray


@runtime_checkable
class RecordFormat(Protocol):
    """What a user writes to add a format. It must pickle; a frozen dataclass is the easy way."""

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        """The nearest record ends on both sides of `position`.

        `data[start:end]` is valid and `start` begins a record; `start < position <= end`. Returns the last record
        end `<= position` (`start` if there is none) and the first one `>= position` (-1 if `data` ends before).
        """
        ...

    def records(self, chunk: bytes) -> Iterable[Any]:
        """The records of one chunk, in order."""
        ...


_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def _replace_as_java(error: UnicodeError) -> tuple[str, int]:
    """Like "replace", with one U+FFFD for an encoded surrogate, as Java and so Spark decode it; Python gives three."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    surrogate = _SURROGATE.match(error.object, error.start) if error.encoding == "utf-8" else None
    return "\ufffd", surrogate.end() if surrogate else error.end


#: What Lines and Csv do with bytes that are no text, unless told otherwise.
REPLACE_AS_JAVA = "incoop-replace-as-java"
codecs.register_error(REPLACE_AS_JAVA, _replace_as_java)


def _check_encoding(encoding: str, errors: str) -> None:
    try:
        codecs.lookup_error(errors)
        newline = "\n".encode(encoding)
    except LookupError as unknown:
        raise BadCall(f"{unknown}; see the list of encodings in Python's codecs module.") from None
    if newline != b"\n":
        raise BadCall(f"lines of {encoding} do not end with one byte; recode the input to UTF-8 first.")


@dataclass(frozen=True, slots=True)
class Lines:
    r"""Text lines. Records end at `\n`; `\r\n` and a lone `\r` end a line too, as in Hadoop's text input.

    With `encoding=None` a record is bytes. Bytes that are no text in the encoding are handled by `errors`; the
    default puts U+FFFD in their place, as Spark's textFile does. Unlike there, a byte order mark at the beginning of a
    file stays in its first line: a chunk does not know whether it is the first.

    Example:
        >>> list(Lines().records(b"one\ntwo\r\nlast"))
        ['one', 'two', 'last']
    """

    encoding: str | None = "utf-8"
    errors: str = REPLACE_AS_JAVA

    def __post_init__(self) -> None:
        if self.encoding is not None:
            _check_encoding(self.encoding, self.errors)

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        # Cutting behind "\n" alone is enough: "\r" ends lines inside a chunk, but never a chunk.
        before = data.rfind(b"\n", start, position) + 1
        after = data.find(b"\n", position - 1, end) + 1
        return before or start, after or -1

    def records(self, chunk: bytes) -> list[Any]:
        if self.encoding is None:
            return chunk.splitlines()
        # One decode per chunk is several times faster than one per line; str.splitlines would cut at more places.
        text = chunk.decode(self.encoding, self.errors)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines


@dataclass(frozen=True, slots=True)
class FixedLength:
    """Binary records of `length` bytes."""

    length: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise BadCall(f"a record has at least one byte, not {self.length}.")

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        into = (position - start) % self.length
        after = position if into == 0 else position - into + self.length
        return position - into, after if after <= end else -1

    def records(self, chunk: bytes) -> Iterator[bytes]:
        if len(chunk) % self.length:
            raise PartialRecord(self.length, len(chunk) % self.length)
        return (chunk[at : at + self.length] for at in range(0, len(chunk), self.length))


@dataclass(frozen=True, slots=True)
class Delimited:
    r"""Records that end with `delimiter`, which is not part of the record.

    Example:
        >>> list(Delimited(b"--\n").records(b"a\n--\nb\n--\n"))
        [b'a\n', b'b\n']
    """

    delimiter: bytes

    def __post_init__(self) -> None:
        if not self.delimiter:
            raise BadCall("a delimiter has at least one byte.")

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        size = len(self.delimiter)
        if self._overlaps_itself():
            # "aa" in "aaa": which occurrence counts depends on those before, so walk from the chunk's start.
            before = start
            while (found := data.find(self.delimiter, before, end)) >= 0:
                after = found + size
                if after >= position:
                    return (after if after == position else before), after
                before = after
            return before, -1
        before = data.rfind(self.delimiter, start, position)
        after = data.find(self.delimiter, max(start, position - size), end)
        return (before + size if before >= 0 else start), (after + size if after >= 0 else -1)

    def _overlaps_itself(self) -> bool:
        return any(self.delimiter.startswith(self.delimiter[-n:]) for n in range(1, len(self.delimiter)))

    def records(self, chunk: bytes) -> list[bytes]:
        found = chunk.split(self.delimiter)
        if not found[-1]:
            found.pop()
        return found


@dataclass(frozen=True, slots=True)
class WholeFile:
    """One record, and one chunk, for each file."""

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        return start, -1

    def records(self, chunk: bytes) -> list[bytes]:
        return [chunk]


@dataclass(frozen=True, slots=True)
class Csv:
    r"""Rows of comma-separated values; a newline inside quotes does not end a row (RFC 4180).

    Example:
        >>> list(Csv().records(b'1,"two\nlines"\n2,plain\n'))
        [['1', 'two\nlines'], ['2', 'plain']]
    """

    separator: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    errors: str = REPLACE_AS_JAVA

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or len(self.quote) != 1 or not (self.separator + self.quote).isascii():
            raise BadCall("separator and quote are one ASCII character each.")
        _check_encoding(self.encoding, self.errors)

    def ends_around(self, data: Buffer, start: int, position: int, end: int) -> tuple[int, int]:
        quote = self.quote.encode()
        inside = data.count(quote, start, position) % 2 == 1
        return self._end_before(data, start, position, inside, quote), self._end_after(
            data, start, position, end, inside, quote
        )

    def _end_before(self, data: Buffer, start: int, position: int, inside: bool, quote: bytes) -> int:
        while (newline := data.rfind(b"\n", start, position)) >= 0:
            if data.count(quote, newline, position) % 2 == 1:
                inside = not inside
            if not inside:
                return newline + 1
            position = newline
        return start

    def _end_after(self, data: Buffer, start: int, position: int, end: int, inside: bool, quote: bytes) -> int:
        if not inside and data[position - 1] == ord("\n"):
            return position
        while True:
            if inside:
                position = data.find(quote, position, end) + 1
                if position == 0:
                    return -1
                inside = False
            newline = data.find(b"\n", position, end)
            opening = data.find(quote, position, newline if newline >= 0 else end)
            if opening < 0:
                return newline + 1 if newline >= 0 else -1
            position, inside = opening + 1, True

    def records(self, chunk: bytes) -> Iterator[list[str]]:
        # A field may be as long as a chunk; the csv module's own limit (128 KiB) is for untrusted web forms.
        csv.field_size_limit(sys.maxsize)
        text = io.StringIO(chunk.decode(self.encoding, self.errors), newline="")
        return csv.reader(text, delimiter=self.separator, quotechar=self.quote)
