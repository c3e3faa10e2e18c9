"""What went wrong in a user's function, told so that the user finds it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from incoop.base.errors import IncoopError


def trace_of(error: BaseException) -> str:
    """The traceback, without the engine's own frame that called the function."""
    frames = error.__traceback__
    if frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def own_error(error: BaseException) -> IncoopError | None:
    """An error of incoop's own as a new object that holds no frames; None for any other, which may not travel."""
    if not isinstance(error, IncoopError) or not type(error).__module__.startswith("incoop."):
        return None
    return type(error)(*error.args)


def said_of(role: str, function: Callable[..., Any] | None, error: BaseException) -> str:
    """The error in one line; where the function gave something that is no pair, that, and what to do."""
    plain = f"{type(error).__name__}: {error}"
    frames = error.__traceback__
    if function is None or not isinstance(error, TypeError | ValueError) or frames is None or frames.tb_next:
        return plain  # raised by the function itself
    name, text = _name_of(function), str(error)
    if "unhashable" in text:
        return f"the {role} {name} emitted a key that cannot be hashed ({text}); use a string, a number or a tuple"
    if "positional argument" in text:
        return f"the {role} {name} takes two arguments, a key and a value (or values): {text}"
    return f"the {role} {name} has to yield or return (key, value) pairs: {text}"


def _name_of(function: Callable[..., Any]) -> str:
    if isinstance(function, partial) and function.args and callable(function.args[0]):
        return _name_of(function.args[0])
    return str(getattr(function, "__qualname__", type(function).__qualname__))
