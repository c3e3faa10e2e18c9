"""What a run did: counts of tasks and keys, seconds by stage, warnings. Reads the run's events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from incoop.engine.events import (
    DidBegin,
    DidCommit,
    DidExecute,
    DidFinish,
    DidLook,
    DidMove,
    DidNumber,
    DidStartSpark,
    DidWarn,
    Event,
    WillRun,
)
from incoop.engine.running.counters import told_apart


@dataclass(slots=True)
class StageCount:
    """Tasks that a stage has, and those that ran this time."""

    tasks: int = 0
    executed: int = 0


@dataclass(slots=True)
class RunReport:
    """Prints as a short table; `as_dict` gives the same as plain values."""

    job: str
    generation: int = 0
    input_bytes: int = 0
    #: Bytes of the chunks that were mapped.
    fresh_bytes: int = 0
    map: StageCount = field(default_factory=StageCount)
    combine: StageCount = field(default_factory=StageCount)
    reduce: StageCount = field(default_factory=StageCount)
    keys_total: int = 0
    #: Reducer calls.
    keys_reduced: int = 0
    #: By stage; "spark" is what starting Spark took, when this run had to.
    seconds: dict[str, float] = field(
        default_factory=lambda: {"chunk": 0.0, "spark": 0.0, "map": 0.0, "contract": 0.0, "reduce": 0.0, "total": 0.0}
    )
    #: Bytes of packs that tasks on a cluster read from the caches beside them, and from the shared store. By stage.
    local_bytes: dict[str, int] = field(default_factory=lambda: {"map": 0, "contract": 0})
    moved_bytes: dict[str, int] = field(default_factory=lambda: {"map": 0, "contract": 0})
    warnings: list[str] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    #: Of what a counter counted, a few texts with how often each of them occurred.
    samples: dict[str, dict[str, int]] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case DidBegin():
                self._begin(event.goes_on)
            case DidLook():
                self.input_bytes, self.seconds["chunk"] = event.bytes, event.seconds
            case DidNumber():
                self.generation = event.generation
            case WillRun():
                for kind, tasks in event.tasks.items():
                    self._count(kind).tasks = tasks
            case DidExecute():
                for kind, executed in event.executed.items():
                    self._count(kind).executed += executed
                for what, seconds in event.seconds.items():
                    self.seconds[what] += seconds
                self.fresh_bytes += event.bytes
                self.keys_reduced += event.keys
            case DidMove():
                self.local_bytes[event.step] += event.local
                self.moved_bytes[event.step] += event.moved
            case DidStartSpark():
                self.seconds["spark"] += event.seconds
            case DidWarn():
                if event.sentence not in self.warnings:
                    self.warnings.append(event.sentence)
            case DidFinish():
                self.keys_total = event.keys
                self.counters, self.samples = told_apart(event.counters)
            case DidCommit():
                self.seconds["total"] = event.seconds

    def _begin(self, goes_on: bool) -> None:
        """Another attempt counts anew what it runs, unless it goes on with what was mapped; warnings stay."""
        anew = RunReport(self.job)
        if goes_on:
            anew.map.executed, anew.fresh_bytes = self.map.executed, self.fresh_bytes
            anew.seconds["map"] = self.seconds["map"]
        for name in (each for each in self.__slots__ if each not in ("job", "warnings")):
            setattr(self, name, getattr(anew, name))

    def _count(self, kind: str) -> StageCount:
        count: StageCount = {"map": self.map, "combine": self.combine, "reduce": self.reduce}[kind]
        return count

    def as_dict(self) -> dict[str, Any]:
        return {
            "job": self.job,
            "generation": self.generation,
            "input_bytes": self.input_bytes,
            "fresh_bytes": self.fresh_bytes,
            "map": {"tasks": self.map.tasks, "executed": self.map.executed},
            "combine": {"tasks": self.combine.tasks, "executed": self.combine.executed},
            "reduce": {"tasks": self.reduce.tasks, "executed": self.reduce.executed},
            "keys": {"total": self.keys_total, "reduced": self.keys_reduced},
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            "bytes": {
                "local": sum(self.local_bytes.values()),
                "moved": sum(self.moved_bytes.values()),
                "stages": {
                    stage: {"local": self.local_bytes[stage], "moved": moved}
                    for stage, moved in self.moved_bytes.items()
                },
            },
            "warnings": list(self.warnings),
            "counters": dict(sorted(self.counters.items())),
            "samples": {name: dict(texts) for name, texts in sorted(self.samples.items())},
        }

    def __str__(self) -> str:
        rows = [
            (f"{self.job}, run {self.generation}", "ran", "of", "seconds"),
            ("input bytes", f"{self.fresh_bytes:,}", f"{self.input_bytes:,}", f"{self.seconds['chunk']:.2f}"),
            ("map chunks", f"{self.map.executed:,}", f"{self.map.tasks:,}", f"{self.seconds['map']:.2f}"),
            (
                "combine blocks",
                f"{self.combine.executed:,}",
                f"{self.combine.tasks:,}",
                f"{self.seconds['contract']:.2f}",
            ),
            ("reduce shards", f"{self.reduce.executed:,}", f"{self.reduce.tasks:,}", f"{self.seconds['reduce']:.2f}"),
            ("reduced keys", f"{self.keys_reduced:,}", f"{self.keys_total:,}", f"{self.seconds['total']:.2f}"),
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
            )
            for row in rows
        ]
        local, moved = sum(self.local_bytes.values()), sum(self.moved_bytes.values())
        if local or moved:
            lines.append(f"bytes of packs read: {local:,} from local caches, {moved:,} moved")
        for name, count in sorted(self.counters.items()):
            lines.append(f"counter {name}: {count:,}")
            lines += [f"  {times:,} x {text!r}" for text, times in self.samples.get(name, {}).items()]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])
