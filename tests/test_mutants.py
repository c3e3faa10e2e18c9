"""The faults that `make mutants` puts into a module: each in one place, and each another program."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "mutants.py"

SOURCE = '''
"""Doc."""
from os import path

LIMIT = 10

def f(a: int, b: int = 2) -> int:
    """Doc."""
    assert a is not None
    if a < b and not a:
        raise ValueError("too little")
    rest = [each for each in range(a, b) if each]
    rest[0] = g(a, b, key="name")
    return rest[1:]
'''


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "mutants", module)  # data classes look their module up
        spec.loader.exec_module(module)
    return module


def test_each_change_is_another_program_with_one_difference(script: ModuleType) -> None:
    count = len(list(script.changes(ast.parse(SOURCE))))
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    seen = set()
    for number in range(count):
        tree = ast.parse(SOURCE)
        list(script.changes(tree))[number].apply()
        changed = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
        compile(tree, "mutant", "exec")
        assert len(changed) == len(plain)
        assert sum(one != other for one, other in zip(changed, plain, strict=True)) == 1
        seen.add("\n".join(changed))
    assert len(seen) == count


@pytest.mark.parametrize(
    "change",
    [
        "10 -> 11",
        "2 -> 1",
        "a < b -> a <= b",
        "a < b -> a >= b",
        "a < b and (not a) -> a < b or not a",
        "a < b and (not a) -> a < b",
        "not a -> a",
        "raise ValueError('too little') -> pass",
        "range(a, b) -> range(b, a)",
        "[each for each in range(a, b) if each] -> [each for each in range(a, b)]",
        "rest[0] = g(a, b, key='name') -> pass",
        "g(a, b, key='name') -> g(a, b)",
        "'name' -> 'not_name'",
        "1: -> :",
        "return rest[1:] -> return None",
    ],
)
def test_a_fault_is_among_the_changes(script: ModuleType, change: str) -> None:
    assert change in [each.text for each in script.changes(ast.parse(SOURCE))]


def test_a_sample_is_the_same_each_time_and_has_some_of_every_module(script: ModuleType) -> None:
    mutants = {path: [script.Mutant(path, at, 1, "", "") for at in range(50)] for path in ("a", "b", "c")}
    chosen = script.sampled(mutants, 20, seed=1)
    assert chosen == script.sampled(mutants, 20, seed=1) != script.sampled(mutants, 20, seed=2)
    assert len(chosen) == len(set(chosen)) == 20
    assert all(sum(one.path == path for one in chosen) >= script.FEWEST for path in mutants)


def test_every_module_and_test_that_is_named_exists(script: ModuleType) -> None:
    settings = script.tomllib.loads(script.SETTINGS.read_text())
    for path, tests in settings["modules"].items():
        assert (script.REPOSITORY / path).exists()
        assert all((script.REPOSITORY / test.partition("::")[0]).exists() for test in tests)


def test_every_mutant_that_is_left_out_exists_and_has_a_reason(script: ModuleType) -> None:
    settings = script.tomllib.loads(script.SETTINGS.read_text())
    for each in settings["equivalent"]:
        found = {(mutant.where, mutant.text) for mutant in script.mutants_of(each["module"])}
        assert {(each["where"], change) for change in each["changes"]} <= found, each["module"]
        assert each["why"]
