"""Hash what a code object does, and nothing of how its source is laid out.

Contract: line numbers, file names, comments, docstrings, blank lines, the order in which the compiler laid out its
blocks and the names of plain local variables do not count; operations, constants, global, attribute and parameter
names, control flow and exception handlers do.

Method: each instruction is a node of a graph whose edges are "next", "jump" and "handler". The compiler places NOPs,
threads jumps and copies exit blocks depending on line numbers; none of that can be seen by walking the graph, so the
graph's digest (see `incoop.fingerprint.graph`) is free of it.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from types import CodeType
from typing import Any

from incoop.fingerprint.graph import Node, digests
from incoop.fingerprint.instructions import Instruction, all_names, cached_by_identity, instructions
from incoop.fingerprint.tokens import ITEMS, LEAF, PLAIN, Token, combine, reference, str_token

# Pure control flow: an edge of the graph, not a node.
GOTO = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE", "JUMP_NO_INTERRUPT"})

# After these no instruction follows.
ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})

# The compiler tests for one outcome or the other, as the lines fall; what counts is where each leads. The second says
# whether the jump is taken when the condition holds.
BRANCHES = {
    "POP_JUMP_IF_TRUE": (b"BRANCH_IF_TRUE", True),
    "POP_JUMP_IF_FALSE": (b"BRANCH_IF_TRUE", False),
    "POP_JUMP_IF_NONE": (b"BRANCH_IF_NONE", True),
    "POP_JUMP_IF_NOT_NONE": (b"BRANCH_IF_NONE", False),
}

# No handler catches anything of these, so it does not matter which holds: Python 3.13 joins the last of a try block
# with the first after it. Before Python 3.12 a load found out by itself that a variable is not set.
NEVER_FAIL = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "STORE_FAST"} if sys.version_info >= (3, 12) else ())

# A class body stores these; they say where it stands in the file.
PLACE_STORES = frozenset({"__firstlineno__", "__static_attributes__"})

# With one of these in sight, the names of local variables can be read at run time.
LOCALS_READERS = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "f_locals", "_getframe", "currentframe", "__code__"}
)

# VARARGS, VARKEYWORDS, GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR, OPTIMIZED, NEWLOCALS. Other flags
# tell of nesting and of __future__ imports, whose effects are in the instructions.
MEANINGFUL_FLAGS = 0x4 | 0x8 | 0x20 | 0x80 | 0x100 | 0x200 | 0x1 | 0x2


def code_digest(code: CodeType, with_docstrings: bool = False) -> bytes:
    """Return the digest of what `code` does, functions and classes inside it included.

    Example:
        >>> def old(x):
        ...     "Add one."
        ...     total = x + 1
        ...     return total
        >>> def new(x):
        ...     result = (x  # the same
        ...               + 1)
        ...     return result
        >>> code_digest(old.__code__) == code_digest(new.__code__)
        True
    """
    return (_digest_with_docstrings if with_docstrings else _digest)(code)


@cached_by_identity
def _digest(code: CodeType) -> bytes:
    return _read_code(code, False)


@cached_by_identity
def _digest_with_docstrings(code: CodeType) -> bytes:
    return _read_code(code, True)


def _read_code(code: CodeType, with_docstrings: bool) -> bytes:
    parameters = code.co_argcount + code.co_kwonlyargcount
    parameters += bool(code.co_flags & 0x4) + bool(code.co_flags & 0x8)
    # Names of other local variables are only positions, unless something may look them up.
    named = len(code.co_varnames) if all_names(code) & LOCALS_READERS else parameters
    head: list[Token] = [
        constant_token((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount), with_docstrings),
        constant_token(code.co_varnames[:named], with_docstrings),
        constant_token(code.co_flags & MEANINGFUL_FLAGS, with_docstrings),
    ]
    if with_docstrings:
        head.append(constant_token(_docstring(code), with_docstrings))
    entry = _instruction_graph(code, with_docstrings)
    return combine(b"code", 0, [*head, reference(digests([entry])[entry])])


def constant_token(value: Any, with_docstrings: bool = False) -> Token:
    """Return the token of a constant: what a compiler may put into `co_consts`."""
    if isinstance(value, CodeType):
        return str_token(value.co_name) + reference(code_digest(value, with_docstrings))
    if type(value) in LEAF:
        return LEAF[type(value)](value)
    if isinstance(value, slice):  # constants from Python 3.14 on
        return reference(combine(b"slice", 0, [constant_token(v) for v in (value.start, value.stop, value.step)]))
    tag, mode = PLAIN[type(value)]
    assert mode != ITEMS, "a dict is never a constant"
    return reference(combine(tag, mode, [constant_token(item, with_docstrings) for item in value]))


def _docstring(code: CodeType) -> str | None:
    first = code.co_consts[0] if code.co_consts else None
    return first if isinstance(first, str) else None


def _instruction_graph(code: CodeType, with_docstrings: bool) -> Node:
    steps = _without_place(instructions(code), with_docstrings)
    at = _Landings(steps)
    handlers = _handlers(code)
    nodes = [Node() for _ in steps]
    end = Node()
    end.tag = b"end"
    spin = Node()
    spin.tag = b"spin"  # `while True: pass`

    def edge(position: int) -> Node:
        target = at.effective(position)
        return spin if target is None else end if target >= len(steps) else nodes[target]

    for position, (step, node) in enumerate(zip(steps, nodes, strict=True)):
        if step.op in GOTO:
            continue
        op = step.op.replace("_FORWARD_", "_").replace("_BACKWARD_", "_")
        node.tag, jumps_if = BRANCHES.get(op, (op.encode(), False))
        node.tokens.append(_argument(step, with_docstrings))
        edges: list[Token | Node] = [b"-" if step.op in ENDS else edge(position + 1)]
        if step.kind == "jump":
            assert isinstance(step.value, int)
            edges.insert(0 if jumps_if else 1, edge(at.position(step.value)))
        node.tokens += edges
        for start, stop, target, depth, lasti in handlers:
            if start <= step.offset < stop and step.op not in NEVER_FAIL:
                node.tokens += [b"h%d,%d;" % (depth, lasti), edge(at.position(target))]
    return edge(0)


def _argument(step: Instruction, with_docstrings: bool) -> Token:
    if step.kind == "name":
        assert isinstance(step.value, str)
        return b"%d." % step.flags + str_token(step.value)
    if step.kind == "const":
        return constant_token(step.value, with_docstrings)
    if step.kind == "jump" or step.arg is None:
        return b"-"
    return b"%d;" % step.arg


class _Landings:
    """Where a jump to an offset ends up once jumps to jumps are followed."""

    def __init__(self, steps: Sequence[Instruction]) -> None:
        self._steps = steps
        self._offsets = [step.offset for step in steps]
        self._positions = {step.offset: position for position, step in enumerate(steps)}

    def position(self, offset: int) -> int:
        """Return the first instruction at or after `offset` (which may have held a NOP or EXTENDED_ARG)."""
        return self._positions.get(offset, bisect_left(self._offsets, offset))

    def effective(self, position: int) -> int | None:
        """Return the instruction that runs when control reaches `position`; None if it goes round for ever."""
        seen = set()
        while position < len(self._steps) and self._steps[position].op in GOTO:
            if position in seen:
                return None
            seen.add(position)
            target = self._steps[position].value
            assert isinstance(target, int)
            position = self.position(target)
        return position


def _without_place(steps: Sequence[Instruction], with_docstrings: bool) -> list[Instruction]:
    """Leave out what a class body stores about its place in the file, and its docstring."""
    dropped = PLACE_STORES if with_docstrings else PLACE_STORES | {"__doc__"}
    result: list[Instruction] = []
    for step in steps:
        if (
            step.op == "STORE_NAME"
            and step.value in dropped
            and result
            and result[-1].op in ("LOAD_CONST", "LOAD_SMALL_INT")
        ):
            result.pop()
            continue
        result.append(step)
    return result


def _handlers(code: CodeType) -> list[tuple[int, int, int, int, int]]:
    """Return the exception table as (start, stop, target, depth, lasti) byte offsets.

    The format is CPython's `Objects/exception_handling_notes.txt`: four numbers an entry, six bits a byte.
    """
    table = iter(getattr(code, "co_exceptiontable", b""))

    def number(first: int) -> int:
        value = first & 63
        while first & 64:
            first = next(table)
            value = value << 6 | first & 63
        return value

    entries = []
    for first in table:
        start = number(first) * 2
        length, target, depth_lasti = number(next(table)) * 2, number(next(table)) * 2, number(next(table))
        entries.append((start, start + length, target, depth_lasti >> 1, depth_lasti & 1))
    return entries
