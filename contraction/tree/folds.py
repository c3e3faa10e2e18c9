"""Combiners that are plain sums, minima or maxima, recognised for certain, so that they can run on whole columns.

Contract: `recognise` names a fold only for a function whose code does nothing else, with the builtin it names. On
integers the fold then gives exactly what calling the function gives; on anything else it is not used.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt


class Fold(Enum):
    """What a combiner does with a key's values."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"


#: How a function says what it gives.
_ENDINGS = ("yield key, {0}", "return [(key, {0})]", "return ((key, {0}),)")

#: Python 3.13 joins instructions of one line, so that where lines end shows in the code.
_THEN = ("; ", "\n    ")

_BODIES = {
    fold: (
        *(ending.format(f"{fold.value}(values)") for ending in _ENDINGS),
        *(f"result = {fold.value}(values){then}{ending.format('result')}" for then in _THEN for ending in _ENDINGS),
    )
    for fold in Fold
}

#: Sums that are added up one by one, from the integer 0.
_BODIES[Fold.SUM] += tuple(
    f"result = 0\n    for value in values:{inside}{step}\n    {ending.format('result')}"
    for inside in (" ", "\n        ")
    for step in ("result += value", "result = result + value")
    for ending in _ENDINGS
)


# VARARGS, VARKEYWORDS, GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR, OPTIMIZED, NEWLOCALS. Other flags
# tell of nesting, docstrings and what the function's file imported from __future__; none of them changes what it does.
_MEANINGFUL_FLAGS = 0x4 | 0x8 | 0x20 | 0x80 | 0x100 | 0x200 | 0x1 | 0x2


def recognise(function: Callable[..., Any] | None) -> Fold | None:
    """The fold that a combiner or reducer is, if it is one.

    Example:
        >>> recognise(lambda key, values: [(key, sum(values))])
        <Fold.SUM: 'sum'>
        >>> recognise(lambda key, values: [(key, sum(values) + 1)]) is None
        True
    """
    known = getattr(function, "known_fold", None)
    if isinstance(known, Fold):
        return known
    code = getattr(function, "__code__", None)
    if code is None or function is None or not hasattr(function, "__globals__"):
        return None
    if function.__defaults__ or function.__kwdefaults__ or code.co_freevars or code.co_cellvars:
        return None
    fold = _TEMPLATES.get(_shape(code))
    if fold is None or function.__globals__.get(fold.value, getattr(builtins, fold.value)) is not getattr(
        builtins, fold.value
    ):
        return None
    return fold


@lru_cache(maxsize=256)  # asked for every chunk; a function may come to mean something else, its code may not
def _shape(code: Any) -> tuple[Any, ...]:
    """A function's instructions without names of locals, line numbers and places of constants."""
    steps = tuple(
        (step.opname, step.arg if "_FAST" in step.opname else repr(step.argval)) for step in dis.get_instructions(code)
    )
    return code.co_argcount, code.co_kwonlyargcount, code.co_flags & _MEANINGFUL_FLAGS, steps


def _templates() -> dict[tuple[Any, ...], Fold]:
    found = {}
    for fold, bodies in _BODIES.items():
        for body in bodies:
            space: dict[str, Any] = {}
            # Constant text of this file; compiled as any other file would be, without what this one imports.
            source = f"def f(key, values):\n    {body}"
            exec(compile(source, "<template>", "exec", dont_inherit=True), space)
            found[_shape(space["f"].__code__)] = fold
    return found


_TEMPLATES = _templates()

_UFUNCS: dict[Fold, np.ufunc] = {Fold.SUM: np.add, Fold.MIN: np.minimum, Fold.MAX: np.maximum}


def fold_groups(
    fold: Fold, numbers: npt.NDArray[np.int64], firsts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """Fold each group of a column of integers; None when the result may not fit in 64 bits."""
    if fold is Fold.SUM and len(numbers):
        largest = max(abs(int(numbers.min())), abs(int(numbers.max())))
        if largest * int(np.diff(firsts).max()) >= 1 << 63:
            return None
    folded: npt.NDArray[np.int64] = _UFUNCS[fold].reduceat(numbers, firsts[:-1])
    return folded
