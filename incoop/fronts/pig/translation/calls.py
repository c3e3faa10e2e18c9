"""Calls of functions: names that DEFINE gave, the user's own, and Pig's."""

from __future__ import annotations

from incoop.fronts.pig import functions
from incoop.fronts.pig.errors import PigPosition
from incoop.fronts.pig.translation.scope import RowScope
from incoop.query.errors import QueryError, UnknownFunction, nearest
from incoop.query.expressions.nodes import Expression


def call(
    name: str, arguments: tuple[Expression, ...], names: tuple[str | None, ...], scope: RowScope, where: PigPosition
) -> Expression:
    """What a call computes; `names` are those of the fields that arguments are."""
    script = scope.script
    defined = script.functions.get(name)
    real, constructor = (name, ()) if defined is None else (defined.name, defined.arguments or ())
    user = script.user.get(real)
    if user is not None:
        return user.call(arguments, where)
    try:
        return functions.call(real, arguments, names=names, constructor=constructor, position=where)
    except UnknownFunction as unknown:
        known = (*script.user, *script.functions, *unknown.known)
        remedy = nearest(name, known) if nearest(name, known).startswith(". Did") else _SAY
        raise QueryError(f"there is no function {name}{remedy}", where) from None


_SAY = ". Functions are listed in docs/pig.md; one of your own is REGISTER 'mine.py' USING jython AS mine."


def name_of_call(name: str, scope: RowScope) -> str | None:
    """What the result of a call is called: what @outputSchema says."""
    defined = scope.script.functions.get(name)
    user = scope.script.user.get(name if defined is None else defined.name)
    return None if user is None else user.result_name
