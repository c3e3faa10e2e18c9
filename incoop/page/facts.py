"""What a page needs of a run, and what became of each chunk and node, from its events.

Contract: of several attempts the last counts, as in the report; what it goes on with counts as done in it. A kind of
stage that tells less has fewer facts: no chunks, no levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from incoop.engine.events import DidBegin, DidDecide, DidLay, DidMap, DidVerify, Event, Events
from incoop.engine.record import PastRun
from incoop.engine.report import RunReport
from incoop.result import Change


class Reported(Protocol):
    """What a page is made of: a Result, whatever ran."""

    @property
    def report(self) -> RunReport: ...

    @property
    def events(self) -> Events: ...

    @property
    def history(self) -> tuple[PastRun, ...]: ...

    def __iter__(self) -> Iterator[tuple[Any, Any]]: ...

    def changes(self) -> Iterator[Change]: ...


class Fate(IntEnum):
    """What became of a chunk, by what it costs; the worst of several stands for them."""

    REUSED = 0
    PATCHED = 1
    MAPPED = 2
    LOST = 3


@dataclass(frozen=True, slots=True)
class MappedChunk:
    """A chunk that was not reused."""

    #: Where it stands among the chunks, and where a user finds it; empty where that was not told.
    index: int
    place: str
    size: int
    #: Bytes of it that went to the mapper.
    mapped: int
    fate: Fate


@dataclass(slots=True)
class RunFacts:
    """One run."""

    #: Of each chunk in input order, and their bytes.
    fates: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    mapped: list[MappedChunk] = field(default_factory=list)
    #: Nodes, and reused ones, of each level above the chunks, bottom up.
    levels: tuple[tuple[int, int], ...] = ()
    gone: int = 0
    why: str = ""
    changed_code: tuple[str, ...] = ()
    verified: DidVerify | None = None
    #: Where runs that are missing stand among the chunks, and those of them that were lost.
    _places: dict[bytes, list[int]] = field(default_factory=dict)
    _lost: frozenset[bytes] = frozenset()

    @classmethod
    def of(cls, events: Iterable[Event]) -> RunFacts:
        facts = cls()
        for event in events:
            match event:
                case DidBegin():
                    # What stood before is for the decision of this attempt to take over.
                    facts = cls(facts.fates, facts.sizes, facts.mapped, why=facts.why) if event.goes_on else cls()
                case DidDecide():
                    facts._decide(event)
                case DidMap():
                    facts._map(event)
                case DidLay():
                    facts.levels = event.levels
                case DidVerify():
                    facts.verified = event
        # A chunk that was mapped in two attempts counts as it was mapped last.
        last = {chunk.index: chunk for chunk in facts.mapped}
        facts.mapped = [last[index] for index in sorted(last)]
        return facts

    def count(self, fate: Fate) -> int:
        return int((self.fates == fate).sum())

    def bytes_of(self, fate: Fate) -> int:
        return int(self.sizes[self.fates == fate].sum(dtype=np.int64))

    def _decide(self, event: DidDecide) -> None:
        if len(self.fates) != len(event.ids):  # else it goes on, with the same chunks by other ids
            self.fates, self.mapped = np.zeros(len(event.ids), np.int8), []
        self.sizes = event.sizes.astype(np.int64)
        self.why = self.why or event.why  # of an attempt that goes on, why the first one ran
        self.gone, self.changed_code, self._lost = event.gone, event.changed_code, event.lost
        self._places = {}
        for index in np.flatnonzero(~event.known).tolist():
            self._places.setdefault(bytes(event.ids[index]), []).append(index)

    def _map(self, event: DidMap) -> None:
        """Chunks of equal content are mapped once."""
        places = (*event.places, *[""] * (len(event.ids) - len(event.places)))
        for id_, size, mapped, place in zip(event.ids, event.sizes, event.mapped, places, strict=True):
            fate = Fate.LOST if id_ in self._lost else Fate.MAPPED if mapped < 0 else Fate.PATCHED
            for index in self._places.get(id_, ()):
                self.fates[index] = fate
                self.mapped.append(MappedChunk(index, place, size, size if mapped < 0 else mapped, fate))
