"""Arrays of one type and shape, encoded and decoded together: a fiftieth of the time that they take one by one.

Contract: the bytes are those that `incoop.contraction.columns.encoding` gives for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.encoding import decode, encode

Bytes = npt.NDArray[np.uint8]


def encoded_alike(values: Sequence[Any]) -> tuple[Bytes, int] | None:
    """The encoded forms of several values, one behind the other, and the bytes of each.

    None where they are not arrays of one type and shape.
    """
    first = values[0]
    if type(first) is not np.ndarray or not first.nbytes:
        return None
    head = encode(first)[: -first.nbytes]
    if head[:1] != b"a":
        return None
    kind, shape = first.dtype, first.shape
    for value in values:
        if type(value) is not np.ndarray or value.dtype != kind or value.shape != shape or not value.flags.c_contiguous:
            return None
    # Their memory as it is, copied once: stacking them would copy it three times.
    joined = b"".join(chain.from_iterable(zip(repeat(head), values)))
    return np.frombuffer(joined, np.uint8), len(head) + first.nbytes


def decoded_alike(blob: Bytes, count: int) -> list[Any] | None:
    """What `encoded_alike` was given, given the number of values, all of which take as many bytes.

    None where they are not arrays of one type and shape. Each array may be written to.
    """
    if not count or len(blob) % count or bytes(blob[:1]) != b"a":
        return None
    rows = blob.reshape(count, -1)
    first = decode(rows[0].tobytes())
    size = rows.shape[1] - first.nbytes
    if not first.nbytes or (rows[:, :size] != rows[0, :size]).any():
        return None
    values = np.ascontiguousarray(rows[:, size:]).view(first.dtype)  # a copy, since rows begin with other bytes
    return list(values.reshape(count, *first.shape))
