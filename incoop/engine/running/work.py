"""The tasks of one step of a stage: a value that any runner can carry out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from incoop.code import Functions, Shipment
from incoop.memo import WorkerConfig


class Spec(Protocol):
    """What all calls of a step share: a frozen dataclass that can be sent."""

    #: Packed, on the way to a worker; open, where the tasks run.
    @property
    def code(self) -> Functions | Shipment: ...

    @property
    def worker(self) -> WorkerConfig: ...


@dataclass(frozen=True, slots=True)
class Nearby:
    """How the driver's own process would do it: for functions whose work is done by other programs."""

    items: Sequence[Any]
    #: Bytes of input that it would hold.
    bytes: int
    #: Whether it is so little that asking a running Spark would cost more.
    little: bool


@dataclass(frozen=True, slots=True)
class Work:
    """Calls of one function, of which each answer is small.

    The function returns what goes wrong in the user's code, and raises nothing: a user's failure is an answer, a lost
    worker is not.
    """

    #: The step's name.
    step: str
    #: The ids of the tasks that it runs.
    ids: tuple[bytes, ...]
    #: For people: "map 3 of 12 chunks".
    what: str
    #: Called with the spec and an item.
    function: Callable[[Any, Any], Any]
    spec: Spec
    #: What each call gets, given how many run at once and whether that is on a cluster.
    share: Callable[[int, bool], Sequence[Any]]
    #: Bytes of fresh input that the calls read: what they cost, more or less.
    bytes: int = 0
    #: None for what must not run in the driver's process.
    nearby: Nearby | None = None
    #: Whether items are shards, which on a cluster go where they went the last time.
    keeps_places: bool = False
