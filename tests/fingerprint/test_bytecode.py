"""Layout does not count: real sources, reformatted, have the same digests function by function."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator

import pytest

from incoop.fingerprint.bytecode import code_digest

MODULES = ("argparse", "calendar", "configparser", "csv", "difflib", "heapq", "shlex", "textwrap")


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _on_one_line(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
    return tree


@pytest.mark.parametrize("name", MODULES)
def test_a_reformatted_module_has_the_same_functions(name: str) -> None:
    source = inspect.getsource(__import__(name))
    original = list(_codes(compile(source, "a.py", "exec")))
    unparsed = list(_codes(compile(ast.unparse(ast.parse(source)), "b.py", "exec")))
    squeezed = list(_codes(compile(_on_one_line(ast.parse(source)), "c.py", "exec")))  # type: ignore[call-overload]
    # As sets: the compiler keeps one code object for equal lambdas of one line.
    digests = {code_digest(code) for code in original}
    assert digests == {code_digest(code) for code in unparsed} == {code_digest(code) for code in squeezed}
    # Not for free: functions that differ have different digests.
    bodies = {(code.co_code, code.co_consts, code.co_names, code.co_varnames) for code in original}
    assert len(digests) > 0.8 * len(bodies)
