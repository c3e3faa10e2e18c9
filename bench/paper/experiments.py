"""Which experiments there are, on which applications, and the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.apps import PAPER_APPS
from bench.paper import chunking, edits, granularity, input_size, logs, speedup, tools
from bench.paper.results import Sample


@dataclass(frozen=True)
class Experiment:
    """One experiment; it makes an entry for each of its applications."""

    name: str
    #: What it is in the paper.
    shows: str
    apps: tuple[str, ...]
    measure: Callable[[Any, Any], tuple[list[Sample], list[str]]]
    #: How long it takes for one application, as a part of what `speedup` does: for the estimate of the time left.
    weight: float


EXPERIMENTS = {
    each.name: each
    for each in (
        Experiment("speedup", "figures 5, 6 and 10", PAPER_APPS, speedup.measure, 1.0),
        Experiment("input-size", "figure 7", ("cooccurrence",), input_size.measure, 0.7),
        Experiment("granularity", "figure 8", ("cooccurrence", "knn"), granularity.measure, 0.5),
        Experiment("logs", "figure 11", ("clicks",), logs.measure, 0.7),
        Experiment("edits", "other changes", ("words",), edits.measure, 0.4),
        Experiment("chunking", "table 2", ("files",), chunking.measure, 0.2),
        Experiment("tools", "other tools", ("words", "cooccurrence", "bigrams"), tools.measure, 0.3),
    )
}
