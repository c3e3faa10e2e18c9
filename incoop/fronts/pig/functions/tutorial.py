"""The functions of Pig's tutorial, on queries of a search engine: words, n-grams, hours and scores."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from incoop.fronts.pig.functions.text import _substring
from incoop.query.functions import GENERAL
from incoop.query.functions.function import Function, Signature, fixed
from incoop.query.order import canonical_bag
from incoop.query.types import BOOLEAN, DOUBLE, LONG, TEXT, BagType, Field, Type, Value

_PACKAGE = "org.apache.pig.tutorial."
_WORD = re.compile(r"[a-zA-Z0-9_]+")
#: What the tutorial takes for an address: the first of three choices has to stand at the beginning.
_ADDRESS = re.compile(r'^"?http[:|;]|https[:|;]|www\.')
_SCORES = BagType((Field("hour", TEXT), Field("score", DOUBLE), Field("count", LONG), Field("mean", DOUBLE)))
_trim = GENERAL.functions["trim"].row


def _ngrams(text: str) -> Value:
    """Words, and pairs of neighbours, each once."""
    words = _WORD.findall(text)
    found = {*words, *(f"{one} {other}" for one, other in pairwise(words))}
    return canonical_bag((each,) for each in found)


def _no_address(text: Value) -> bool:
    return text is not None and (text := _trim(text)) != "" and _ADDRESS.search(text) is None


def _scored(types: tuple[Type, ...]) -> Signature | None:
    if len(types) != 1 or not isinstance(types[0], BagType):
        return None
    return Signature(types, _SCORES)


def _scores(bag: list[tuple[Value, ...]]) -> Value:
    """Of rows (what, hour, count): hours with more than the mean, and by how many standard deviations."""
    rows = [(row[1], row[2]) for row in bag if len(row) > 2 and row[2] is not None]
    if not rows:
        return []
    counts = [count for _, count in rows]
    mean = math.fsum(count / len(counts) for count in counts)
    spread = math.sqrt(math.fsum((count - mean) ** 2 / len(counts) for count in counts))
    last = dict(rows)  # of one hour the last row counts
    found = [
        (hour, (count - mean) / spread if spread else math.inf, count, mean)
        for hour, count in last.items()
        if count > mean
    ]
    return canonical_bag(found)


FUNCTIONS = (
    Function(
        _PACKAGE + "ExtractHour",
        fixed(TEXT, result=TEXT),
        lambda text: _substring(text, 6, 8) if len(text) >= 8 else None,
        "a time as yyMMddHHmmss",
    ),
    Function(_PACKAGE + "NGramGenerator", fixed(TEXT, result=BagType((Field("ngram", TEXT),))), _ngrams, "a text"),
    Function(_PACKAGE + "NonURLDetector", fixed(TEXT, result=BOOLEAN), _no_address, "a text", takes_nulls=True),
    Function(_PACKAGE + "ToLower", fixed(TEXT, result=TEXT), lambda text: _trim(text.lower()), "a text"),
    Function(_PACKAGE + "ScoreGenerator", _scored, _scores, "a bag of (word, hour, count)"),
)
