"""mrjob's usual protocol, JSON by Python's own library, without encoding the same word a million times.

Contract: `read` and `write` give exactly what `StandardJSONProtocol` gives, errors included. Any other protocol, and
any subclass of this one, is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mrjob.protocol import StandardJSONProtocol

Read = Callable[[bytes], tuple[Any, Any]]
Write = Callable[[Any, Any], bytes]

#: Words whose encoding is kept; a few megabytes.
_KEPT_WORDS = 50_000


def quick(read: Read, write: Write) -> tuple[Read, Write]:
    """The same two functions, faster where they are the usual ones."""
    return (
        _reader() if _is_usual(read, StandardJSONProtocol.read) else read,
        _writer() if _is_usual(write, StandardJSONProtocol.write) else write,
    )


def is_quick(read: Read) -> bool:
    """Whether values can be read without their key."""
    return getattr(read, "__qualname__", "").startswith("_reader.")


def read_value(value: bytes) -> Any:
    """A value as JSON has it.

    Example:
        >>> [read_value(value) for value in (b"12", b"0", b'"a"', b"1.5")]
        [12, 0, 'a', 1.5]
    """
    if value.isdigit() and (value[0] != 48 or len(value) == 1):  # JSON has no number like 01
        return int(value)
    return _PROTOCOL._loads(value)


_PROTOCOL = StandardJSONProtocol()


def _is_usual(method: Any, usual: Any) -> bool:
    return type(getattr(method, "__self__", None)) is StandardJSONProtocol and method.__func__ is usual


def _writer() -> Write:
    words: dict[str, bytes] = {}
    dumps = _PROTOCOL._dumps

    def write(key: Any, value: Any) -> bytes:
        if type(key) is str:
            written = words.get(key)
            if written is None:
                written = dumps(key)
                if len(words) < _KEPT_WORDS:
                    words[key] = written
        else:
            written = dumps(key)
        # bytes of an int, as int.__repr__ has it; a bool is no int here.
        return b"%b\t%d" % (written, value) if type(value) is int else written + b"\t" + dumps(value)

    return write


def _reader() -> Read:
    last: list[Any] = [None, None]

    def read(line: bytes) -> tuple[Any, Any]:
        key, value = line.split(b"\t", 1)
        if key != last[0]:
            last[:] = [key, _PROTOCOL._loads(key)]
        return last[1], read_value(value)

    return read
