"""docs/evaluation.md, from results alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.apps import APPS
from bench.paper import summary
from bench.paper.chunking import SKIPS
from bench.paper.edits import EDITS
from bench.paper.granularity import NOTE, VARIANTS
from bench.paper.requirements import Verdict, times, verdicts
from bench.paper.results import Results
from bench.paper.summary import Figure

#: What section 7.5 says of figures 5 and 6: between 3-fold and 1000-fold from 25 % down to nothing.
_PAPER_SWEEP = {0: "up to 1000", 1: "10 to 100", 5: "5 to 20", 25: "3"}

#: Table 2: MB a second by skip offset in MB.
_PAPER_PUT = (("HDFS", 34.41), ("20 MB", 32.67), ("40 MB", 34.19), ("60 MB", 32.04))

_TOOLS = {
    "plain": ("PySpark RDD", "plain"),
    "dataframes": ("Spark DataFrames", "dataframes"),
    "duckdb": ("DuckDB", "duckdb"),
    "pathway first": ("Pathway", "pathway update"),
    "incoop first": ("incoop", "incoop update"),
}

Lines = list[str]


def write_page(results: Results, folder: Path, plots: Sequence[Path]) -> Path:
    """Write the page beside the folder that holds results and plots."""
    path = folder.with_name(folder.name + ".md")
    path.write_text(page(results, folder.name, [plot.name for plot in plots]))
    return path


def page(results: Results, folder: str, plots: Sequence[str]) -> str:
    """The whole page; `folder` is where the plots are, seen from it."""
    pictures = {name.split("-")[0]: f"![{name}]({folder}/{name})" for name in plots}
    sections = (
        _opening(results),
        _requirements(verdicts(results)),
        _misses(results, verdicts(results)),
        _sweep(results, pictures),
        _input_size(results, pictures),
        _granularity(results, pictures),
        _overhead(results, pictures),
        _logs(results, pictures),
        _chunking(results),
        _edits(results),
        _tools(results),
        _notes(results),
    )
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    return [_row(head), "|" + "---|" * len(head), *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _seconds(figure: Figure | None) -> str:
    """
    Example:
        >>> _seconds(Figure(12.345, 11.0, 13.0)), _seconds(Figure(0.0061, 0.006, 0.0072)), _seconds(None)
        ('12.3 (11-13)', '0.0061 (0.006-0.0072)', '')
    """
    return f"{figure.median:.3g} ({figure.low:.3g}-{figure.high:.3g})" if figure else ""


def _times(figure: Figure | None) -> str:
    return f"{times(figure.median)} ({times(figure.low)}-{times(figure.high)})" if figure else ""


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
            "- Every answer of an update is compared with plain PySpark's in the first round: counts and labels",
            "  exactly, sums of floats up to rounding, and these exactly with a run of incoop from scratch.",
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
    return ["## What it must show", *_table(head, rows)]


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
        *_table(head, rows),
    ]


_PHASES = ("chunk", "map", "contract", "reduce", "rest", "total")


def _sweep(results: Results, pictures: dict[str, str]) -> Lines:
    entries = results.of("speedup")
    if not entries:
        return []
    changes = summary.changes_of(entries[0])
    lines = ["## Speed-up against change size (figures 5 and 6)"]
    lines += ["Chunks chosen at random are replaced by new content of the same size. Against plain PySpark:", ""]
    for title, measure in (("time", "seconds"), ("work", "work")):
        rows = [
            (
                APPS[entry.app].title,
                *(_times(summary.ratio(entry, "plain", "update", change=each, measure=measure)) for each in changes),
            )
            for entry in entries
        ]
        rows.append(("*paper*", *(_PAPER_SWEEP.get(int(each), "") for each in changes)))
        lines += [*_table((title, *(f"{each:g} %" for each in changes)), rows), ""]
    rows = [
        (
            APPS[entry.app].title,
            _seconds(summary.seconds(entry, "plain")),
            _seconds(summary.seconds(entry, "first")),
            *(_seconds(summary.seconds(entry, "update", each)) for each in changes),
        )
        for entry in entries
    ]
    lines += _table(("seconds", "plain PySpark", "first run", *(f"{each:g} %" for each in changes)), rows)
    return [*lines, *_picture(pictures, "figure5"), *_picture(pictures, "figure6")]


def _picture(pictures: dict[str, str], name: str) -> Lines:
    return ["", pictures[name]] if name in pictures else []


def _input_size(results: Results, pictures: dict[str, str]) -> Lines:
    lines = []
    for entry in results.of("input-size"):
        rows = []
        for part in summary.changes_of(entry):
            size = summary.select(entry, "update", part)[0].input_bytes or 0
            cases = [_seconds(summary.seconds(entry, case, part)) for case in ("plain", "first", "update")]
            rows.append(
                (
                    f"{size / 1e6:.1f} MB",
                    *cases,
                    _times(summary.ratio(entry, "plain", "update", change=part, over_change=part)),
                )
            )
        head = ("input", "plain PySpark, s", "first run, s", "one chunk changed, s", "times faster")
        lines += [f"## {APPS[entry.app].title}: time against input size (figure 7)", *_table(head, rows)]
        lines += ["", "The paper says that its improvements hold for all sizes it tried."]
        lines += _picture(pictures, "figure7")
    return lines


def _granularity(results: Results, pictures: dict[str, str]) -> Lines:
    entries = results.of("granularity")
    if not entries:
        return []
    lines = ["## Memoized tasks alone, and with contraction (figure 8)", NOTE, ""]
    rows = []
    changes = summary.changes_of(entries[0], "task update")
    for entry in entries:
        for variant in VARIANTS:
            cells = [_seconds(summary.seconds(entry, f"{variant} update", change)) for change in changes]
            stored = summary.space(entry, f"{variant} first")
            first = _seconds(summary.seconds(entry, f"{variant} first"))
            rows.append((APPS[entry.app].title, variant, first, f"{stored:.2f}" if stored else "", *cells))
    head = ("app", "variant", "first run, s", "space", *(f"{change:g} %, s" for change in changes))
    lines += _table(head, rows)
    lines += ["", "In the paper contraction helps the co-occurrence matrix much and k nearest neighbours not at all."]
    return [*lines, *_picture(pictures, "figure8")]


def _overhead(results: Results, pictures: dict[str, str]) -> Lines:
    rows = []
    for entry in results.of("speedup"):
        found, stored = summary.ratio(entry, "first", "plain"), summary.space(entry)
        cells = f"{found.median - 1:+.0%} ({found.low - 1:+.0%} to {found.high - 1:+.0%})" if found else ""
        rows.append((APPS[entry.app].title, cells, f"{stored:.2f}" if stored else ""))
    if not rows:
        return []
    rows.append(("*paper*", "+5 to +22 %", "up to 9"))
    head = ("app", "first run over plain PySpark", "stored bytes / input bytes")
    return ["## Overhead of the first run, and space (figure 10)", *_table(head, rows), *_picture(pictures, "figure10")]


def _logs(results: Results, pictures: dict[str, str]) -> Lines:
    lines = []
    for entry in results.of("logs"):
        rows = [
            (
                f"{change:g} %",
                _seconds(summary.seconds(entry, "plain", change)),
                _seconds(summary.seconds(entry, "update", change)),
                _times(summary.ratio(entry, "plain", "update", change=change, over_change=change)),
                {5: "4", 25: "2.5"}.get(int(change), ""),
            )
            for change in summary.changes_of(entry)
        ]
        head = ("appended", "plain PySpark, s", "update, s", "times faster", "paper, against Hadoop")
        lines += ["## Log processing (figure 11)", "Clicks by client, page and status out of a web server's log.", ""]
        lines += [*_table(head, rows), *_picture(pictures, "figure11")]
    return lines


def _chunking(results: Results) -> Lines:
    lines = []
    for entry in results.of("chunking"):
        size = entry.samples[0].input_bytes or 0

        def rate(figure: Figure | None, size: int = size) -> str:
            return (
                f"{size / figure.median / 1e6:.0f} ({size / figure.high / 1e6:.0f}-{size / figure.low / 1e6:.0f})"
                if figure
                else ""
            )

        copied = summary.seconds(entry, "copy")
        rows = [("plain copy", rate(copied), "1", f"{_PAPER_PUT[0][0]}: {_PAPER_PUT[0][1]}", "1")]
        for skip, (offset, paper) in zip(SKIPS, _PAPER_PUT[1:], strict=True):
            put = summary.seconds(entry, "put", skip)
            share = f"{copied.median / put.median:.2f}" if copied and put else ""
            rows.append(
                (f"put, skip {skip} KiB", rate(put), share, f"{offset}: {paper}", f"{paper / _PAPER_PUT[0][1]:.2f}")
            )
        head = (f"{size / 1e6:.0f} MB", "MB/s", "of the copy", "paper, MB/s by skip offset", "of HDFS")
        lines += ["## Chunking throughput (table 2)", "Both to disk, with fsync; chunks of 1 MiB on average.", ""]
        lines += _table(head, rows)
    return lines


def _edits(results: Results) -> Lines:
    lines = []
    for entry in results.of("edits"):
        rows = [
            (
                name,
                _seconds(summary.seconds(entry, name)),
                _times(summary.ratio(entry, "plain", name)),
                str(summary.profile(entry, name).get("mapped", "")),
            )
            for name in EDITS
        ]
        head = ("change", "update, s", "times faster than plain PySpark", "chunks mapped")
        lines += [f"## {APPS[entry.app].title}: other changes", *_table(head, rows)]
    return lines


def _tools(results: Results) -> Lines:
    entries = results.of("tools")
    if not entries:
        return []
    lines = [
        "## Other tools",
        "A folder of text files, from scratch, and again after one record was inserted into one of them. What knows",
        "nothing of earlier runs takes its time again. Pathway stays in memory in between; incoop is asked anew.",
        "",
    ]
    for entry in entries:
        size = entry.samples[0].input_bytes or 0
        rows = []
        for case, (title, again) in _TOOLS.items():
            first, update = summary.seconds(entry, case), summary.seconds(entry, again)
            if first:
                rows.append((title, _seconds(first), _seconds(update)))
        lines += [
            *_table((f"{APPS[entry.app].title}, {size / 1e6:.1f} MB", "from scratch, s", "one record, s"), rows),
            "",
        ]
    return lines[:-1]


def _notes(results: Results) -> Lines:
    notes = dict.fromkeys(note for entry in results.entries.values() for note in entry.notes)
    return ["## Notes", *(f"- {note}" for note in notes)] if notes else []
