"""What happens in a run, as it happens: one stream that the report, progress and tests read.

Contract: an event is a frozen value, and is told after what it names is true (`Did…`) or before it is begun (`Will…`).
Ids are those of tasks: equal ids have interchangeable results. Imports nothing of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class DidBegin:
    """An attempt begins: the first, or another one after something was found out on the way."""

    job: str
    #: Whether what was mapped in the attempt before counts as done in this one.
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class DidLook:
    """The input was looked at."""

    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class DidNumber:
    """The run has a generation."""

    generation: int


@dataclass(frozen=True, slots=True)
class WillRun:
    """How many tasks there are, by kind, whether they run or are reused."""

    tasks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DidDecide:
    """What is reused of the input's chunks and what is not, before anything runs; and why."""

    #: Of each chunk in input order: the id of its run, its bytes, whether that run is known.
    ids: npt.NDArray[Any]
    sizes: npt.NDArray[Any]
    known: npt.NDArray[Any]
    #: Runs that are not known although the last run of the job had them: what was stored of them is lost.
    lost: frozenset[bytes]
    #: Chunks of the last run that are in the input no more.
    gone: int
    #: In words, and the parts of the code that are not what they were.
    why: str
    changed_code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DidLay:
    """The tree stands over its chunks; of each level above them, bottom up: nodes, and those of them that are known."""

    levels: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class DidReuse:
    """Results that were there already."""

    step: str
    #: An array: of a large input these are nearly all.
    ids: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class WillExecute:
    """Tasks go to a runner."""

    step: str
    ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class WillRunIn:
    """Who carries a step's tasks out: "threads", "processes" or "spark". No result depends on it."""

    step: str
    where: str


@dataclass(frozen=True, slots=True)
class DidExecute:
    """Tasks are done."""

    step: str
    ids: tuple[bytes, ...]
    #: What was done, by kind of task.
    executed: Mapping[str, int]
    #: Seconds by what they were spent on.
    seconds: Mapping[str, float]
    #: Bytes of input that they read.
    bytes: int = 0
    #: Keys that were reduced.
    keys: int = 0


@dataclass(frozen=True, slots=True)
class DidMap:
    """Chunks were mapped: by the ids of their runs, their bytes, and how many of those went to the mapper."""

    ids: tuple[bytes, ...]
    sizes: tuple[int, ...]
    #: -1 for all; else the rest was taken from the chunk that stood there before.
    mapped: tuple[int, ...]
    #: Where a user finds them; of the first ones alone, where they are many.
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DidVerify:
    """A share of what is kept was computed again, from scratch, and came out the same."""

    chunks: int
    shards: int


@dataclass(frozen=True, slots=True)
class DidStore:
    """Entries are in the memo, each behind its pack."""

    ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class DidMove:
    """Tasks of a step on a cluster read packs: beside them, and from elsewhere."""

    step: str
    local: int
    moved: int


@dataclass(frozen=True, slots=True)
class DidStartSpark:
    seconds: float


@dataclass(frozen=True, slots=True)
class DidWarn:
    """Something that a user should know; said once."""

    sentence: str


@dataclass(frozen=True, slots=True)
class DidFinish:
    """The output is there."""

    keys: int
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DidCommit:
    """The generation is the job's newest, unless it could not be recorded."""

    generation: int
    recorded: bool
    seconds: float


Event = (
    DidBegin
    | DidLook
    | DidNumber
    | WillRun
    | DidDecide
    | DidLay
    | DidReuse
    | WillExecute
    | WillRunIn
    | DidExecute
    | DidMap
    | DidVerify
    | DidStore
    | DidMove
    | DidStartSpark
    | DidWarn
    | DidFinish
    | DidCommit
)

Kind = TypeVar("Kind")


@dataclass(slots=True)
class Events:
    """The stream of one run: who listens hears what is told; all of it is kept.

    Example:
        >>> import numpy as np
        >>> events = Events()
        >>> events.tell(DidReuse("map", np.array([b"a", b"b"])))
        >>> events.tell(DidExecute("map", (b"c",), {"map": 1}, {}))
        >>> events.executed("map"), events.reused("map")
        ((b'c',), (b'a', b'b'))
    """

    told: list[Event] = field(default_factory=list)
    listeners: list[Callable[[Event], None]] = field(default_factory=list)

    def tell(self, event: Event) -> None:
        self.told.append(event)
        for listener in self.listeners:
            listener(event)

    def of(self, kind: type[Kind]) -> Iterator[Kind]:
        """The events of a kind, in order."""
        return (event for event in self.told if isinstance(event, kind))

    def executed(self, step: str) -> tuple[bytes, ...]:
        """Ids of the tasks of a step that ran."""
        return tuple(id_ for event in self.of(DidExecute) if event.step == step for id_ in event.ids)

    def reused(self, step: str) -> tuple[bytes, ...]:
        """Ids of the tasks of a step that did not have to run."""
        return tuple(id_ for event in self.of(DidReuse) if event.step == step for id_ in event.ids.tolist())
