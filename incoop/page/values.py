"""What the run gave: the keys that changed, and the pairs, as a series where they are one, else as a table.

Contract: reads what it shows, and some thousand pairs at most.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from incoop.engine.failures import ChangesLost
from incoop.page.charts import line
from incoop.page.facts import Reported
from incoop.page.series import Series, series_of
from incoop.page.texts import LONGEST, number, shown, table, text, within
from incoop.result import Change

#: Changed keys and pairs that are listed, and the bytes of each list.
_ROWS, _BYTES = 300, 50_000

#: Digits of a figure: more would not fit beside a key on a phone.
_FIGURE = 20

_CHANGED = (("key", False), ("was", False), ("is", False))

#: Pairs that are read to order them, or to draw them: some ten milliseconds.
_READ = 5_000


def changes(result: Reported) -> str:
    """Keys whose values are not what they were."""
    try:
        changed = result.changes()
        if len(result.history) < 2:  # then all of the output would have to be read to list it
            return "<p>Every key is new: no earlier run of the job is known.</p>"
        some = list(islice(changed, _ROWS + 1))
    except ChangesLost as lost:
        return f"<p>{text(str(lost), 2 * LONGEST)}</p>"
    if not some:
        return "<p>No key has another value than after the last run.</p>"
    rows, _ = within(map(_change, some[:_ROWS]), _BYTES)
    count = f"{len(some):,} keys" if len(some) > 1 else "One key"
    said = f"The first {len(rows):,}; more changed." if len(rows) < len(some) else f"{count} changed."
    return f"<p>{said}</p>{table(_CHANGED, rows, 'data')}"


def pairs(result: Reported) -> str:
    """The pairs themselves."""
    some = list(islice(result, _READ + 1))
    if not some:
        return "<p>The result is empty.</p>"
    complete = len(some) <= _READ
    total = len(some) if complete else result.report.keys_total
    counted = f"{total:,} pair{'' if total == 1 else 's'}" if total else f"More than {_READ:,} pairs"
    lines = series_of(some) if complete else []
    drawn = "".join(_drawn(series, len(lines)) for series in lines)
    ordered, how = _ordered(some, bool(lines)) if complete else (some, "the first as part files have them")
    rows, _ = within(map(_pair, ordered[:_ROWS]), _BYTES)
    if len(rows) < total or not complete:
        how = f"{how}; {len(rows):,} are shown"
    figures = all(_is_number(value) for _, value in ordered[: len(rows)])
    listed = table((("key", False), ("value", figures)), rows, "data")
    if drawn:
        return f"<p>{counted}.</p>{drawn}<details><summary>As a table, {how}</summary>{listed}</details>"
    return f"<p>{counted}, {how}.</p>{listed}"


def _ordered(some: list[tuple[Any, Any]], is_series: bool) -> tuple[list[tuple[Any, Any]], str]:
    """Numbers by size, times and all else by key, where these compare."""
    if not is_series and len(some) > 1 and all(_is_number(value) for _, value in some):
        return sorted(some, key=lambda pair: -float(pair[1])), "the largest first"
    try:
        return sorted(some, key=lambda pair: pair[0], reverse=is_series), "newest first" if is_series else "by key"
    except Exception:  # keys that do not compare
        return some, "as part files have them"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _cell(value: Any) -> str:
    said = shown(value)
    # Figures stand in one line, to the right; one of a hundred digits is as good as a text.
    return f'<td class="n">{said}</td>' if _is_number(value) and len(said) <= _FIGURE else f"<td>{said}</td>"


def _pair(pair: tuple[Any, Any]) -> str:
    return f"<tr><td>{shown(pair[0])}</td>{_cell(pair[1])}</tr>"


def _change(change: Change) -> str:
    old = "<td><i>new key</i></td>" if change.old is None else f"<td><del>{shown(change.old)}</del></td>"
    new = "<td><i>gone</i></td>" if change.new is None else f"<td><ins>{shown(change.new)}</ins></td>"
    return f"<tr><td>{shown(change.key)}</td>{old}{new}</tr>"


def _drawn(series: Series, beside: int) -> str:
    """One of so many lines that stand beside each other."""
    values = [value for _, value in series.points]
    low, high = min(values), max(values)
    low, high = min(low, 0.0), max(high, 0.0)  # heights are compared from zero
    name = f"{shown(series.name)}: " if series.name is not None else ""
    ends = f"{shown(series.first)} to {shown(series.last)}"
    said = f"{name}{len(values):,} points, {ends}, lowest {number(min(values))}, highest {number(max(values))}"
    return (
        f"<figure><figcaption><b>{name}</b>lowest <b>{number(min(values))}</b>, highest <b>{number(max(values))}</b>, "
        f"last <b>{number(values[-1])}</b></figcaption>{line(series.points, low, high, said, beside)}"
        f'<div class="ends"><span>{shown(series.first)}</span><span>{shown(series.last)}</span></div></figure>'
    )
