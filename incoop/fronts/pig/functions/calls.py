"""A call in a script to the expression that it is."""

from __future__ import annotations

from collections.abc import Sequence

from incoop.fronts.pig.functions.java_names import java_function, plain_name
from incoop.fronts.pig.functions.registry import ALIASES, FUNCTIONS, MAKERS, NAMES
from incoop.fronts.pig.functions.request import Request
from incoop.fronts.pig.functions.text import MATCHES, check_pattern
from incoop.query.errors import Position, QueryError, UnknownFunction
from incoop.query.expressions.nodes import Expression, Reference

_BLOOM = "Bloom filters are only a way to make joins faster. Write JOIN … USING 'bloom', or FILTER after a join."
#: Functions that are there in Pig and not here, and what to write.
_REFUSED = {
    "RANDOM": (
        "RANDOM() is another number in every run, so nothing that it goes into could be reused, nor computed twice "
        "alike. Take a number from the row itself: org.apache.pig.piggybank.evaluation.string.HashFNV(key, 1000) is "
        "one between 0 and 999."
    ),
    "UniqueID": "UniqueID() depends on which task a row is in. RANK gives each row a number of its own.",
    "Assert": "Assert ends a job from inside an expression. Write ASSERT relation BY condition, 'message';",
    "Bloom": _BLOOM,
    "BuildBloom": _BLOOM,
}


def call(
    name: str,
    arguments: Sequence[Expression],
    *,
    position: Position | None = None,
    constructor: Sequence[str] = (),
    names: Sequence[str | None] | None = None,
) -> Expression:
    """The expression of a call.

    `constructor` is what DEFINE gave the function (`DEFINE top TOP('ASC')`), `names` what the fields are called that
    arguments are (`a::x`), where that is more than a reference knows.

    Example:
        >>> from incoop.query.expressions import build
        >>> call("org.apache.pig.builtin.UPPER", [build.constant("a")]).type
        PlainType(name='text')
    """
    known = names if names is not None else [each.name if isinstance(each, Reference) else None for each in arguments]
    plain = plain_name(name)
    plain = ALIASES.get(plain, plain)
    request = Request(plain, tuple(arguments), tuple(known), tuple(constructor), position)
    if plain in _REFUSED:
        raise QueryError(_REFUSED[plain], position)
    if plain in MAKERS:
        return MAKERS[plain](request)
    if plain in FUNCTIONS:
        return request.of(FUNCTIONS[plain])
    if "." in plain:
        raise java_function(plain, position)
    raise UnknownFunction(plain, tuple(each for each in NAMES if "." not in each), position)


def is_function(name: str) -> bool:
    """Whether `call` knows a name, if only to refuse it with a reason."""
    plain = plain_name(name)
    return plain in FUNCTIONS or plain in MAKERS or plain in ALIASES or plain in _REFUSED


def matches(text: Expression, pattern: Expression, *, position: Position | None = None) -> Expression:
    """`text MATCHES pattern`: all of the text, by a regular expression of Java's."""
    request = Request("MATCHES", (text, pattern), (), (), position)
    check_pattern(request)
    return request.of(MATCHES)
