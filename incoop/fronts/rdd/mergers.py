"""Merging values of a key as PySpark does, for the engine's combiners and reducers.

Contract: functions are as PySpark wants them, associative, and may change and return their first argument. What they
are given first is therefore a copy, where it can be changed: stored values are never touched.
"""

from __future__ import annotations

import copy
import dis
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.known_combiners import LawfulCombiner

Pairs = list[tuple[Any, Any]]

#: Values of these types cannot be changed, nor can what they contain.
_UNCHANGING = frozenset({int, float, str, bool, bytes, complex, type(None)})


@dataclass(frozen=True, slots=True)
class Merge:
    """One value of many."""

    function: Callable[[Any, Any], Any]

    def __call__(self, key: Any, values: Iterable[Any]) -> Pairs:
        first, *others = values
        if type(first) not in _UNCHANGING and others:
            first = copy.deepcopy(first)
        return [(key, reduce(self.function, others, first))]


def merger(function: Callable[[Any, Any], Any]) -> LawfulCombiner:
    """A combiner and reducer out of a binary function."""
    return LawfulCombiner(Merge(function), fold_of(function))


def as_list(key: Any, values: Iterable[Any]) -> Pairs:
    """A reducer that groups."""
    return [(key, list(values))]


_BUILTIN_FOLDS: dict[Any, Fold] = {operator.add: Fold.SUM, min: Fold.MIN, max: Fold.MAX}


def fold_of(function: Callable[[Any, Any], Any]) -> Fold | None:
    """The fold that a binary function is on integers, if it is surely one.

    Example:
        >>> fold_of(lambda a, b: a + b), fold_of(max), fold_of(lambda a, b: a + b + 1)
        (<Fold.SUM: 'sum'>, <Fold.MAX: 'max'>, None)
    """
    try:
        if function in _BUILTIN_FOLDS:
            return _BUILTIN_FOLDS[function]
    except TypeError:  # a callable object that does not hash
        return None
    return Fold.SUM if is_addition(function) else None


def is_addition(function: Callable[[Any, Any], Any]) -> bool:
    """Whether a function only adds its two arguments, in their order."""
    if function is operator.add:
        return True
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__defaults__", None) or getattr(function, "__kwdefaults__", None):
        return False
    return code.co_argcount == 2 and not code.co_kwonlyargcount and _steps(code) == _ADDITION


def _steps(code: Any) -> list[tuple[str, Any]]:
    return [(step.opname, step.arg) for step in dis.get_instructions(code)]


_ADDITION = _steps((lambda a, b: a + b).__code__)
