"""JSON from whoever, as its standard has it.

Contract: NaN and infinities, which Python would read, are refused, and so is what is nested deeply: how deep Python
itself can read depends on how much of its stack the caller has used, so that a line could be good in one worker and
bad in another.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

#: Lists and objects in each other. Nobody writes so many, and all that walks through values has room for them.
DEEPEST = 100


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def read_json(text: str) -> Any:
    """The value that a text says.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    try:
        found = _decode(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(found):
        raise ValueError("nested too deeply")
    return found


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            each
            for held in level
            if isinstance(held, dict | list)
            for each in (held.values() if isinstance(held, dict) else held)
            if isinstance(each, dict | list)
        ]
        if not level:
            return False
    return True
