"""Runs as their events tell of them, of any size and with anything in them: no engine, no store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incoop.engine.events import (
    DidBegin,
    DidCommit,
    DidDecide,
    DidExecute,
    DidFinish,
    DidLay,
    DidLook,
    DidMap,
    DidNumber,
    DidVerify,
    DidWarn,
    Event,
    Events,
    WillRun,
)
from incoop.engine.record import PastRun
from incoop.engine.report import RunReport
from incoop.result import Change

#: Bytes of a chunk.
CHUNK = 65_536


@dataclass
class ToldRun:
    """What a page reads of a Result."""

    told: list[Event]
    history: tuple[PastRun, ...] = ()
    pairs: list[tuple[Any, Any]] = field(default_factory=list)
    changed: list[Change] | Exception = field(default_factory=list)
    job: str = "word count"

    def __post_init__(self) -> None:
        self.report = RunReport(self.job)
        self.events = Events(listeners=[self.report.hear])
        for event in self.told:
            self.events.tell(event)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.pairs)

    def changes(self) -> Iterator[Change]:
        if isinstance(self.changed, Exception):
            raise self.changed
        return iter(self.changed)


def ids_of(count: int) -> np.ndarray:
    return np.frombuffer(b"".join(number.to_bytes(16, "little") for number in range(1, count + 1)), "V16")


def id_of(index: int) -> bytes:
    return (index + 1).to_bytes(16, "little")


def events_of(
    count: int,
    fresh: dict[int, int],
    *,
    lost: tuple[int, ...] = (),
    why: str = "",
    code: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
    folder: str = "/data/logs",
    levels: tuple[tuple[int, int], ...] = ((625, 620), (40, 37), (3, 1), (1, 0)),
    counters: dict[str, int] | None = None,
    verified: bool = False,
) -> list[Event]:
    """A run on `count` chunks; `fresh` are those mapped, with the bytes mapped of each, -1 for all."""
    known = np.ones(count, np.bool_)
    known[list(fresh)] = False
    mapped = sum(CHUNK if each < 0 else each for each in fresh.values())
    places = tuple(f"{folder}/access.{at // 400}.log, bytes {at % 400 * CHUNK:,} to ..." for at in fresh)
    map_ids = tuple(map(id_of, fresh))
    sizes = np.full(count, CHUNK, np.int64)
    seconds = 0.0004 * len(fresh)
    return [
        DidBegin("word count"),
        *(DidWarn(sentence) for sentence in warnings),
        DidLook(count * CHUNK, 0.021),
        DidNumber(57),
        DidDecide(
            *(ids_of(count), sizes, known, frozenset(map(id_of, lost)), 2),
            *(why or f"{len(fresh) - len(lost):,} chunks are new", code),
        ),
        WillRun({"map": count, "combine": 16 * 669, "reduce": 16}),
        DidMap(map_ids, (CHUNK,) * len(fresh), tuple(fresh.values()), places[:1000]),
        DidExecute("map", map_ids, {"map": len(fresh)}, {"map": seconds}, bytes=mapped),
        DidLay(levels),
        DidExecute("contract", (), {"combine": 44, "reduce": 9}, {"contract": 0.034, "reduce": 0.012}, keys=212),
        *([DidVerify(12, 2)] if verified else []),
        DidFinish(3_004, counters or {}),
        DidCommit(57, True, 0.09 + seconds),
    ]


def some_history(runs: int = 50) -> tuple[PastRun, ...]:
    first = PastRun(1, 1_795_000_000.0, 12.708, 640_000_000, 640_000_000, 201_000_000)
    later = (
        PastRun(
            number,
            1_795_000_000.0 + 1800 * number,
            0.15 + 0.1 * ((number * 7919) % 13) / 13,
            640_000_000 + 90_000 * number,
            40_000 + 9_000 * ((number * 104729) % 17),
            201_000_000 + 300_000 * (number % 20) if number % 3 else None,
        )
        for number in range(2, runs + 1)
    )
    return (first, *later)
