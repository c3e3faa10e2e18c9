"""One JSON object a line.

Contract: what json.loads gives for the line, if that is an object. NaN and infinities, which Python would read, are no
JSON and make a line malformed; so does nesting of more than a hundred levels. Of a field that stands twice the last
counts.
"""

from __future__ import annotations

from typing import Any

from incoop.base.strict_json import read_json
from incoop.logs.malformed import count_malformed, text_of


def json_line(line: str | bytes) -> dict[str, Any] | None:
    """The object that a line holds; None if it is malformed, or another value than an object.

    Example:
        >>> json_line('{"status": 200, "took": 0.25, "url": "/caf\\u00e9"}')
        {'status': 200, 'took': 0.25, 'url': '/café'}
    """
    text = text_of(line)
    try:
        found = read_json(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    count_malformed("JSON", text)
    return None
