"""What the evaluation must show, and whether it does. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.paper import summary
from bench.paper.results import Entry, Results
from bench.paper.summary import Figure


@dataclass(frozen=True)
class Requirement:
    """One row of the table: a measure that every entry of an experiment must reach."""

    title: str
    paper: str
    required: float
    aim: float
    experiment: str
    measured: Callable[[Entry], Figure | None]
    #: How to print a value.
    shown: Callable[[float], str]
    #: For the profile of a miss.
    case: str = "update"
    change: float | None = None
    #: Whether less is better.
    at_most: bool = False
    #: Whether it is about time, so that a profile says why it was missed.
    timed: bool = True


@dataclass(frozen=True)
class Verdict:
    """What became of a requirement: the worst application decides."""

    requirement: Requirement
    #: By application.
    values: dict[str, Figure]

    @property
    def worst(self) -> str | None:
        if not self.values:
            return None
        choose = max if self.requirement.at_most else min
        return choose(self.values, key=lambda app: self.values[app].median)

    @property
    def text(self) -> str:
        if self.worst is None:
            return "not measured"
        value = self.values[self.worst].median
        if self._reaches(value, self.requirement.aim):
            return "aim reached"
        return "reached" if self._reaches(value, self.requirement.required) else "**missed**"

    def missed(self) -> list[str]:
        """The applications that miss what is required."""
        return [app for app, value in self.values.items() if not self._reaches(value.median, self.requirement.required)]

    def _reaches(self, value: float, bound: float) -> bool:
        return value <= bound if self.requirement.at_most else value >= bound


def times(value: float) -> str:
    """
    Example:
        >>> times(1234.5), times(25.4), times(3.456)
        ('1,234', '25', '3.5')
    """
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def percent(value: float) -> str:
    return f"{value:+.0%}"


def _speedup(change: float) -> Callable[[Entry], Figure | None]:
    return lambda entry: summary.ratio(entry, "plain", "update", change=change)


def _append(change: float) -> Callable[[Entry], Figure | None]:
    return lambda entry: summary.ratio(entry, "plain", "update", change=change, over_change=change)


def _overhead(entry: Entry) -> Figure | None:
    found = summary.ratio(entry, "first", "plain")
    return Figure(found.median - 1, found.low - 1, found.high - 1) if found else None


def _space(entry: Entry) -> Figure | None:
    found = summary.space(entry)
    return Figure(found, found, found) if found is not None else None


REQUIREMENTS = (
    Requirement(
        "time speed-up, 1 % of chunks changed, every app", "10 to 100", 25, 80, "speedup", _speedup(1), times, change=1
    ),
    Requirement("5 %", "5 to 20", 10, 16, "speedup", _speedup(5), times, change=5),
    Requirement("25 %", "3", 2.5, 3.5, "speedup", _speedup(25), times, change=25),
    Requirement("nothing changed", "up to 1000", 200, 1000, "speedup", _speedup(0), times, change=0),
    Requirement(
        "first-run overhead, every app", "+5 to +22 %", 0, -0.3, "speedup", _overhead, percent, "first", at_most=True
    ),
    Requirement("log append, 5 %", "4", 10, 16, "logs", _append(5), times, change=5),
    Requirement("log append, 25 %", "2.5", 3, 3.8, "logs", _append(25), times, change=25),
    Requirement("space, worst app, times the input", "9", 3, 1.5, "speedup", _space, times, at_most=True, timed=False),
)


def verdicts(results: Results) -> list[Verdict]:
    """Every requirement with what was reached."""
    found = []
    for requirement in REQUIREMENTS:
        values = {entry.app: requirement.measured(entry) for entry in results.of(requirement.experiment)}
        found.append(Verdict(requirement, {app: value for app, value in values.items() if value is not None}))
    return found
