"""Mutation testing of the pure modules: put a fault into one place, run that module's tests, see whether they fail.

    python scripts/mutants.py --sample 200 [--seed 1] [--module plan]

Contract: the same source, seed and sample give the same mutants. No file is changed: a mutant exists in the memory of
one process. Which modules, with which tests, and which mutants change nothing: scripts/mutants.toml.

    (1) every single-point change of every module is listed (`changes`), but for those known to change nothing;
    (2) a seeded sample is taken of them;
    (3) for each, a forked process imports the changed module and runs its tests until one fails.

Why no tool from elsewhere. mutmut 3.8 finds no test for any mutant here: it names functions by their path
(`scheduler.placement`), and they are imported through links (`incoop.scheduler.placement`). cosmic-ray 8.7 rewrites the
file in the work tree, starts an interpreter for every mutant, takes one test command a session (there are as many as
modules here) and has no sample.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SETTINGS = Path(__file__).with_suffix(".toml")

#: Below this share of killed mutants the run fails.
REQUIRED = 0.85

#: Of each module at least so many are taken: a score of one mutant says nothing.
FEWEST = 3

#: A mutant that takes so many times what the tests take, and these seconds, goes on for ever.
PATIENCE, GRACE = 3, 2

#: Bytes that a mutant may ask for.
MEMORY = 3 << 30

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}

#: Functions whose first two arguments may change places.
_COMMUTE = frozenset({"min", "max", "minimum", "maximum", "union1d"})


@dataclass(frozen=True, slots=True)
class Change:
    """One fault."""

    line: int
    #: The function or class that it is in.
    where: str
    #: What stood there, and what stands there now.
    text: str
    #: Puts it into the tree.
    apply: Callable[[], None]


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every single-point change, always in the same order.

    Left alone: imports, annotations, decorators, docstrings, words that are not names, and assertions, which tell the
    type checker what is so.
    """
    for index, statement in enumerate(tree.body):
        yield from _statement(tree, "body", index, statement, "")


def _statement(parent: ast.AST, name: str, index: int, node: ast.stmt, where: str) -> Iterator[Change]:
    def put(new: ast.stmt) -> Callable[[], None]:
        return lambda: getattr(parent, name).__setitem__(index, ast.copy_location(new, node))

    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Expr(value=ast.Constant()):
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.FunctionDef() | ast.ClassDef():
            within = f"{where}.{node.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef):
                yield from _children(node.args, ("defaults", "kw_defaults"), within)
            yield from _children(node, ("body",), within)
            return
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise():
            yield Change(node.lineno, where, f"{_text(node)} -> pass", put(ast.Pass()))
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield Change(node.lineno, where, f"{_text(node)} -> pass", put(ast.Pass()))
        case ast.Continue():
            yield Change(node.lineno, where, "continue -> break", put(ast.Break()))
        case ast.Break():
            yield Change(node.lineno, where, "break -> continue", put(ast.Continue()))
        case ast.Return(value=ast.Constant(value=False | None)):
            pass  # to whoever asks yes or no, None is no
        case ast.Return(value=ast.expr()):
            yield Change(node.lineno, where, f"{_text(node)} -> return None", put(ast.Return(ast.Constant(None))))
        case ast.If() | ast.While():
            yield _negated(node, where)
    skipped = ("annotation", "exc", "cause") if isinstance(node, ast.AnnAssign | ast.Raise) else ()
    yield from _children(node, [each for each in node._fields if each not in skipped], where)


def _children(node: ast.AST, names: Sequence[str], where: str) -> Iterator[Change]:
    for name in names:
        value = getattr(node, name)
        for index, child in enumerate(value) if isinstance(value, list) else [(-1, value)]:
            if isinstance(child, ast.stmt):
                yield from _statement(node, name, index, child, where)
            elif isinstance(child, ast.expr):
                yield from _expression(node, name, index, child, where)
            elif isinstance(child, ast.AST):
                yield from _children(child, child._fields, where)


def _expression(parent: ast.AST, name: str, index: int, node: ast.expr, where: str) -> Iterator[Change]:
    def change(new: ast.expr) -> Change:
        def apply() -> None:
            ast.fix_missing_locations(ast.copy_location(new, node))
            if index < 0:
                setattr(parent, name, new)
            else:
                getattr(parent, name)[index] = new

        return Change(node.lineno, where, f"{_text(node)} -> {_text(new)}", apply)

    def altered(**fields: Any) -> Change:
        new = copy.copy(node)
        for field, value in fields.items():
            setattr(new, field, value)
        return change(new)

    match node:
        case ast.JoinedStr():
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from _children(part, ("value",), where)
            return
        case ast.Constant(value=bool() as truth):
            yield change(ast.Constant(not truth))
        case ast.Constant(value=int() | float() as number):
            yield change(ast.Constant(number + 1))
            yield change(ast.Constant(number - 1))
        case ast.Constant(value=str() as word) if word.isidentifier():
            yield change(ast.Constant("not_" + word))
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                for other in _COMPARED[type(operator)]:
                    yield altered(ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])
        case ast.BoolOp():
            yield altered(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for at in range(len(node.values)):
                rest = node.values[:at] + node.values[at + 1 :]
                yield change(copy.copy(rest[0])) if len(rest) == 1 else altered(values=rest)
        case ast.UnaryOp():
            yield change(copy.copy(node.operand))
        case ast.BinOp() if type(node.op) in _COMPUTED:
            yield altered(op=_COMPUTED[type(node.op)]())
        case ast.IfExp():
            yield _negated(node, where)
        case ast.Call():
            first = node.args[:2]
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            starred = any(isinstance(each, ast.Starred) for each in first)
            if len(first) == 2 and not starred and called not in _COMMUTE:
                yield altered(args=[first[1], first[0], *node.args[2:]])
            for at, keyword in enumerate(node.keywords):
                if keyword.arg is not None:
                    yield altered(keywords=node.keywords[:at] + node.keywords[at + 1 :])
        case ast.Slice(lower=ast.expr()):
            yield altered(lower=None)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for at, generator in enumerate(node.generators):
                for condition in range(len(generator.ifs)):
                    fewer = copy.copy(generator)
                    fewer.ifs = generator.ifs[:condition] + generator.ifs[condition + 1 :]
                    yield altered(generators=[*node.generators[:at], fewer, *node.generators[at + 1 :]])
    if isinstance(node, ast.Slice) and node.upper is not None:
        yield altered(upper=None)
    yield from _children(node, [each for each in node._fields if each not in ("ctx", "ops", "op")], where)


def _negated(node: ast.If | ast.While | ast.IfExp, where: str) -> Change:
    def apply() -> None:
        node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)

    keyword = "while" if isinstance(node, ast.While) else "if"
    return Change(node.lineno, where, f"{keyword} {_text(node.test)} -> {keyword} not ...", apply)


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else f"{text[:40]} ... {text[-25:]}"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with a fault in it."""

    path: str
    #: Which of the module's changes it is.
    number: int
    line: int
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: in {self.where or 'the module'}: {self.text}"

    def code(self) -> CodeType:
        tree = ast.parse((REPOSITORY / self.path).read_text())
        next(each for number, each in enumerate(changes(tree)) if number == self.number).apply()
        return compile(ast.fix_missing_locations(tree), str(REPOSITORY / self.path), "exec", dont_inherit=True)


def mutants_of(path: str) -> list[Mutant]:
    """Every mutant of a module; of those that read the same, the second and later ones are numbered."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for number, change in enumerate(changes(ast.parse((REPOSITORY / path).read_text()))):
        seen[change.where, change.text] += 1
        times = seen[change.where, change.text]
        text = change.text if times == 1 else f"{change.text} (#{times})"
        found.append(Mutant(path, number, change.line, change.where, text))
    return found


class _MutantLoader(importlib.machinery.SourceFileLoader):
    mutant: Mutant

    def get_code(self, fullname: str) -> CodeType:
        return self.mutant.code()


class _MutantFinder:
    """Gives the changed module in place of the one on disk."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        parts = Path(mutant.path).with_suffix("").parts
        self._name = ".".join(parts if parts[0] == "incoop" else ("incoop", *parts))

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None and spec.origin is not None
        spec.loader = _MutantLoader(name, spec.origin)
        spec.loader.mutant = self._mutant
        return spec


def _run_tests(tests: Sequence[str], mutant: Mutant | None, folder: str, loud: bool) -> int:
    """In a process of its own: pytest's exit code."""
    import pytest

    if not loud:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
    os.chdir(REPOSITORY)
    sys.path.insert(0, str(REPOSITORY))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    if mutant is not None:
        sys.meta_path.insert(0, _MutantFinder(mutant))
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", f"--basetemp={folder}/pytest"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # it is imported before, once for all
    return int(pytest.main([*options, *tests]))


def _preload() -> None:
    """Import what all tests need, and nothing of this project: a forked process then begins at once."""
    import hypothesis.strategies
    import numpy as np
    import pandas as pd  # type: ignore[import-untyped]
    import xxhash
    import zstandard

    assert np and pd and xxhash and zstandard and hypothesis.strategies
    # The same examples each time, none kept; that a test fails is enough, the smallest example is not looked for.
    hypothesis.settings.register_profile(
        "mutants",
        max_examples=50,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tests said. `code` is pytest's, or negative for a signal."""

    code: int
    seconds: float
    cpu: float


def attempt(tests: Sequence[str], mutant: Mutant | None, cpu: float, loud: bool = False) -> Outcome:
    """Run tests in a forked process, with a limit of seconds of CPU."""
    folder = tempfile.mkdtemp(prefix="mutant")
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        code = 3
        try:
            code = _run_tests(tests, mutant, folder, loud)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    # A test that waits uses no CPU.
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() - begin > 6 * cpu:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)
    shutil.rmtree(folder, ignore_errors=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(os.waitstatus_to_exitcode(done[1]), time.monotonic() - begin, used)


def sampled(mutants: dict[str, list[Mutant]], count: int, seed: int) -> list[Mutant]:
    """So many of all mutants, some of each module."""
    chance = random.Random(seed)
    orders = {path: chance.sample(each, len(each)) for path, each in mutants.items()}
    some = [one for each in orders.values() for one in each[:FEWEST]]
    rest = [one for each in orders.values() for one in each[FEWEST:]]
    chosen = some + chance.sample(rest, max(0, min(count - len(some), len(rest))))
    return sorted(chosen, key=lambda one: (one.path, one.number))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=200, help="how many mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", default="", help="only modules whose path contains this")
    parser.add_argument("--line", type=int, help="only mutants of this line, with what the tests print")
    options = parser.parse_args()

    settings = tomllib.loads(SETTINGS.read_text())
    tests: dict[str, list[str]] = {path: each for path, each in settings["modules"].items() if options.module in path}
    every = {path: mutants_of(path) for path in tests}
    alike = {(each["module"], each["where"], text) for each in settings["equivalent"] for text in each["changes"]}
    left = {path: [one for one in each if (path, one.where, one.text) not in alike] for path, each in every.items()}
    unknown = alike - {(one.path, one.where, one.text) for each in every.values() for one in each}
    if wrong := sorted(each for each in unknown if each[0] in tests):
        print("Listed as equivalent, but no such mutant:", *wrong, sep="\n  ")
        return 2
    if options.line is not None:
        chosen = [one for each in left.values() for one in each if one.line == options.line]
    else:
        chosen = sampled(left, options.sample or sys.maxsize, options.seed)

    _preload()
    limits: dict[str, float] = {}
    killed: Counter[str] = Counter()
    survived: list[Mutant] = []
    begin = time.monotonic()
    for number, mutant in enumerate(chosen, 1):
        own = tests[mutant.path]
        if mutant.path not in limits:
            whole = attempt(own, None, 600)
            if whole.code:
                print(f"The tests of {mutant.path} fail without a mutant (exit code {whole.code}): {' '.join(own)}")
                return 2
            limits[mutant.path] = PATIENCE * whole.cpu + GRACE
            print(f"{mutant.path}: {len(left[mutant.path])} mutants, tests take {whole.seconds:.1f} s", flush=True)
        outcome = attempt(own, mutant, limits[mutant.path], loud=options.line is not None)
        if outcome.code in (4, 5):  # no tests, or a wrong command line
            print(f"pytest could not run: {' '.join(own)}")
            return 2
        if outcome.code:
            killed[mutant.path] += 1
        else:
            survived.append(mutant)
            print(f"  survived ({number} of {len(chosen)}): {mutant}", flush=True)

    print(f"\n{'killed':>10}  {'score':>6}  module (mutants in all, of which equivalent)")
    for path, all_of_it in every.items():
        if count := sum(one.path == path for one in chosen):
            same = len(all_of_it) - len(left[path])
            print(f"{killed[path]:4} of {count:3}  {killed[path] / count:6.1%}  {path} ({len(all_of_it)}, {same})")
    score = killed.total() / len(chosen) if chosen else 1.0
    print(f"{killed.total():4} of {len(chosen):3}  {score:6.1%}  in all; seed {options.seed},", end=" ")
    print(f"{time.monotonic() - begin:.0f} s")
    return 0 if score >= REQUIRED else 1


if __name__ == "__main__":
    sys.exit(main())
