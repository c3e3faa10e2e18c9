"""Changed keys as lines of JSON, in ASCII, one object a line.

    {"job": "word count", "key": "sleep", "old": null, "new": 1}

Contract: texts, numbers, true, false, null, and lists and dicts of them are themselves; a tuple is a list; a key that
came has the old value null, one that went the new value null. What JSON cannot say is an object with one key that
begins with $, and a dict that could be taken for one is written as $dict:

    {"$bytes": "aGk="}            in base64
    {"$float": "nan"}             or "inf", "-inf"
    {"$set": [1, 2]}              in the order of their JSON
    {"$dict": [[key, value], …]}  with keys that are no texts
    {"$repr": "…"}                anything else, as Python shows it

Where it is not known what a job gave before, a line {"job": …, "lost": why} comes first, and then all pairs as new.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from incoop.engine.failures import ChangesLost
from incoop.result import Before, Result

#: More levels than this are shown by `repr`: a list may hold itself.
_DEPTH = 100


def changed_lines(job: str, result: Result, since: Result | Before | None) -> Iterator[str]:
    """A line for each key whose value is not what it was in `since`, or else in the job's last run before."""
    try:
        for change in result.changes(since):
            yield line_of_change(job, change.key, change.old, change.new)
    except ChangesLost as lost:
        yield json.dumps({"job": job, "lost": lost.lost}) + "\n"
        for key, value in result:
            yield line_of_change(job, key, None, value)


def line_of_change(job: str, key: Any, old: Any, new: Any) -> str:
    r"""
    Example:
        >>> line_of_change("pairs", ("a", b"\xff"), None, {1.5, 2.5})
        '{"job": "pairs", "key": ["a", {"$bytes": "/w=="}], "old": null, "new": {"$set": [1.5, 2.5]}}\n'
    """
    facts = {"job": job, "key": as_json(key), "old": as_json(old), "new": as_json(new)}
    return json.dumps(facts).replace("\x7f", "\\u007f") + "\n"


def as_json(value: Any, depth: int = 0) -> Any:
    """A value as `json.dumps` takes it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, bytes | bytearray):
        return {"$bytes": b64encode(value).decode()}
    if depth < _DEPTH:
        if isinstance(value, list | tuple):
            return [as_json(each, depth + 1) for each in value]
        if isinstance(value, set | frozenset):
            return {"$set": sorted((as_json(each, depth + 1) for each in value), key=json.dumps)}
        if isinstance(value, Mapping):
            pairs = [(as_json(key, depth + 1), as_json(each, depth + 1)) for key, each in value.items()]
            plain = all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs)
            return (
                dict(pairs) if plain and len(dict(pairs)) == len(pairs) else {"$dict": [list(pair) for pair in pairs]}
            )
    return {"$repr": repr(value)}
