"""Classes that a program defines itself are in workers what they are in the program: slots, nesting and all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import dataclasses, sys, typing
import incoop

class Point:
    __slots__ = ("x", "__hidden")
    def __init__(self, x):
        self.x = x
        self.__hidden = 2
    def both(self):
        return self.x + self.__hidden
    def __repr__(self):
        return f"{type(self).__qualname__} {self.both()}"

class Named(Point):
    __slots__ = "name"

class Base:
    __slots__ = ()

class Plain(Base):
    __slots__ = ("y",)

class Outer:
    @dataclasses.dataclass
    class Inner:
        size: int

class Pair(typing.NamedTuple):
    left: int

def local():
    @dataclasses.dataclass
    class Local:
        size: int
    return lambda: repr(Local(1))

point, named, plain, shown = Point(1), Named(5), Plain(), local()
named.name, plain.y = "n", 7

def mapper(_, line):
    yield "given", point.both()
    yield "without a dict", hasattr(point, "__dict__")
    yield "inherited", (named.both(), named.name, plain.y)
    yield "shown", shown()
    yield "nested", repr(Outer.Inner(3))
    yield "values", Point(4)
    yield "nested values", Outer.Inner(5)
    yield "pairs", Pair(6)

def first(key, values):
    yield key, next(iter(values))

expected = {key: repr(value) for key, value in mapper(None, "")}
with incoop.connect(sys.argv[1] + "/store") as session:
    for name in ("one", "two"):
        found = session.run(incoop.Job(name, mapper, first), sys.argv[1] + "/in.txt").as_dict()
        assert {key: repr(value) for key, value in found.items()} == expected, found
"""


def test_objects_with_slots_and_nested_classes_of_a_program_are_as_it_defines_them(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a line\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
