"""Read bytecode the same way on every Python that incoop supports.

Contract: the instructions of a code object do not depend on whether it has run (inline caches and specialised
instructions are left out), and `EXTENDED_ARG`, `CACHE` and `NOP` are gone; a jump names the instruction it lands on. An
instruction that does the work of two, which the compiler makes of two that stand on one line, is two.
"""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from types import CodeType
from typing import TypeVar

# Instructions without an effect of their own. NOPs stand where a line has no code, so they come and go with layout.
SILENT = frozenset({"NOP", "EXTENDED_ARG", "CACHE"})

# `x.name` and `x.name()`: one instruction from Python 3.12 on, two kinds before.
ATTRIBUTE_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})

# Bits of an argument that are flags rather than an index into the names.
_FLAG_BITS = {"LOAD_GLOBAL": 1, "LOAD_SUPER_ATTR": 2}
if sys.version_info >= (3, 12):
    _FLAG_BITS["LOAD_ATTR"] = 1

# `LOAD_FAST_LOAD_FAST` and its like, from Python 3.13 on: two variables, four bits of the argument each.
_PAIR = re.compile(r"((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")

# Reading one code object takes about a millisecond; a job reaches some hundreds, and is fingerprinted again and again.
CACHED_CODES = 4096

_Result = TypeVar("_Result")


def cached_by_identity(read: Callable[[CodeType], _Result]) -> Callable[[CodeType], _Result]:
    """Remember a result for the same code object; equality of code objects ignores parts that matter here."""
    known: dict[int, tuple[CodeType, _Result]] = {}

    @wraps(read)
    def cached(code: CodeType) -> _Result:
        entry = known.get(id(code))
        if entry is None:
            if len(known) >= CACHED_CODES:
                known.clear()
            entry = known[id(code)] = (code, read(code))  # the code object is kept, so its identity stays its own
        return entry[1]

    return cached


_HAS_NAME = frozenset(dis.hasname)
_HAS_CONST = frozenset(dis.hasconst)
_HAS_JUMP = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a code object, with its argument read."""

    op: str
    #: The raw argument, or None.
    arg: int | None
    #: What the argument stands for: a name, a constant, the offset of a jump's target.
    value: object
    offset: int
    line: int | None
    #: "name", "const", "jump" or "raw": how `value` is to be taken.
    kind: str

    @property
    def flags(self) -> int:
        """The bits of a name's argument that are not its index."""
        bits = _FLAG_BITS.get(self.op, 0)
        return (self.arg or 0) & ((1 << bits) - 1)


@cached_by_identity
def instructions(code: CodeType) -> tuple[Instruction, ...]:
    """Return the effective instructions of `code`, in the order of their offsets.

    Example:
        >>> [i.op for i in instructions((lambda x: x + 1).__code__) if i.kind == "const"]
        ['LOAD_CONST']
    """
    result = []
    line: int | None = None
    starts = {offset: number for offset, _, number in code.co_lines()}
    for item in dis.get_instructions(code):
        line = starts.get(item.offset, line)
        if item.opname in SILENT:
            continue
        pair = _PAIR.fullmatch(item.opname)
        if pair is not None and item.arg is not None:
            first, second = item.arg >> 4, item.arg & 15
            names = code.co_varnames + code.co_cellvars + code.co_freevars
            # An odd offset: no jump lands there, and every handler of the first half holds for the second.
            result.append(Instruction(pair[1], first, names[first], item.offset, line, "raw"))
            result.append(Instruction(pair[2], second, names[second], item.offset + 1, line, "raw"))
            continue
        kind = _kind(item.opcode)
        # `dis` of Python 3.11 leaves the constant of KW_NAMES unread.
        value = code.co_consts[item.arg] if kind == "const" and item.arg is not None else item.argval
        result.append(Instruction(item.opname, item.arg, value, item.offset, line, kind))
    return tuple(result)


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects of functions, classes and comprehensions defined inside `code`."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


@cached_by_identity
def all_names(code: CodeType) -> frozenset[str]:
    """Return every name that `code` and the code inside it can read, and their text constants."""
    # A class body stores `__module__`, `__qualname__` and `__doc__` without reading them.
    names = {str(step.value) for step in instructions(code) if step.kind == "name" and step.op != "STORE_NAME"}
    names.update(constant for constant in code.co_consts if isinstance(constant, str))
    for inner in nested_codes(code):
        names |= all_names(inner)
    return frozenset(names)


def _kind(opcode: int) -> str:
    if opcode in _HAS_NAME:
        return "name"
    if opcode in _HAS_CONST:
        return "const"
    return "jump" if opcode in _HAS_JUMP else "raw"
