"""Arrays of pyarrow from values of Python and numpy, and back.

Contract: what `pa.array`, `pa.scalar` and `to_numpy` give, made of buffers. These three look for pandas, and import it
where it is installed: half a second of the processor in each worker, more than a small query takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

#: Offsets of text and bytes have 32 bits.
_LARGEST = (1 << 31) - 1

_NUMPY: dict[Any, Any] = {
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.float32(): np.float32,
    pa.float64(): np.float64,
}


def of_numbers(numbers: npt.NDArray[Any], there: npt.NDArray[np.bool_] | None = None) -> Any:
    """An array of as many numbers, null where there is none."""
    kind = next(arrow for arrow, kind in _NUMPY.items() if kind == numbers.dtype)
    bits = _bits(there) if there is not None else None
    return pa.Array.from_buffers(kind, len(numbers), [bits, pa.py_buffer(np.ascontiguousarray(numbers))])


def of_blob(data: Any, ends: npt.NDArray[np.int64], kind: Any) -> Any | None:
    """An array of texts or bytes that lie one after the other; `ends` begins with 0. None where they are too many."""
    if len(data) > _LARGEST:
        return None
    return pa.Array.from_buffers(kind, len(ends) - 1, [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(data)])


def blob_of(array: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of an array of texts or bytes without nulls, one after the other; and where each begins, and the end.

    Example:
        >>> data, ends = blob_of(of_values(["a", "bc", "d"], pa.string())[1:])
        >>> data.tobytes(), ends.tolist()
        (b'bcd', [0, 2, 3])
    """
    assert array.null_count == 0
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets or bytes(4), np.int32, len(array) + 1, 4 * array.offset if offsets else 0)
    blob = np.frombuffer(data or b"", np.uint8)
    return blob[ends[0] : ends[-1]], ends.astype(np.int64) - int(ends[0])


def of_truths(truths: npt.NDArray[np.bool_]) -> Any:
    """The same of booleans.

    Example:
        >>> of_truths(np.array([True, False, True])).to_pylist()
        [True, False, True]
    """
    return pa.Array.from_buffers(pa.bool_(), len(truths), [None, _bits(truths)])


def of_values(values: Sequence[Any], kind: Any) -> Any:
    """An array of values of Python, null where there is none.

    Example:
        >>> of_values(["a", None, "bc"], pa.string()).to_pylist(), of_values([1, None], pa.int32()).to_pylist()
        (['a', None, 'bc'], [1, None])
    """
    make = _MAKERS.get(kind)
    types = set(map(type, values))
    missing = type(None) in types
    types.discard(type(None))
    if make is None or not types <= {make[0]}:
        return pa.array(values, kind)
    there = None
    if missing:
        there = _bits(np.array([value is not None for value in values], np.bool_))
        values = [make[1] if value is None else value for value in values]
    buffers = make[2](values, kind)
    return pa.array(values, kind) if buffers is None else pa.Array.from_buffers(kind, len(values), [there, *buffers])


def scalar(value: Any, kind: Any) -> Any:
    """A value as a scalar; None for null."""
    return of_values([value], kind)[0]


def numbers_of(array: Any) -> npt.NDArray[Any]:
    """The numbers or booleans of an array without nulls.

    Example:
        >>> numbers_of(of_values([True, False, True], pa.bool_())[1:]).tolist()
        [False, True]
    """
    assert array.null_count == 0
    data, first, length = array.buffers()[1], array.offset, len(array)
    if array.type == pa.bool_():
        bits = np.frombuffer(data or b"", np.uint8)
        unpacked = np.unpackbits(bits, count=first + length, bitorder="little")
        return unpacked[first:].astype(np.bool_)
    kind = _NUMPY[array.type]
    return np.frombuffer(data or b"", kind, length, first * np.dtype(kind).itemsize)


def _bits(truths: npt.NDArray[np.bool_]) -> Any:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))


def _numbers(values: Sequence[Any], kind: Any) -> list[Any]:
    with np.errstate(over="ignore"):
        return [pa.py_buffer(np.array(values, _NUMPY[kind]))]


def _truths(values: Sequence[bool], kind: Any) -> list[Any]:
    return [_bits(np.array(values, np.bool_))]


def _texts(values: Sequence[str], kind: Any) -> list[Any] | None:
    joined = "".join(values)
    if joined.isascii():
        return _strung(joined.encode(), list(map(len, values)))
    return _blobs([value.encode() for value in values], kind)


def _blobs(values: Sequence[bytes], kind: Any) -> list[Any] | None:
    return _strung(b"".join(values), list(map(len, values)))


def _strung(data: bytes, sizes: list[int]) -> list[Any] | None:
    if len(data) > _LARGEST:
        return None
    ends = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=ends[1:])
    return [pa.py_buffer(ends), pa.py_buffer(data)]


#: For a type of arrays: the type that all values have, what stands where one is null, and what makes the buffers.
_MAKERS: dict[Any, tuple[type, Any, Callable[[Any, Any], list[Any] | None]]] = {
    pa.int32(): (int, 0, _numbers),
    pa.int64(): (int, 0, _numbers),
    pa.float32(): (float, 0.0, _numbers),
    pa.float64(): (float, 0.0, _numbers),
    pa.bool_(): (bool, False, _truths),
    pa.string(): (str, "", _texts),
    pa.binary(): (bytes, b"", _blobs),
}
