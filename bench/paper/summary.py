"""From samples to figures: medians, spreads, ratios. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.paper.results import Entry, Sample


@dataclass(frozen=True, slots=True)
class Figure:
    """A median with its spread over the rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Figure:
        found = list(values)
        return cls(statistics.median(found), min(found), max(found))


def select(entry: Entry, case: str, change: float | None = None) -> list[Sample]:
    """The samples of a case; `change` of None takes those of any."""
    return [sample for sample in entry.samples if sample.case == case and (change is None or sample.change == change)]


def seconds(entry: Entry, case: str, change: float | None = None) -> Figure | None:
    found = select(entry, case, change)
    return Figure.of(sample.seconds for sample in found) if found else None


def ratio(
    entry: Entry,
    over: str,
    under: str,
    *,
    change: float | None = None,
    over_change: float | None = None,
    measure: str = "seconds",
) -> Figure | None:
    """How many times as much `over` takes as `under`: of medians; its spread is that of the rounds' own ratios.

    `change` selects the samples of `under`, `over_change` those of `over`.
    """
    above, below = select(entry, over, over_change), select(entry, under, change)
    if not above or not below or any(getattr(sample, measure) is None for sample in [*above, *below]):
        return None
    by_round = [
        _median(above, measure, number) / _median(below, measure, number)
        for number in sorted({sample.round for sample in above} & {sample.round for sample in below})
    ]
    middle = _median(above, measure) / _median(below, measure)
    return Figure(middle, min([middle, *by_round]), max([middle, *by_round]))


def _median(samples: list[Sample], measure: str, round_: int | None = None) -> float:
    values = [getattr(sample, measure) for sample in samples if round_ is None or sample.round == round_]
    # A clock that did not move makes no infinite ratio.
    return max(float(statistics.median(values)), 1e-4)


def space(entry: Entry, case: str = "first") -> float | None:
    """Bytes stored for each byte of input."""
    samples = select(entry, case)
    found = [each.stored_bytes / each.input_bytes for each in samples if each.stored_bytes and each.input_bytes]
    return statistics.median(found) if found else None


def changes_of(entry: Entry, case: str = "update") -> list[float]:
    return sorted({sample.change for sample in entry.samples if sample.case == case and sample.change is not None})


def profile(entry: Entry, case: str, change: float | None = None) -> dict[str, Any]:
    """Where the time went: median seconds by phase, the rest, and what ran."""
    found = [sample for sample in select(entry, case, change) if sample.report]
    if not found:
        return {}
    phases = {
        phase: statistics.median(sample.report["seconds"][phase] for sample in found)
        for phase in ("chunk", "map", "contract", "reduce")
    }
    total = statistics.median(sample.seconds for sample in found)
    last = found[-1].report
    return {
        **phases,
        "rest": max(0.0, total - sum(phases.values())),
        "total": total,
        "mapped": f"{last['map']['executed']}/{last['map']['tasks']}",
        "reduced": f"{last['keys']['reduced']:,}/{last['keys']['total']:,}",
    }
