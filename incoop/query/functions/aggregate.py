"""What an aggregate is: a state that rows are added to, that merges, and gives a value.

Contract: `merge` is associative and commutative, exactly: rows added and states merged in any order and shape give
equal states, and equal states are equal as Python values. `initial` changes nothing when it is merged. States are
made of None, int, float, str, bytes, bool, values of a query, and tuples of these, so that they can travel. An
aggregate is a frozen dataclass: its name and fields say all that its states depend on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from incoop.query.types import Type, Value

State = Any


@dataclass(frozen=True, slots=True)
class Aggregate(ABC):
    """One value of many rows."""

    @property
    @abstractmethod
    def type(self) -> Type:
        """What `finish` gives."""

    @abstractmethod
    def initial(self) -> State:
        """The state of no rows."""

    @abstractmethod
    def add(self, state: State, values: tuple[Value, ...]) -> State:
        """The state with one more row, of which these are the arguments' values."""

    @abstractmethod
    def merge(self, one: State, other: State) -> State:
        """The state of the rows of both."""

    def merge_all(self, states: Sequence[State]) -> State:
        """The state of the rows of all, of which there are some."""
        return reduce(self.merge, states)

    @abstractmethod
    def finish(self, state: State) -> Value:
        """The value."""

    @property
    def invertible(self) -> bool:
        """Whether `negate` gives the state that takes rows back out when merged."""
        return False

    def negate(self, state: State) -> State:
        raise NotImplementedError(f"{type(self).__name__} cannot take rows back out")
