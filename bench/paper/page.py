"""docs/evaluation.md, from results alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.paper import sections, summary
from bench.paper.markdown import Lines, table
from bench.paper.requirements import Verdict, verdicts
from bench.paper.results import Results


def write_page(results: Results, folder: Path, plots: Sequence[Path]) -> Path:
    """Write the page beside the folder that holds results and plots."""
    path = folder.with_name(folder.name + ".md")
    path.write_text(page(results, folder.name, [plot.name for plot in plots]))
    return path


def page(results: Results, folder: str, plots: Sequence[str]) -> str:
    """The whole page; `folder` is where the plots are, seen from it."""
    pictures = {name.split("-")[0]: f"![{name}]({folder}/{name})" for name in plots}
    parts = (
        _opening(results),
        _requirements(verdicts(results)),
        _misses(results, verdicts(results)),
        sections.sweep(results, pictures),
        sections.input_size(results, pictures),
        sections.granularity(results, pictures),
        sections.overhead(results, pictures),
        sections.logs(results, pictures),
        sections.chunking(results),
        sections.edits(results),
        sections.tools(results),
        _notes(results),
    )
    return "\n\n".join("\n".join(section) for section in parts if section) + "\n"


def _opening(results: Results) -> Lines:
    lines = [
        "# Evaluation",
        "",
        "The evaluation of the Incoop paper (section 7 and appendix A.1) on this code, against plain PySpark RDD code",
        f"of the same applications. `python -m bench paper --size {results.size}` measures; `python -m bench page`",
        "writes this page from `results.json`, where every single run is (`results.csv` has the same as a table).",
    ]
    if results.size == "small":
        lines += [
            "",
            "**This is the small size, a smoke test on less than a megabyte.** Fixed costs are most of every time",
            "here, so neither figures nor verdicts say how the project does. `--size large` is what counts.",
        ]
    entries = list(results.entries.values())
    if entries:
        facts = entries[-1].machine
        packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
        loads = [entry.machine["load"] for entry in entries]
        sizes = [
            f"{entry.app} {entry.samples[0].input_bytes / 1e6:.3g} MB"
            for entry in [*results.of("speedup"), *results.of("logs")]
            if entry.samples and entry.samples[0].input_bytes
        ]
        rounds = sorted({entry.repeats for entry in entries})
        codes = ", ".join(sorted({entry.commit for entry in entries}))
        lines += [
            "",
            f"- Machine: {facts['cores']} cores ({facts['processor']}), {facts['memory_gib']} GiB, {facts['system']}, "
            f"Python {facts['python']}, {packages}; load when an experiment began: {min(loads)} to {max(loads)}.",
            f"- Measured {_span(entry.when for entry in entries)}, code {codes}.",
            f"- Input: {', '.join(sizes)}." if sizes else "- Input: see results.json.",
            f"- {' or '.join(map(str, rounds))} round{'s' if rounds != [1] else ''}; in a round every case runs once,",
            "  in alternation, in one warm Spark session, on the same data. Figures are medians, in brackets the least",
            "  and the most of the rounds.",
            "- Answers are compared with plain PySpark's in the first round, in figures 5 and 6 for the first run,",
            "  the smallest and the largest change: counts and labels exactly, sums of floats up to rounding, and",
            "  these exactly with a run of incoop from scratch. Each change brings content that no other one brought.",
            "- Time is by the clock, to the last pair. Work is the summed time of Spark's tasks, and the driver's",
            "  processor time.",
        ]
    return lines


def _span(whens: Iterable[str]) -> str:
    found = sorted(whens)
    return found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def _requirements(found: list[Verdict]) -> Lines:
    rows = []
    for verdict in found:
        wanted = verdict.requirement
        bound = "at most " if wanted.at_most else ""
        reached = "not measured"
        if verdict.worst is not None:
            value = verdict.values[verdict.worst]
            reached = f"{wanted.shown(value.median)} ({wanted.shown(value.low)} to {wanted.shown(value.high)})"
            reached += f", {verdict.worst}" if len(verdict.values) > 1 else ""
        required, aim = wanted.shown(wanted.required), wanted.shown(wanted.aim)
        rows.append((wanted.title, wanted.paper, bound + required, aim, reached, verdict.text))
    head = ("measure", "paper", "required", "aim", "reached, by the app that does worst", "verdict")
    return ["## What it must show", *table(head, rows)]


def _misses(results: Results, found: list[Verdict]) -> Lines:
    rows = []
    for verdict in found:
        wanted = verdict.requirement
        for app in verdict.missed() if wanted.timed else []:
            entry = results.entries[f"{wanted.experiment}/{app}"]
            spent = summary.profile(entry, wanted.case, wanted.change)
            value = wanted.shown(verdict.values[app].median)
            cells = [f"{spent[phase]:.3g}" if spent else "" for phase in _PHASES]
            rows.append(
                (wanted.title, app, value, *cells, *(str(spent.get(name, "")) for name in ("mapped", "reduced")))
            )
    if not rows:
        return []
    head = ("missed", "app", "reached", *(f"{phase}, s" for phase in _PHASES), "chunks mapped", "keys reduced")
    return [
        "### Where the time went in what was missed",
        "Seconds by phase of incoop's own run; the rest is finding out what changed and writing down what was done.",
        "",
        *table(head, rows),
    ]


_PHASES = ("chunk", "map", "contract", "reduce", "rest", "total")


def _notes(results: Results) -> Lines:
    notes = dict.fromkeys(note for entry in results.entries.values() for note in entry.notes)
    return ["## Notes", *(f"- {note}" for note in notes)] if notes else []
