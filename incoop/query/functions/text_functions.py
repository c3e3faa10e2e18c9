"""Functions of text. Places count code points, from zero; regular expressions are Python's, with ASCII classes as
Java's.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from incoop.query.errors import QueryError
from incoop.query.functions.function import Function, Signature, first_that_fits, fixed
from incoop.query.types import BOOLEAN, BYTES, INT, LONG, NULL, TEXT, BagType, Field, TupleType, Type, Value

_TOKENS = BagType((Field("token", TEXT),))


def _concat_rule(types: tuple[Type, ...]) -> Signature | None:
    if not types or any(each not in (TEXT, BYTES, NULL) for each in types):
        return None
    kind = BYTES if all(each == BYTES for each in types) else TEXT
    return Signature((kind,) * len(types), kind)


def _concat(*parts: Any) -> Any:
    return (b"" if isinstance(parts[0], bytes) else "").join(parts)


def _concat_kernel(pc: Any, *columns: Any) -> Any:
    first = columns[0].type
    return pc.binary_join_element_wise(*columns, _scalar("" if str(first) == "string" else b"", first))


def _scalar(value: Any, kind: Any) -> Any:
    from incoop.query.arrays import scalar

    return scalar(value, kind)


def _length_kernel(pc: Any, column: Any) -> Any:
    return pc.utf8_length(column) if str(column.type) == "string" else pc.binary_length(column)


def _only_ascii(name: str) -> Any:
    """Case of letters beyond ASCII is Python's: there the kernel is not used."""

    def kernel(pc: Any, column: Any) -> Any:
        return getattr(pc, f"ascii_{name}")(column) if pc.all(pc.string_is_ascii(column)).as_py() is not False else None

    return kernel


def _substring(text: str, start: int, stop: int | None = None) -> str:
    return text[max(start, 0) : None if stop is None else max(stop, 0)]


def _index_of(text: str, part: str, start: int = 0) -> int:
    return text.find(part, max(start, 0))


@functools.lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise QueryError(
            f"{text!r} is no regular expression: {error}. Mend it; a backslash before a sign takes it literally."
        ) from None


def _matches(text: str, pattern: str) -> bool:
    return _pattern(pattern).fullmatch(text) is not None


def _extract(text: str, pattern: str, group: int) -> Value:
    found = _pattern(pattern).search(text)
    return found.group(group) if found is not None and 0 <= group <= len(found.groups()) else None


def _extract_all(text: str, pattern: str) -> Value:
    found = _pattern(pattern).fullmatch(text)
    return None if found is None else found.groups()


def _split(text: str, pattern: str, limit: int = 0) -> Value:
    """As Java's: at most `limit` parts where that is positive; with zero, empty parts at the end are left out."""
    parts: list[str] = []
    last = 0
    for found in _pattern(pattern).finditer(text):
        if limit > 0 and len(parts) == limit - 1:
            break
        if found.end() == 0:  # no empty part for a match of nothing at the beginning
            continue
        parts.append(text[last : found.start()])
        last = found.end()
    parts.append(text[last:])
    while limit == 0 and len(parts) > 1 and not parts[-1]:
        parts.pop()
    return tuple(parts)


#: What stands between tokens, unless it is said.
_SIGNS = ' ",()*\t\n\r\f\v'


def _tokens(text: str, signs: str = _SIGNS) -> Value:
    """What stands between any of the signs, in the order of the text."""
    if not signs:
        return [(text,)] if text else []
    return [(part,) for part in re.split(f"[{re.escape(signs)}]+", text) if part]


def _all_tokens(texts: Any, signs: Any = _SIGNS) -> tuple[Any, list[Any]] | None:
    """The same of a column: signs are bytes that no other sign contains, so that bytes are looked at one by one."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(texts, pa.StringArray) or not isinstance(signs, str) or not signs or not signs.isascii():
        return None
    texts = pc.fill_null(texts, _scalar("", texts.type))
    if not len(texts):
        return np.zeros(0, np.int64), [texts]
    _, places, content = texts.buffers()
    bounds = np.frombuffer(places, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    data = np.frombuffer(content or b"", np.uint8)[bounds[0] : bounds[-1]]
    bounds -= bounds[0]
    table = np.ones(256, np.bool_)
    table[list(signs.encode())] = False
    inside = table[data]
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    first = bounds[:-1][bounds[:-1] < len(data)]
    begins[first] = inside[first]
    starts = np.flatnonzero(begins)
    finishes = inside.copy()
    finishes[:-1] &= ~inside[1:] | begins[1:]
    ends = np.zeros(len(starts) + 1, np.int32)
    np.cumsum(np.flatnonzero(finishes) + 1 - starts, out=ends[1:])
    found = pa.StringArray.from_buffers(len(starts), pa.py_buffer(ends), pa.py_buffer(data[inside]))
    return np.diff(np.searchsorted(starts, bounds)), [found]


def _trim(name: str, way: str) -> Function:
    blank = "".join(map(chr, range(0x21)))
    cut = {"both": str.strip, "start": str.lstrip, "end": str.rstrip}[way]
    return Function(name, fixed(TEXT, result=TEXT), lambda text: cut(text, blank), "a text")


_TEXT_OR_BYTES_LENGTH = first_that_fits(
    lambda types: Signature((BYTES,), INT) if types == (BYTES,) else None, fixed(TEXT, result=INT)
)

FUNCTIONS = (
    Function("concat", _concat_rule, _concat, "texts, or bytes", kernel=_concat_kernel),
    Function("length", _TEXT_OR_BYTES_LENGTH, len, "a text or bytes", kernel=_length_kernel),
    Function("substring", fixed(TEXT, INT, INT, result=TEXT, optional=1), _substring, "a text, a start and an end"),
    Function("index_of", fixed(TEXT, TEXT, INT, result=INT, optional=1), _index_of, "two texts, and where to begin"),
    Function("last_index_of", fixed(TEXT, TEXT, result=INT), str.rfind, "two texts"),
    Function("upper", fixed(TEXT, result=TEXT), str.upper, "a text", kernel=_only_ascii("upper")),
    Function("lower", fixed(TEXT, result=TEXT), str.lower, "a text", kernel=_only_ascii("lower")),
    _trim("trim", "both"),
    _trim("ltrim", "start"),
    _trim("rtrim", "end"),
    Function("reverse", fixed(TEXT, result=TEXT), lambda text: text[::-1], "a text"),
    Function("replace", fixed(TEXT, TEXT, TEXT, result=TEXT), str.replace, "a text, what to replace, and by what"),
    Function("starts_with", fixed(TEXT, TEXT, result=BOOLEAN), str.startswith, "two texts"),
    Function("ends_with", fixed(TEXT, TEXT, result=BOOLEAN), str.endswith, "two texts"),
    Function("contains", fixed(TEXT, TEXT, result=BOOLEAN), lambda text, part: part in text, "two texts"),
    Function("regex_matches", fixed(TEXT, TEXT, result=BOOLEAN), _matches, "a text and a regular expression"),
    Function(
        "regex_extract", fixed(TEXT, TEXT, INT, result=TEXT), _extract, "a text, a regular expression and a group"
    ),
    Function(
        "regex_extract_all", fixed(TEXT, TEXT, result=TupleType()), _extract_all, "a text and a regular expression"
    ),
    Function(
        "regex_replace",
        fixed(TEXT, TEXT, TEXT, result=TEXT),
        lambda text, pattern, new: _pattern(pattern).sub(lambda _: new, text),
        "a text, a regular expression and what to put in its place",
    ),
    Function(
        "split", fixed(TEXT, TEXT, INT, result=TupleType(), optional=1), _split, "a text, a regular expression, a limit"
    ),
    Function(
        *("tokens", fixed(TEXT, TEXT, result=_TOKENS, optional=1), _tokens, "a text, and the signs between tokens"),
        rows_kernel=_all_tokens,
    ),
    Function("code_point", fixed(TEXT, result=LONG), lambda text: ord(text[0]) if text else None, "a text"),
)
