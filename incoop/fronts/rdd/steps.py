"""Narrow RDD steps, fused: what a program does with a record, and where it goes, as one loop over a chunk.

Contract: a fused loop gives what PySpark's chain of iterators gives, in the same order. It is generated once for each
sequence of kinds; the user's functions are its arguments, so that fingerprints and errors see them as they are.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from pyspark.resultiterable import ResultIterable

from incoop.contraction.columns.keys import hash_of
from incoop.fronts.rdd.accumulators import Updates
from incoop.fronts.rdd.sort_ranges import smallest


class StepKind(Enum):
    """What a step does with a record `x`; `f` stands for its function."""

    MAP = "x = f(x)"
    FLAT_MAP = "for x in f(x):"
    FILTER = "if not f(x): continue"
    MAP_VALUES = "x = (x[0], f(x[1]))"
    FLAT_MAP_VALUES = "key# = x[0]\nfor x in f(x[1]):\n x = (key#, x)"
    KEY_BY = "x = (f(x), x)"
    #: These cost nothing: where a result is read on the driver, they are done there.
    KEYS = "x = x[0]"
    VALUES = "x = x[1]"
    GROUPED = "x = (x[0], ResultIterable(x[1]))"
    #: A function of all records of a chunk.
    PARTITION = ""


LIGHT = frozenset({StepKind.KEYS, StepKind.VALUES, StepKind.GROUPED})


@dataclass(frozen=True, slots=True)
class NarrowStep:
    """One narrow transformation."""

    kind: StepKind
    function: Callable[..., Any] | None = None


class Shape(Enum):
    """How records come: the loop's first lines, which name a record `x` and the range of keys it is in `b`."""

    #: Lines of a file, or pairs that are records.
    RECORDS = "b = None\nfor x in records:"
    #: Records as values of pairs.
    STORED = "for b, x in records:"
    #: Sorted records, all of a range of keys in one pair.
    RANGES = "for b, xs in records:\n for x in xs:"


class RecordSink(Enum):
    """Where records go: lines before the loop, for each record, and after it. `g` and `h` are the sink's arguments."""

    RECORDS = "", "yield x", ""
    #: Pairs to be grouped by key.
    PAIRS = "", "yield x", ""
    #: Any record, as the value of a pair.
    STORED = "", "yield b, x", ""
    #: Pairs by range: `g` are the keys that end one, `h` says whether they ascend.
    RANGED = "", "k = bisect_left(g, x[0]); yield k if h else -k, x", ""
    #: The keys whose hashes are smallest.
    SKETCHED = "found = {}", "found[hash_of(x[0])] = x[0]", "return [(None, smallest(found.items()))]"
    #: How many records a range has; records with their numbers, of which `g` has the first of each range.
    SIZED = "n = {}", "n[b] = n.get(b, 0) + 1", "return n.items()"
    NUMBERED = "n = dict(g)", "yield b, (x, n[b]); n[b] += 1", ""
    COUNTED = "y = 0", "y += 1", "return [(None, y)]"
    #: One value for a key: `g` makes it of the first, `h` adds another.
    COMBINED = (
        "found = {}; get = found.get",
        "k, v = x; old = get(k, MISSING); found[k] = g(v) if old is MISSING else h(old, v)",
        "return found.items()",
    )
    #: The same for `h` alone, and for an addition.
    MERGED = (
        "found = {}; get = found.get",
        "k, v = x; old = get(k, MISSING); found[k] = v if old is MISSING else h(old, v)",
        "return found.items()",
    )
    ADDED = (
        "found = {}; get = found.get",
        "k, v = x; old = get(k, MISSING); found[k] = v if old is MISSING else old + v",
        "return found.items()",
    )
    #: One value for all records.
    REDUCED = "y = MISSING", "y = x if y is MISSING else h(y, x)", "return [] if y is MISSING else [(None, y)]"
    AGGREGATED = "y = copy.deepcopy(g)", "y = h(y, x)", "return [(None, y)]"


@dataclass(frozen=True, slots=True)
class Fused:
    """A chain of steps and its sink, as the function of a `ChunkMapper` or a `RecordsMapper`."""

    steps: tuple[NarrowStep, ...]
    sink: RecordSink
    shape: Shape
    arguments: tuple[Any, ...] = ()
    updates: Updates = field(default_factory=Updates)
    #: A hash of the files that functions may read by `SparkFiles`.
    files: bytes = b""

    def __call__(self, records: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
        def pairs() -> Any:
            return run_steps(self.steps, self.sink, self.shape, self.arguments, records)

        return self.updates.counted(pairs) if self.updates else pairs()


def run_steps(
    steps: Sequence[NarrowStep], sink: RecordSink, shape: Shape, arguments: tuple[Any, ...], records: Iterable[Any]
) -> Any:
    """Send records through steps into a sink."""
    until = next((at for at, step in enumerate(steps) if step.kind is StepKind.PARTITION), None)
    if until is None:
        loop = _loop(tuple(step.kind for step in steps), sink, shape)
        return loop(records, [step.function for step in steps], *arguments)
    function = steps[until].function
    assert function is not None
    inner = run_steps(steps[:until], RecordSink.RECORDS, shape, (), records)
    return run_steps(steps[until + 1 :], sink, Shape.RECORDS, arguments, function(inner))


def read_light(steps: Sequence[NarrowStep], pairs: Iterable[tuple[Any, Any]], shape: Shape) -> Iterator[Any]:
    """The records behind stored pairs, after steps that cost nothing."""
    found: Iterator[Any] = run_steps(steps, RecordSink.RECORDS, shape, (), pairs)
    return found


class _Missing:
    """Stands for no value, where None is one."""


#: What the texts above name.
_NAMES = {
    "MISSING": _Missing,
    "copy": copy,
    "ResultIterable": ResultIterable,
    "bisect_left": bisect_left,
    "hash_of": hash_of,
    "smallest": smallest,
}


@lru_cache(maxsize=512)
def _loop(kinds: tuple[StepKind, ...], sink: RecordSink, shape: Shape) -> Callable[..., Any]:
    before, each, after = sink.value
    lines = ["def loop(records, functions, g=None, h=None):"]
    for number, kind in enumerate(kinds):
        if "f(" in kind.value:
            lines.append(f" f{number} = functions[{number}]")
    lines += [f" {before}"] if before else []
    lines += [f" {line}" for line in shape.value.split("\n")]
    indent = "  " + " " * (shape is Shape.RANGES)
    for number, kind in enumerate(kinds):
        text = kind.value.replace("f(", f"f{number}(").replace("#", str(number))
        lines += [indent + line for line in text.split("\n")]
        indent += " " * ("for " in text)
    lines += [indent + each, f" {after}"]
    space: dict[str, Any] = dict(_NAMES)
    exec("\n".join(lines), space)  # texts of this file alone
    made: Callable[..., Any] = space["loop"]
    return made
