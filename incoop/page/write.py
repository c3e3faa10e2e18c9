"""Write the report page of a run.

Contract: one file that a browser shows without any other, without a script and without the network (its policy forbids
both, should a text ever get through as more than text). It is there as a whole or not at all, and below 300 KB: every
list in it has a bound in bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from incoop.base.atomic import write_atomically
from incoop.base.errors import BadCall
from incoop.base.own_files import trusted_link
from incoop.base.paths import local_path
from incoop.page.facts import Reported, RunFacts
from incoop.page.sections import chunks, counters, lede, phases, runs, tiles, tree, warnings, when
from incoop.page.style import STYLE
from incoop.page.texts import text
from incoop.page.values import changes, pairs
from incoop.page.why import why_not

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def demand_place(path: str | os.PathLike[str]) -> Path:
    """Where a page will be written; refused before anything runs where it could not be."""
    try:
        place = Path(local_path(path)).resolve()  # a link stays one
    except (OSError, RuntimeError) as error:  # which of them depends on the version of Python
        raise BadCall(f"no page can be written to {path}: its links lead in a circle. Name another.") from error
    if not trusted_link(local_path(path)):
        raise BadCall(f"no page can be written to {path}: that is a link which another user made. Name another place.")
    if not place.parent.is_dir():
        raise BadCall(f"no page can be written to {path}: there is no folder {place.parent}. Make it, or name another.")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise BadCall(f"no page can be written to {path}: the folder is not writable. Name another, or open it.")
    if place.exists() and not place.is_file():
        raise BadCall(f"no page can be written to {path}: that is no file. Name another.")
    return place


def write_page(path: str | os.PathLike[str], result: Reported) -> None:
    """Write the page of a run. Reads the result's events, report, history and some of its pairs."""
    # Nothing rests on a page, so it need not survive a crash of the machine.
    write_atomically(demand_place(path), [page(result).encode()], durable=False)


def page(result: Reported) -> str:
    """The page of a run, as text."""
    # First what reads pairs: that may compute lost ones again, and the report is then of that run.
    changed, given = changes(result), pairs(result)
    report, history = result.report, result.history
    facts = RunFacts.of(result.events.told)
    ended = when(history[-1].when) if history else ""
    body = (
        f'<header><h1>{text(report.job)}</h1> <span class="run">run {report.generation}, {ended}</span>'
        f'<p class="lede">{lede(report, history)}</p>{tiles(report, facts, history)}</header><main>'
        f"{_section('warnings', 'Warnings', warnings(report)) if report.warnings else ''}"
        f"{_section('chunks', 'Chunks', chunks(facts))}"
        f"{_section('why', 'Why not reused', why_not(facts))}"
        '<div class="pair">'
        f"{_section('tree', 'Tree by level', tree(facts))}"
        f"{_section('phases', 'Time by phase', phases(report))}"
        "</div>"
        f"{_section('runs', 'Last runs', runs(history))}"
        f"{_section('changes', 'Changed keys', changed)}"
        f"{_section('result', 'Result', given)}"
        f"{_section('counters', 'Counters', counters(report)) if report.counters else ''}"
        "</main><footer>Written by incoop. What each part means is in docs/report-page.md.</footer>"
    )
    return "".join(_document(f"{text(report.job)}, run {report.generation}", body))


def _document(title: str, body: str) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
    yield f"<title>{title}</title><style>{STYLE}</style></head>\n<body>{body}</body></html>\n"


def _section(name: str, title: str, content: str) -> str:
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{content}</section>\n'
    )
