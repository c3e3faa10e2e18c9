"""Pictures as inline SVG, each with its content in words; a few kilobytes at most, whatever they are made of.

Contract: a picture is as wide as its place and fixed in height, so nothing is written in it: labels are the page's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from incoop.page.facts import Fate

#: Cells of the strip: a screen that still tells two neighbours apart, on a phone, too.
COLUMNS, ROWS = 80, 16

#: Pixels of a cell's height; of the only row where there are few chunks.
_CELL, _BAR = 13, 30

#: Columns of a series: more points than that are drawn as the lowest and the highest of a column.
_POINTS = 400


def _svg(width: float, height: float, said: str, inside: str, pixels: int, kind: str) -> str:
    """`said` is what the picture shows, escaped."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{said}" style="height:{pixels}px">{inside}</svg>'
    )


def strip(fates: npt.NDArray[np.int8], said: str) -> str:
    """The chunks in input order, row by row; where a cell stands for several, the worst of them colours it."""
    each = cell_chunks(len(fates))
    cells = np.maximum.reduceat(fates, np.arange(0, len(fates), each)) if len(fates) else fates
    columns = min(COLUMNS, max(1, len(cells)))
    rows = -(-len(cells) // columns)
    paths: dict[int, list[str]] = {}
    for row in range(rows):
        at = 0
        for fate, run in groupby(cells[row * columns : (row + 1) * columns].tolist()):
            width = len(list(run))
            paths.setdefault(fate, []).append(f"M{at} {row}h{width}v1h-{width}z")
            at += width
    # Gaps are lines in the colour of the ground: a path for each cell would be ten times as long.
    lines = "".join(f"M{column} 0v{rows}" for column in range(1, columns))
    lines += "".join(f"M0 {row}h{columns}" for row in range(1, rows))
    drawn = "".join(f'<path class="{Fate(fate).name.lower()}" d="{"".join(d)}"/>' for fate, d in sorted(paths.items()))
    gaps = f'<path class="gap" d="{lines}"/>' if lines else ""
    return _svg(columns, max(rows, 1), said, drawn + gaps, rows * _CELL if rows > 1 else _BAR, "strip")


def cell_chunks(chunks: int) -> int:
    """How many chunks a cell of the strip stands for."""
    return max(1, -(-chunks // (COLUMNS * ROWS)))


def shares(parts: Sequence[tuple[str, float]], said: str) -> str:
    """One bar, divided; each part with the class that colours it."""
    whole = sum(amount for _, amount in parts) or 1.0
    at, drawn = 0.0, ""
    for kind, amount in parts:
        width = 1000 * amount / whole
        if width > 0:
            drawn += f'<path class="{kind}" d="M{at:.1f} 0h{width:.1f}v1h-{width:.1f}z"/>'
        at += width
    return _svg(1000, 1, said, drawn, 14, "shares")


def bars(values: Sequence[float], said: str, highest: float) -> str:
    """One bar a value, the last in the accent colour; what is higher than `highest` is cut off, and marked so."""
    width, height, top = max(len(values), 12), 40.0, highest or 1.0
    drawn, cut = ["", ""], ""
    for at, value in enumerate(values):
        tall = min(height, max(0.6 if value else 0.0, height * value / top))
        drawn[at == len(values) - 1] += f"M{at + 0.1:.1f} {height - tall:.1f}h.8v{tall:.1f}h-.8z"
        cut += f"M{at:.1f} 3.5h1v1.2h-1z" if value > top else ""
    paths = f'<path class="past" d="{drawn[0]}"/><path class="now" d="{drawn[1]}"/>'
    return _svg(width, height, said, paths + (f'<path class="gap-fill" d="{cut}"/>' if cut else ""), 56, "bars")


def line(points: Sequence[tuple[float, float]], low: float, high: float, said: str, beside: int = 1) -> str:
    """Values over time, with the ground below them; points are in their order. All that stand beside share the room."""
    width, height = 1000.0, 100.0
    start, end = points[0][0], points[-1][0]
    across, up = (end - start) or 1.0, (high - low) or 1.0
    columns = _POINTS // beside
    path = []
    for _, group in groupby(points, key=lambda point: int((point[0] - start) / across * columns)):
        some = list(group)
        lowest, highest = min(some, key=lambda p: p[1]), max(some, key=lambda p: p[1])
        for at, value in sorted({lowest, highest}):
            path.append(f"{(at - start) / across * width:.1f} {height - (value - low) / up * height:.1f}")
    joined = "L".join(path)
    ground = height - (min(max(0.0, low), high) - low) / up * height
    area = f'<path class="area" d="M0 {ground:.1f}L{joined}L{width:.0f} {ground:.1f}z"/>'
    return _svg(width, height, said, f'{area}<path class="line" d="M{joined}"/>', 120, "series")
