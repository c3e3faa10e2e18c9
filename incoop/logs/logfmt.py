"""logfmt: pairs of key and value in a line, `level=info msg="went well" cached`.

Contract: a key is of any characters but spaces, `=` and `"`. A value is such a word, in which `=` may stand, too, or is
quoted, with JSON's escapes. A key without `=` is a flag, which is True; with `=` and nothing behind it, the empty text.
Of a key that stands twice the last value counts. Values stay text: only who reads them knows what is a number.
"""

from __future__ import annotations

import json
import re

from incoop.logs.malformed import count_malformed, text_of

_PAIR = re.compile(r'[^\S\n]*+([^\s="]++)(?:(=)(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"|([^\s"]*+)))?+(?=\s|\Z)', re.DOTALL)

_unquoted = json.JSONDecoder(strict=False).decode


def logfmt(line: str | bytes) -> dict[str, str | bool] | None:
    r"""The pairs of a line; None if it is malformed, or has none.

    Example:
        >>> logfmt(r'at=info path="/a b" msg="say \"hi\"" cached took=')
        {'at': 'info', 'path': '/a b', 'msg': 'say "hi"', 'cached': True, 'took': ''}
    """
    text = text_of(line)
    pairs = _pairs(text.removeprefix("\ufeff").rstrip())
    if not pairs:
        count_malformed("logfmt", text)
        return None
    return pairs


def _pairs(body: str) -> dict[str, str | bool] | None:
    """The pairs; None where something else stands between them."""
    pairs: dict[str, str | bool] = {}
    match, at, end = _PAIR.match, 0, len(body)
    while at < end:  # not finditer, which would try a long word that is no pair from each of its characters
        found = match(body, at)
        if found is None:
            return None
        key, equals, quoted, word = found.groups()
        if equals is None:
            pairs[key] = True
        elif quoted is None:
            pairs[key] = word
        elif "\\" not in quoted:
            pairs[key] = quoted
        else:
            try:
                pairs[key] = _unquoted(f'"{quoted}"')
            except ValueError:
                return None
        at = found.end()
    return pairs
