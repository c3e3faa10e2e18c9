"""The figures as PNG, from results alone."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.apps import APPS
from bench.paper import summary
from bench.paper.granularity import VARIANTS
from bench.paper.results import Results

_SIZE = (7.0, 4.2)
_DPI = 110
_MARKS = "osD^vPX"

#: In every plot the same: colours that also differ in brightness.
_PLAIN, _FIRST, _UPDATE = "#7f7f7f", "#1f77b4", "#d62728"


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw what there are results for; the files."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [draw(results, folder) for draw in (_work, _time, _input_size, _granularity, _overhead, _logs)]
    return [path for path in drawn if path is not None]


@contextmanager
def _axes(path: Path, title: str, columns: int = 1) -> Iterator[Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, columns, figsize=(_SIZE[0] * (1 if columns == 1 else 1.5), _SIZE[1]))
    figure.suptitle(title, fontsize=11)
    try:
        yield axes
        figure.tight_layout()
        figure.savefig(path, dpi=_DPI)
    finally:
        pyplot.close(figure)


def _title(results: Results, text: str) -> str:
    return f"{text} (size {results.size})"


def _logarithmic(axes: Any) -> None:
    """A logarithmic y axis with plain numbers: 1, 2, 5, 10 ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=30))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _line(axes: Any, points: Sequence[tuple[float, summary.Figure]], label: str, number: int, **style: Any) -> None:
    xs = [x for x, _ in points]
    middle = [figure.median for _, figure in points]
    errors = [
        [max(0.0, figure.median - figure.low) for _, figure in points],
        [max(0.0, figure.high - figure.median) for _, figure in points],
    ]
    axes.errorbar(xs, middle, yerr=errors, label=label, marker=_MARKS[number], markersize=5, capsize=3, **style)


def _speedups(results: Results, path: Path, measure: str, title: str) -> Path | None:
    entries = results.of("speedup")
    if not entries:
        return None
    with _axes(path, _title(results, title)) as axes:
        for number, entry in enumerate(entries):
            points = [
                (change, figure)
                for change in summary.changes_of(entry)
                if (figure := summary.ratio(entry, "plain", "update", change=change, measure=measure))
            ]
            _line(axes, points, APPS[entry.app].title, number)
        axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
        axes.set_xticks(summary.changes_of(entries[0]))
        _logarithmic(axes)
        axes.set_xlabel("chunks replaced, %")
        axes.set_ylabel(f"{measure.replace('seconds', 'time')} of plain PySpark / of the update")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize=8)
    return path


def _work(results: Results, folder: Path) -> Path | None:
    return _speedups(results, folder / "figure5-work.png", "work", "Work speed-up against change size")


def _time(results: Results, folder: Path) -> Path | None:
    return _speedups(results, folder / "figure6-time.png", "seconds", "Time speed-up against change size")


def _input_size(results: Results, folder: Path) -> Path | None:
    entries = results.of("input-size")
    if not entries:
        return None
    path, entry = folder / "figure7-input-size.png", entries[0]
    lines = (
        ("plain", "plain PySpark", _PLAIN),
        ("first", "first run", _FIRST),
        ("update", "one chunk changed", _UPDATE),
    )
    with _axes(path, _title(results, f"{APPS[entry.app].title}: time against input size")) as axes:
        for number, (case, label, colour) in enumerate(lines):
            points = []
            for part in summary.changes_of(entry, case):
                size = summary.select(entry, case, part)[0].input_bytes or 0
                figure = summary.seconds(entry, case, part)
                assert figure is not None
                points.append((size / 1e6, figure))
            _line(axes, points, label, number, color=colour)
        _logarithmic(axes)
        axes.set_xlabel("input, MB")
        axes.set_ylabel("seconds")
        axes.set_xlim(left=0)
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize=8)
    return path


def _granularity(results: Results, folder: Path) -> Path | None:
    entries = results.of("granularity")
    if not entries:
        return None
    path = folder / "figure8-granularity.png"
    with _axes(path, _title(results, "Memoized tasks alone, and with contraction"), len(entries)) as all_axes:
        for axes, entry in zip([all_axes] if len(entries) == 1 else all_axes, entries, strict=True):
            for number, variant in enumerate(VARIANTS):
                case = f"{variant} update"
                changes = summary.changes_of(entry, case)
                points = [(change, figure) for change in changes if (figure := summary.seconds(entry, case, change))]
                _line(axes, points, variant, number, color=(_PLAIN, _UPDATE)[number])
                axes.set_xticks(changes)
            axes.set_title(APPS[entry.app].title, fontsize=10)
            axes.set_xlabel("chunks replaced, %")
            axes.set_ylabel("seconds of an update")
            axes.set_ylim(bottom=0)
            axes.grid(True, alpha=0.3)
            axes.legend(fontsize=8)
    return path


def _overhead(results: Results, folder: Path) -> Path | None:
    entries = results.of("speedup")
    if not entries:
        return None
    path = folder / "figure10-overhead.png"
    names = [textwrap.fill(APPS[entry.app].title, 13, break_on_hyphens=False) for entry in entries]
    with _axes(path, _title(results, "First run: time over plain PySpark's, and space"), 2) as (left, right):
        ratios = [summary.ratio(entry, "first", "plain") for entry in entries]
        _bars(left, names, [100 * (figure.median - 1) if figure else 0.0 for figure in ratios], "{:+.0f} %".format)
        left.set_ylabel("more time than plain PySpark, %")
        left.axhspan(5, 22, color=_PLAIN, alpha=0.25, label="paper: +5 to +22 %")
        left.axhline(0, color="black", linewidth=0.8)
        left.legend(fontsize=8)
        _bars(right, names, [summary.space(entry) or 0.0 for entry in entries], "{:.1f}".format)
        right.set_ylabel("stored bytes / input bytes")
        right.axhline(9, color=_PLAIN, linestyle="--", label="paper: up to 9")
        right.axhline(3, color=_UPDATE, linestyle=":", label="required: at most 3")
        right.legend(fontsize=8)
    return path


def _bars(axes: Any, names: list[str], heights: list[float], shown: Callable[[float], str]) -> None:
    bars = axes.bar(names, heights, color=_FIRST)
    axes.bar_label(bars, [shown(height) for height in heights], fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.margins(y=0.15)


def _logs(results: Results, folder: Path) -> Path | None:
    entries = results.of("logs")
    if not entries:
        return None
    path, entry = folder / "figure11-logs.png", entries[0]
    with _axes(path, _title(results, "Log processing: speed-up after an append")) as axes:
        points = [
            (change, figure)
            for change in summary.changes_of(entry)
            if (figure := summary.ratio(entry, "plain", "update", change=change, over_change=change))
        ]
        _line(axes, points, "incoop, against plain PySpark", 0, color=_UPDATE)
        axes.set_xticks(sorted({5, 25, *summary.changes_of(entry)}))
        axes.plot([5, 25], [4, 2.5], color=_PLAIN, marker="s", linestyle="--", label="paper, against Hadoop")
        axes.set_xlabel("appended, % of the log")
        axes.set_ylabel("time of plain PySpark / of the update")
        axes.set_ylim(bottom=0)
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=8)
    return path
