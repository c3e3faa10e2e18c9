"""Does a combiner or reducer keep something from one key to the next? Judged by its code, and with safety first.

Contract: False only where the function, and every method and helper of the user's that it names, assigns to no
attribute or global, reads no mutable attribute of the job, and changes no global container. Whoever cannot be read, or
hides behind `setattr` and the like, keeps state. What keeps state is run by whole tasks, so a wrong True costs time
and nothing else.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from mrjob.job import MRJob

from incoop.fingerprint.owners import owner

_ASSIGNING = frozenset({"STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL"})
_ITEM_ASSIGNING = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"})

#: Ways to reach attributes and globals that names do not show.
_HIDDEN_WAYS = frozenset({"setattr", "delattr", "vars", "globals", "exec", "eval", "__dict__", "__setattr__"})

#: Methods and functions that change a container.
_CHANGING = frozenset(
    {
        *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "heappop", "heappush"),
        *("heappushpop", "heapreplace", "insert", "insort", "insort_left", "insort_right", "intersection_update"),
        *("move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault", "sort", "subtract"),
        *("symmetric_difference_update", "update", "write", "writelines"),
    }
)

_IMMUTABLE = (int, float, complex, str, bytes, bool, type(None), frozenset, range, type, FunctionType)

#: What MRJob's own constructor sets; tasks read their options, and write them nowhere.
_OWN_ATTRIBUTES = frozenset({"options", "arg_parser", "stdin", "stdout", "stderr"})


def keeps_state(job: Any, function: Any, init: Any = None) -> bool:
    """Whether a function of this job object may remember one record or key at the next.

    `init` is what runs at the beginning of its task, and may have made containers that the function changes.
    """
    made = _assigned(getattr(init, "__func__", init))
    start = getattr(function, "__func__", function)
    if not isinstance(start, FunctionType):
        return True
    todo, seen = [start], set()
    while todo:
        reached = todo.pop()
        if reached in seen:
            continue
        seen.add(reached)
        more = _stateless_uses(job, reached, made)
        if more is None:
            return True
        todo += more
    return False


def _stateless_uses(job: Any, function: FunctionType, made: set[str]) -> list[FunctionType] | None:
    """The functions that this one may call; None if it may keep state."""
    names: set[str] = set()
    items_assigned = False
    for code in _codes(function.__code__):
        operations = {instruction.opname for instruction in dis.get_instructions(code)}
        if operations & _ASSIGNING:
            return None
        items_assigned |= bool(operations & _ITEM_ASSIGNING)
        names |= set(code.co_names)
    if names & _HIDDEN_WAYS or any(_mutable(cell.cell_contents) for cell in function.__closure__ or ()):
        return None
    changes = items_assigned or bool(names & _CHANGING)
    if changes and names & made:
        return None
    called: list[FunctionType] = []
    for name in names:
        own = vars(job).get(name)
        if name not in _OWN_ATTRIBUTES and _mutable(own):
            return None
        method = _users_attribute(type(job), name)
        value = function.__globals__.get(name)
        if changes and (_mutable(value) or (method is not None and _mutable(method))):
            return None
        if isinstance(method, property):
            method = method.fget
        called += [each for each in (getattr(method, "__func__", method), value) if _is_users(each)]
    return called


def _assigned(function: Any) -> set[str]:
    """Names of the attributes that a function assigns to."""
    if not isinstance(function, FunctionType):
        return set()
    every = [each for code in _codes(function.__code__) for each in dis.get_instructions(code)]
    return {str(each.argval) for each in every if each.opname == "STORE_ATTR"}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _users_attribute(job: type[Any], name: str) -> Any:
    """What the user's classes, not MRJob itself, have under a name."""
    for base in job.__mro__:
        if base is MRJob:
            return None
        if name in vars(base):
            return vars(base)[name]
    return None


def _is_users(value: Any) -> TypeGuard[FunctionType]:
    return isinstance(value, FunctionType) and owner(value.__module__).kind == "user"


def _mutable(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_mutable, value))
    if isinstance(value, list | dict | set | bytearray):
        return True
    if isinstance(value, _IMMUTABLE) or value.__hash__ is None:
        return not isinstance(value, _IMMUTABLE)
    # Compiled patterns, modules, loggers, dates: of Python or an installed package. An object of the user's may change.
    return owner(type(value).__module__).kind == "user" and not isinstance(value, staticmethod | classmethod | property)
