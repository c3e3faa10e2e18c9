"""What a memoized RDD is made of: parts, each some narrow steps on a base that gives records.

Contract: nothing runs until a result is asked for. `Unmemoized` says that the engine does not run something. What bases
do is bound: no change that the program makes to a variable later is seen by them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark import RDD

from incoop.engine.inputs import BlockSource
from incoop.fronts.rdd.frozen_functions import Frozen
from incoop.fronts.rdd.steps import LIGHT, NarrowStep, Shape, StepKind


class Unmemoized(Exception):
    """The engine does not run this; plain Spark does."""


class Quietly(Unmemoized):
    """Plain Spark does this for a reason that is nobody's to know."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Keys of a sort's pairs, which stand for ranges of the program's keys: 0, 1, 2, … or 0, -1, -2, …"""

    number: int
    ascending: bool

    def partition(self, partitions: int, key: int) -> int:
        """Which of some partitions a range is in."""
        position = key if self.ascending else key + self.number - 1
        return position * partitions // self.number


class Base(ABC):
    """Where records come from."""

    #: The same from run to run, and another for every other place in the program.
    name: str
    #: How the engine meets the records.
    shape: Shape
    #: The order of records is that of the pairs' keys, not that of the blocks.
    ordered = False
    #: The records can be read from the store, once they are there.
    kept = False
    #: The records are those of the user's files: plain Spark reads them as they are, nothing is gained by storing them.
    raw = False
    #: The records are computed by plain Spark: where they are asked for as they are, it gives them.
    computed = False

    @abstractmethod
    def input(self) -> Any:
        """What the engine takes as input; may run earlier stages, may raise Unmemoized."""

    def blocks(self) -> BlockSource:
        """The records as blocks, in their order; may run earlier stages, may raise Unmemoized."""
        source: BlockSource = self.input()
        return source

    def read(self, steps: Sequence[NarrowStep] = ()) -> Iterator[Any]:
        """The records of a base that is kept, or raw, on the driver, after light steps."""
        raise AssertionError(f"{self.name} is not kept")

    def ranges(self) -> Ranges:
        """Of a base that is ordered: which keys its pairs may have."""
        raise AssertionError(f"{self.name} is not ordered")

    def unread_bytes(self) -> int:
        """How much may have to be read before the blocks are known."""
        return 0

    @abstractmethod
    def plain(self) -> RDD[Any]:
        """The same records, by plain Spark, from stored ones where there are any."""

    def exact(self) -> RDD[Any]:
        """The same records, by plain Spark alone, in the partitions that PySpark has."""
        return self.plain()

    @abstractmethod
    def partitions(self) -> int:
        """How many partitions PySpark would have here."""

    @abstractmethod
    def empty(self) -> bool:
        """Whether there is certainly no record."""


@dataclass(frozen=True, slots=True)
class RddPart:
    """Records of one base after some narrow steps; an RDD is one or more of them, one after the other."""

    base: Base
    steps: tuple[NarrowStep, ...] = ()
    #: Those of the steps that are bound to what they were, each group by the place of its first.
    bound: tuple[tuple[int, Frozen], ...] = ()

    def after(self, *steps: NarrowStep) -> RddPart:
        return replace(self, steps=(*self.steps, *steps))

    def binding(self, frozen: Frozen, number: int) -> RddPart:
        """The part with its last steps bound."""
        first = len(self.steps) - number
        return replace(self, bound=(*self.bound, (first, frozen))).settled()

    def settled(self) -> RddPart:
        """The part with its bound steps as they were, whatever became of the classes that they use."""
        steps = list(self.steps)
        for first, frozen in self.bound:
            for at, function in enumerate(frozen.functions, first):
                steps[at] = NarrowStep(steps[at].kind, function)
        return replace(self, steps=tuple(steps)) if self.bound else self

    @property
    def by_record(self) -> bool:
        """Whether no step sees more than a record at once."""
        return all(step.kind is not StepKind.PARTITION for step in self.steps)

    @property
    def light(self) -> bool:
        """Whether the records can be read from a stored result without calling a function of the user's."""
        return self.base.kept and all(step.kind in LIGHT for step in self.steps)

    @property
    def readable(self) -> bool:
        """Whether the driver can read the records without calling a function of the user's."""
        return self.light or (self.base.raw and all(step.kind in LIGHT for step in self.steps))

    @property
    def as_it_is(self) -> bool:
        """Whether the records are those of files, or plain Spark's, with nothing done to them."""
        return (self.base.raw or self.base.computed) and not self.steps

    def name(self) -> str:
        return ".".join([self.base.name, *(step.kind.name for step in self.steps)])
