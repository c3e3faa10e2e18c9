"""The parts of the page, each from what is known of the run to a piece of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from incoop.engine.record import PastRun
from incoop.engine.report import RunReport
from incoop.page.charts import bars, cell_chunks, shares, strip
from incoop.page.facts import Fate, RunFacts
from incoop.page.texts import LONGEST, percent, seconds, size, table, text, times, within

#: Bytes of these lists.
_WARNING_BYTES, _COUNTER_BYTES = 25_000, 10_000

#: What seconds of a report are spent on, for people.
_PHASES = (
    ("chunk", "looking at code and input"),
    ("spark", "starting Spark"),
    ("map", "mapping"),
    ("contract", "contracting"),
    ("reduce", "reducing"),
)

_FATES = {
    Fate.REUSED: "reused",
    Fate.PATCHED: "patched (some leaves mapped)",
    Fate.MAPPED: "mapped whole",
    Fate.LOST: "lost and mapped again",
}


def lede(report: RunReport, history: Sequence[PastRun]) -> str:
    """What was reused, in one sentence."""
    took, reused = seconds(report.seconds["total"]), report.input_bytes - report.fresh_bytes
    if len(history) < 2 and report.fresh_bytes:
        return f"First known run: {size(report.fresh_bytes)} were mapped in {took}."
    first = f"; the first run took {seconds(history[0].seconds)}" if len(history) > 1 else ""
    if not report.fresh_bytes:
        return f"Nothing had to be mapped: all {size(report.input_bytes)} were reused, in {took}{first}."
    if reused <= 0:
        return f"Nothing of the input could be reused: {size(report.fresh_bytes)} were mapped in {took}{first}."
    share = percent(reused, report.input_bytes)
    return (
        f"{share} of {size(report.input_bytes)} was reused: {size(report.fresh_bytes)} were mapped, in {took}{first}."
    )


def tiles(report: RunReport, facts: RunFacts, history: Sequence[PastRun]) -> str:
    """What happened, was it cheap, is it right."""
    reused = report.input_bytes - report.fresh_bytes
    happened = _tile(
        "Input reused",
        percent(max(reused, 0), report.input_bytes),
        f"{max(0, report.map.tasks - report.map.executed):,} of {report.map.tasks:,} chunks as they were"
        + (f"; {report.keys_reduced:,} of {report.keys_total:,} keys reduced" if report.keys_total else ""),
    )
    return f'<div class="tiles">{happened}{_cheap(report, history)}{_right(report, facts)}</div>'


def _cheap(report: RunReport, history: Sequence[PastRun]) -> str:
    total = report.seconds["total"]
    if len(history) < 2:
        return _tile("Time", seconds(total), "with nothing to reuse, and nothing to compare with")
    first = history[0]
    if total <= first.seconds:
        said = f"{times(first.seconds, total)} times as fast as the first run"
    else:
        said = f"{times(total, first.seconds)} times as long as the first run"
    return _tile("Time", seconds(total), f"{said} ({seconds(first.seconds)}, {size(first.input_bytes)})")


def _right(report: RunReport, facts: RunFacts) -> str:
    count = len(report.warnings)
    verified = "nothing was computed again to compare (<code>--verify 5%</code> does)"
    if facts.verified is not None:
        chunks, shards = facts.verified.chunks, facts.verified.shards
        verified = f"{chunks:,} chunks and {shards:,} shards computed again from scratch: equal"
    if count:
        link = '<a href="#warnings">read them</a>' if count > 1 else '<a href="#warnings">read it</a>'
        return _tile(
            "Warnings and checks", f"{count} warning{'' if count == 1 else 's'}", f"{link}; {verified}", bad=True
        )
    return _tile("Warnings and checks", "verified" if facts.verified is not None else "no warnings", verified)


def _tile(title: str, figure: str, said: str, bad: bool = False) -> str:
    return f'<div class="tile{" bad" if bad else ""}"><h2>{title}</h2><b>{figure}</b><p>{said}</p></div>'


def chunks(facts: RunFacts) -> str:
    """The strip, with its legend."""
    if not len(facts.fates):
        return "<p>The input has no chunks.</p>" if facts.why else "<p>This kind of stage does not tell of chunks.</p>"
    counts = [(fate, facts.count(fate), facts.bytes_of(fate)) for fate in Fate]
    said = f"{len(facts.fates):,} chunks in input order: " + ", ".join(
        f"{count:,} {fate.name.lower()}" for fate, count, _ in counts if count
    )
    legend = "".join(
        f'<li><span class="key {fate.name.lower()}"></span>{_FATES[fate]} <b>{count:,}</b> '
        f'<span class="note">{size(held)}</span></li>'
        for fate, count, held in counts
        if count
    )
    each = cell_chunks(len(facts.fates))
    cell = f" A cell stands for {each} neighbours, and shows the worst of them." if each > 1 else ""
    note = f'<p class="note">{len(facts.fates):,} chunks, in input order.{cell}</p>'
    return f'{note}{strip(facts.fates, said)}<ul class="legend">{legend}</ul>'


def tree(facts: RunFacts) -> str:
    """Nodes by level, the root on top."""
    if not facts.levels:
        return "<p>There is no tree: nothing was combined.</p>"
    rows = []
    top = len(facts.levels)
    reused = len(facts.fates) - len(facts.mapped)
    levels = [("chunks", len(facts.fates), reused)]
    levels += [("root" if at == top else f"level {at}", *level) for at, level in enumerate(facts.levels, 1)]
    for name, nodes, known in reversed(levels):
        fresh = nodes - known
        bar = shares([("mapped", fresh), ("reused", known)], f"{fresh:,} of {nodes:,} anew")
        rows.append(
            f'<tr><td>{name}</td><td class="n">{nodes:,}</td><td class="n">{fresh:,}</td>'
            f'<td class="n">{known:,}</td><td class="bar">{bar}</td></tr>'
        )
    head = "".join(f'<th scope="col"{kind}>{title}</th>' for title, kind in _TREE_COLUMNS)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


_TREE_COLUMNS = (
    ("level", ""),
    ("nodes", ' class="n"'),
    ("anew", ' class="n"'),
    ("reused", ' class="n"'),
    ("share", ""),
)


def phases(report: RunReport) -> str:
    """Seconds by what they were spent on."""
    spent = [(f"s{at}", said, report.seconds[name]) for at, (name, said) in enumerate(_PHASES, 1)]
    total = report.seconds["total"]
    spent.append(("s6", "deciding, keeping and all else", max(0.0, total - sum(each for _, _, each in spent))))
    spent = [each for each in spent if each[2] >= 0.00005]
    said = ", ".join(f"{name} {seconds(took)}" for _, name, took in spent) or "no time"
    rows = [
        f'<tr><td><span class="key {kind}"></span>{name}</td><td class="n">{seconds(took)}</td>'
        f'<td class="n">{percent(took, total)}</td></tr>'
        for kind, name, took in spent
    ]
    bar = shares([(kind, took) for kind, _, took in spent], said)
    return f"<figure>{bar}</figure>{table((('phase', False), ('time', True), ('share', True)), rows)}"


def runs(history: Sequence[PastRun]) -> str:
    """The last runs as three pictures, and as a table."""
    if len(history) < 2:
        return "<p>No earlier run of the job is known.</p>"
    shown = [
        ("time", [run.seconds for run in history], seconds),
        ("bytes mapped", [float(run.fresh_bytes) for run in history], size),
    ]
    counted = [float(run.store_bytes) for run in history if run.store_bytes is not None]
    if counted:
        shown.append(("bytes of the store", counted, size))
    drawn = ""
    for title, values, said in shown:
        highest = _drawn_up_to(values)
        words = f"{title} of the last {len(values)} runs: last {said(values[-1])}, highest {said(max(values))}"
        cut = f" (drawn up to {said(highest)})" if highest < max(values) else ""
        drawn += (
            f"<figure><figcaption><b>{title}</b><br>last <b>{said(values[-1])}</b>, highest {said(max(values))}{cut}"
            f"</figcaption>{bars(values, words, highest)}</figure>"
        )
    return f'<div class="three">{drawn}</div>{_run_table(history)}'


def _drawn_up_to(values: Sequence[float]) -> float:
    """A run from scratch is as high as a hundred updates: these are compared with each other, and it is cut off."""
    usual = sorted(values)[len(values) // 2]
    return max((value for value in values if value <= 4 * usual), default=max(values))


def _run_table(history: Sequence[PastRun]) -> str:
    rows = [
        f'<tr><td class="n">{run.generation}</td><td>{when(run.when)}</td><td class="n">{seconds(run.seconds)}</td>'
        f'<td class="n">{size(run.fresh_bytes)}<br><span class="note">of {size(run.input_bytes)}</span></td>'
        f'<td class="n">{size(run.store_bytes) if run.store_bytes is not None else "not counted"}</td></tr>'
        for run in reversed(history)
    ]
    titles = (("run", True), ("ended", False), ("time", True), ("mapped", True), ("store", True))
    return f"<details><summary>As a table</summary>{table(titles, rows)}</details>"


def warnings(report: RunReport) -> str:
    """All that a user should know."""
    rows, _ = within((f"<li>{text(said, 4 * LONGEST)}</li>" for said in report.warnings), _WARNING_BYTES)
    left = len(report.warnings) - len(rows)
    return f'<ul class="warnings">{"".join(rows)}{f"<li>and {left:,} more</li>" if left else ""}</ul>'


def counters(report: RunReport) -> str:
    """What functions counted."""
    rows, _ = within(
        (
            f'<tr><td>{text(name)}</td><td class="n">{count:,}</td></tr>'
            for name, count in sorted(report.counters.items())
        ),
        _COUNTER_BYTES,
    )
    left = len(report.counters) - len(rows)
    more = f'<p class="note">and {left:,} that are not listed.</p>' if left else ""
    return table((("counter", False), ("count", True)), rows, "data") + more


def when(moment: float) -> str:
    """A time for people, the same in every browser."""
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, OSError, ValueError):
        return "at some time"
