"""The page's sections, one for each experiment; empty where it was not run."""

from __future__ import annotations

from bench.apps import APPS
from bench.paper import summary
from bench.paper.chunking import SKIPS
from bench.paper.edits import EDITS
from bench.paper.granularity import NOTE, VARIANTS
from bench.paper.markdown import Lines, picture, seconds_text, table, times_text
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


def sweep(results: Results, pictures: dict[str, str]) -> Lines:
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
                *(
                    times_text(summary.ratio(entry, "plain", "update", change=each, measure=measure))
                    for each in changes
                ),
            )
            for entry in entries
        ]
        rows.append(("*paper*", *(_PAPER_SWEEP.get(int(each), "") for each in changes)))
        lines += [*table((title, *(f"{each:g} %" for each in changes)), rows), ""]
    rows = [
        (
            APPS[entry.app].title,
            seconds_text(summary.seconds(entry, "plain")),
            seconds_text(summary.seconds(entry, "first")),
            *(seconds_text(summary.seconds(entry, "update", each)) for each in changes),
        )
        for entry in entries
    ]
    lines += table(("seconds", "plain PySpark", "first run", *(f"{each:g} %" for each in changes)), rows)
    return [*lines, *picture(pictures, "figure5"), *picture(pictures, "figure6")]


def input_size(results: Results, pictures: dict[str, str]) -> Lines:
    lines = []
    for entry in results.of("input-size"):
        rows = []
        for part in summary.changes_of(entry):
            size = summary.select(entry, "update", part)[0].input_bytes or 0
            cases = [seconds_text(summary.seconds(entry, case, part)) for case in ("plain", "first", "update")]
            rows.append(
                (
                    f"{size / 1e6:.1f} MB",
                    *cases,
                    times_text(summary.ratio(entry, "plain", "update", change=part, over_change=part)),
                )
            )
        head = ("input", "plain PySpark, s", "first run, s", "one chunk changed, s", "times faster")
        lines += [f"## {APPS[entry.app].title}: time against input size (figure 7)", *table(head, rows)]
        lines += ["", "The paper says that its improvements hold for all sizes it tried."]
        lines += picture(pictures, "figure7")
    return lines


def granularity(results: Results, pictures: dict[str, str]) -> Lines:
    entries = results.of("granularity")
    if not entries:
        return []
    lines = ["## Memoized tasks alone, and with contraction (figure 8)", NOTE, ""]
    rows = []
    changes = summary.changes_of(entries[0], "task update")
    for entry in entries:
        for variant in VARIANTS:
            cells = [seconds_text(summary.seconds(entry, f"{variant} update", change)) for change in changes]
            stored = summary.space(entry, f"{variant} first")
            first = seconds_text(summary.seconds(entry, f"{variant} first"))
            rows.append((APPS[entry.app].title, variant, first, f"{stored:.2f}" if stored else "", *cells))
    head = ("app", "variant", "first run, s", "space", *(f"{change:g} %, s" for change in changes))
    lines += table(head, rows)
    lines += ["", "In the paper contraction helps the co-occurrence matrix much and k nearest neighbours not at all."]
    return [*lines, *picture(pictures, "figure8")]


def overhead(results: Results, pictures: dict[str, str]) -> Lines:
    rows = []
    for entry in results.of("speedup"):
        found, stored = summary.ratio(entry, "first", "plain"), summary.space(entry)
        cells = f"{found.median - 1:+.0%} ({found.low - 1:+.0%} to {found.high - 1:+.0%})" if found else ""
        rows.append((APPS[entry.app].title, cells, f"{stored:.2f}" if stored else ""))
    if not rows:
        return []
    rows.append(("*paper*", "+5 to +22 %", "up to 9"))
    head = ("app", "first run over plain PySpark", "stored bytes / input bytes")
    return ["## Overhead of the first run, and space (figure 10)", *table(head, rows), *picture(pictures, "figure10")]


def logs(results: Results, pictures: dict[str, str]) -> Lines:
    lines = []
    for entry in results.of("logs"):
        rows = [
            (
                f"{change:g} %",
                seconds_text(summary.seconds(entry, "plain", change)),
                seconds_text(summary.seconds(entry, "update", change)),
                times_text(summary.ratio(entry, "plain", "update", change=change, over_change=change)),
                {5: "4", 25: "2.5"}.get(int(change), ""),
            )
            for change in summary.changes_of(entry)
        ]
        head = ("appended", "plain PySpark, s", "update, s", "times faster", "paper, against Hadoop")
        lines += ["## Log processing (figure 11)", "Clicks by client, page and status out of a web server's log.", ""]
        lines += [*table(head, rows), *picture(pictures, "figure11")]
    return lines


def chunking(results: Results) -> Lines:
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
        lines += table(head, rows)
    return lines


def edits(results: Results) -> Lines:
    lines = []
    for entry in results.of("edits"):
        rows = [
            (
                name,
                seconds_text(summary.seconds(entry, name)),
                times_text(summary.ratio(entry, "plain", name)),
                str(summary.profile(entry, name).get("mapped", "")),
            )
            for name in EDITS
        ]
        head = ("change", "update, s", "times faster than plain PySpark", "chunks mapped")
        lines += [f"## {APPS[entry.app].title}: other changes", *table(head, rows)]
    return lines


def tools(results: Results) -> Lines:
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
                rows.append((title, seconds_text(first), seconds_text(update)))
        lines += [
            *table((f"{APPS[entry.app].title}, {size / 1e6:.1f} MB", "from scratch, s", "one record, s"), rows),
            "",
        ]
    return lines[:-1]
