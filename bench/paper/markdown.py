"""Tables and figures as the page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.paper.requirements import times
from bench.paper.summary import Figure

Lines = list[str]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    return [_row(head), "|" + "---|" * len(head), *(_row(cells) for cells in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def seconds_text(figure: Figure | None) -> str:
    """
    Example:
        >>> seconds_text(Figure(12.345, 11.0, 13.0)), seconds_text(Figure(0.0061, 0.006, 0.0072)), seconds_text(None)
        ('12.3 (11-13)', '0.0061 (0.006-0.0072)', '')
    """
    return f"{figure.median:.3g} ({figure.low:.3g}-{figure.high:.3g})" if figure else ""


def times_text(figure: Figure | None) -> str:
    return f"{times(figure.median)} ({times(figure.low)}-{times(figure.high)})" if figure else ""


def picture(pictures: dict[str, str], name: str) -> Lines:
    return ["", pictures[name]] if name in pictures else []
