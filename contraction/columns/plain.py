"""Containers of numbers and text, encoded by the interpreter's own C code, not one by one in Python.

Contract: `plain_bytes` gives None, or bytes that follow from the value and the types in it alone: never from which
objects are shared, or interned, in whichever process. `plain_value` gives the value back. `plain_rows` and
`values_of_rows` are the same for many values, as `encode` writes each.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

#: The last version of marshal's format that knows no references to objects it has seen: with them, bytes would tell
#: which objects are shared. All later Pythons write and read it.
_FORMAT = 2

_SEQUENCES = frozenset({tuple, list})
_CONTAINERS = _SEQUENCES | {dict}
_PLAIN = _CONTAINERS | {int, str, float, bool, bytes, type(None)}

#: Containers in containers, beyond which nobody looks: a value that holds itself has no end.
_DEEPEST = 16

#: Before the bytes of a plain value stand a letter and their number, seven bits a byte: these are most of them.
TAG = b"m"
_HEADS = [TAG + bytes([size]) for size in range(0x80)]
_HEADS += [TAG + bytes([size & 0x7F | 0x80, size >> 7]) for size in range(0x80, 0x4000)]


def plain_bytes(value: Any) -> bytes | None:
    """The bytes of a tuple, list or dict that holds nothing but numbers, text and such containers.

    Example:
        >>> plain_bytes([("a", 1), ("b", None)]) == plain_bytes([tuple(["a", 1]), tuple(["b", None])])
        True
        >>> plain_bytes([{1, 2}]), plain_bytes("text")
        (None, None)
    """
    return marshal.dumps(value, _FORMAT) if type(value) in _CONTAINERS and _is_plain(value) else None


def plain_value(data: bytes) -> Any:
    """What `plain_bytes` was given. The bytes must be known to be its: marshal does not defend itself."""
    return marshal.loads(data)


def plain_rows(values: Sequence[Any]) -> list[bytes] | None:
    """What `encode` gives for each of several values; None unless all are plain containers, and none is a pair."""
    kinds = set(map(type, values))
    if not kinds <= _CONTAINERS or (tuple in kinds and 2 in map(len, values)) or not _is_plain(values):
        return None
    rows = list(map(marshal.dumps, values, repeat(_FORMAT)))
    if max(map(len, rows), default=0) >= len(_HEADS):
        return None
    return [_HEADS[len(row)] + row for row in rows]


def values_of_rows(blob: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> list[Any] | None:
    """What `plain_rows` was given: `starts` says where each row begins, and the last ends. None for other rows."""
    begins, ends = starts[:-1], starts[1:]
    sizes = ends - begins
    if not (blob[begins] == TAG[0]).all() or sizes.max(initial=0) >= len(_HEADS):
        return None
    payloads = begins + np.where(sizes < 0x80 + len(_HEADS[0]), len(_HEADS[0]), len(_HEADS[-1]))
    view, loads = memoryview(blob.tobytes()), marshal.loads
    return [loads(view[begin:end]) for begin, end in zip(payloads.tolist(), ends.tolist(), strict=True)]


def _is_plain(value: Any) -> bool:
    """Whether all types are exactly plain ones: marshal would take an array, or a number of NumPy's, for bytes."""
    level: Any = value if type(value) is not dict else [*value, *value.values()]
    for _ in range(_DEEPEST):
        kinds = set(map(type, level))
        if not kinds <= _PLAIN:
            return False
        if kinds.isdisjoint(_CONTAINERS):
            return True
        level = list(_inside(level, kinds))
    return False


def _inside(level: Iterable[Any], kinds: set[type]) -> Iterable[Any]:
    if kinds <= _SEQUENCES:
        return chain.from_iterable(level)
    items = (each for each in level if type(each) in _SEQUENCES)
    dicts = [each for each in level if type(each) is dict]
    return chain(chain.from_iterable(items), *dicts, *(each.values() for each in dicts))
