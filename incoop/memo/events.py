"""What the memo store noticed: one stream that tests, reports and logs read.

Contract: nothing here is an exception. A `warning` event means that something was not trusted or was lost, and that
the run goes on with a recomputation. Events are small frozen values; `as_dict` is what a run report shows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

from incoop.base.stage_path import StagePath

log = logging.getLogger("incoop.memo")

#: A damaged store can reject every entry of a run; the first ones tell the story, the counter tells the rest.
KEPT_EVENTS = 1000

#: Warnings that one run report shows.
TOLD_EVENTS = 20


@dataclass(frozen=True, slots=True)
class MemoEvent:
    """Something that happened in the store."""

    #: Whether a run report should show it as a warning.
    warning: ClassVar[bool] = True

    def as_dict(self) -> dict[str, Any]:
        return {"event": type(self).__name__, **asdict(self)}

    def __str__(self) -> str:
        return f"{type(self).__name__} {asdict(self)}"


@dataclass(frozen=True, slots=True)
class DidRejectEntry(MemoEvent):
    """An entry failed its keyed checksum or cannot be read: a miss."""

    task: str
    reason: str

    def __str__(self) -> str:
        return f"memo entry {self.task} rejected ({self.reason}); it will be recomputed"


@dataclass(frozen=True, slots=True)
class DidRejectPack(MemoEvent):
    """A pack is missing, truncated or does not match its checksum: a miss."""

    pack: str
    reason: str

    def __str__(self) -> str:
        return f"pack {self.pack} rejected ({self.reason}); its results will be recomputed"


@dataclass(frozen=True, slots=True)
class DidRejectGeneration(MemoEvent):
    """A generation's record failed its check: the one before it is used."""

    job: str
    number: int
    reason: str

    def __str__(self) -> str:
        job = str(StagePath.of_key(self.job))
        return f"generation {self.number} of {job!r} rejected ({self.reason}); an older one is used"


@dataclass(frozen=True, slots=True)
class DidLoseRedis(MemoEvent):
    """Redis does not answer any more: lookups are misses and writes are dropped until the next generation begins."""

    address: str
    cause: str

    def __str__(self) -> str:
        return f"lost Redis at {self.address} ({self.cause}); the run goes on without memo"


@dataclass(frozen=True, slots=True)
class DidDropWrite(MemoEvent):
    """Redis answers but refused a write (disk full, out of memory, read-only): the results are not memoized."""

    what: str
    cause: str

    def __str__(self) -> str:
        return f"Redis refused {self.what} ({self.cause}); these results are not memoized"


@dataclass(frozen=True, slots=True)
class DidRestartServer(MemoEvent):
    """The private server had died and was started again on its own data."""

    cause: str
    warning: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"restarted the private Redis ({self.cause})"


@dataclass(frozen=True, slots=True)
class DidSetAsideMemo(MemoEvent):
    """The server's data could not be loaded; it was moved aside and the memo starts empty."""

    folder: str
    reason: str

    def __str__(self) -> str:
        return f"the memo could not be loaded ({self.reason}); moved to {self.folder}, starting empty"


@dataclass(frozen=True, slots=True)
class DidFindEmptyMemo(MemoEvent):
    """The folder was used before, but this Redis holds nothing of it."""

    address: str

    def __str__(self) -> str:
        return f"Redis at {self.address} holds nothing of this store any more; everything is recomputed once"


@dataclass(frozen=True, slots=True)
class DidBeginAnew(MemoEvent):
    """The record of what the store is was damaged, or not written by it: the memo begins empty, under a new id."""

    path: str

    def __str__(self) -> str:
        return f"{self.path} is damaged or was not written by this store; the memo begins anew, all is computed once"


@dataclass(frozen=True, slots=True)
class DidMendRedis(MemoEvent):
    """Fields in Redis were not what this store writes; they were dropped or set right."""

    fields: tuple[str, ...]

    def __str__(self) -> str:
        return f"what Redis holds of this store was damaged and is mended: {', '.join(self.fields)}"


@dataclass(frozen=True, slots=True)
class DidGoWithoutCache(MemoEvent):
    """The node's cache folder cannot be used: packs are read and written where they are."""

    folder: str
    reason: str

    def __str__(self) -> str:
        return f"the cache {self.folder} cannot be used ({self.reason}); packs are read from the store itself"


Sink = Callable[[MemoEvent], None]
E_ = TypeVar("E_", bound=MemoEvent)


class EventLog:
    """Keeps the first events, counts all, and hands each to the caller's sink."""

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink
        self.events: list[MemoEvent] = []
        self.total = 0
        self._untold: list[MemoEvent] = []

    def emit(self, event: MemoEvent) -> None:
        self.total += 1
        if len(self.events) < KEPT_EVENTS:
            self.events.append(event)
            log.log(logging.WARNING if event.warning else logging.INFO, "%s", event)
        if event.warning and len(self._untold) < TOLD_EVENTS:
            self._untold.append(event)
        if self._sink is not None:
            self._sink(event)

    def of(self, kind: type[E_]) -> list[E_]:
        """The kept events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def warnings(self) -> list[dict[str, Any]]:
        """The kept warnings, as a run report shows them."""
        return [event.as_dict() for event in self.events if event.warning]

    def untold(self) -> list[MemoEvent]:
        """The first warnings since this was asked last."""
        found, self._untold = self._untold, []
        return found

    def clear(self) -> None:
        self.events.clear()
        self.total = 0
