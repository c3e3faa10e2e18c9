"""The page and the plots: made from results alone, honest about what was missed and what was not measured."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from bench.paper.page import page, write_page
from bench.paper.requirements import verdicts
from bench.paper.results import BadResults, Entry, Results, Sample, load

MACHINE = {
    "cores": 2, "processor": "abacus", "memory_gib": 8, "system": "Linux 6", "python": "3.11.7",
    "packages": {"pyspark": "4.0"}, "load": 0.1,
}  # fmt: skip

REPORT = {
    "seconds": {"chunk": 0.125, "map": 0.5, "contract": 0.25, "reduce": 0.0625, "total": 1.0},
    "map": {"tasks": 100, "executed": 7},
    "keys": {"total": 5000, "reduced": 321},
}


def entry(experiment: str, app: str, samples: list[Sample], notes: tuple[str, ...] = ()) -> Entry:
    return Entry(experiment, app, "large", 3, "2030-01-01 00:00 UTC", "abc1234", MACHINE, samples, list(notes))


def speedups(app: str, one_percent: float) -> Entry:
    """Plain PySpark takes 20, 18 and 22 s, a first run 10, updates of 1 % as long as told."""
    samples = []
    for number, plain in enumerate((20.0, 18.0, 22.0)):
        facts: dict[str, Any] = {"input_bytes": 1000, "report": REPORT}
        samples += [
            Sample("plain", number, plain, 2 * plain, input_bytes=1000),
            Sample("first", number, 10.0, 19.0, stored_bytes=2500, **facts),
            Sample("update", number, 0.01, 0.01, change=0, **facts),
            Sample("update", number, one_percent, one_percent, change=1, **facts),
            Sample("update", number, 5.0, 8.0, change=25, **facts),
        ]
    return entry("speedup", app, samples)


@pytest.fixture
def results() -> Results:
    found = Results("large")
    found.add(speedups("words", 0.5))
    found.add(speedups("knn", 2.0))
    found.add(entry("tools", "words", [Sample("plain", 0, 3.0, input_bytes=5)], ("Pathway was left out.",)))
    return found


def row_of(text: str, *begins: str) -> list[str]:
    """The cells of the only row that begins so."""
    (row,) = (line for line in text.splitlines() if line.startswith("| " + " | ".join(begins) + " |"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_the_worst_application_decides(results: Results) -> None:
    text = page(results, "evaluation", []).split("### Where")[0]
    assert row_of(text, "time speed-up, 1 % of chunks changed, every app")[2:] == [
        "25", "80", "10 (9.0 to 11), knn", "**missed**",
    ]  # fmt: skip
    assert row_of(text, "25 %")[2:] == ["2.5", "3.5", "4.0 (3.6 to 4.4), words", "aim reached"]
    assert row_of(text, "nothing changed")[-1] == "aim reached"
    assert row_of(text, "first-run overhead, every app")[-2:] == ["-50% (-55% to -44%), words", "aim reached"]
    assert row_of(text, "space, worst app, times the input")[-2:] == ["2.5 (2.5 to 2.5), words", "reached"]


def test_what_was_not_measured_is_not_claimed(results: Results) -> None:
    text = page(results, "evaluation", [])
    for measure in ("5 %", "log append, 5 %", "log append, 25 %"):
        assert row_of(text, measure)[-2:] == ["not measured", "not measured"]
    assert all(verdict.text == "not measured" for verdict in verdicts(Results("large")))
    assert page(Results("large"), "evaluation", []).startswith("# Evaluation")


def test_a_miss_comes_with_a_profile_and_a_figure_that_was_reached_with_none(results: Results) -> None:
    text = page(results, "evaluation", [])
    profile = text.split("### Where the time went")[1].split("##")[0]
    missed = row_of(profile, "time speed-up, 1 % of chunks changed, every app", "knn")
    assert missed[2:] == ["10", "0.125", "0.5", "0.25", "0.0625", "1.06", "2", "7/100", "321/5,000"]
    assert "| words |" not in profile


def test_a_page_without_misses_has_no_profile() -> None:
    found = Results("large")
    found.add(speedups("words", 0.1))
    assert "Where the time went" not in page(found, "evaluation", [])


def test_the_page_states_machine_code_rounds_and_notes(results: Results) -> None:
    text = page(results, "evaluation", ["figure6-time.png"])
    for said in ("2 cores (abacus)", "abc1234", "3 rounds", "pyspark 4.0", "Pathway was left out."):
        assert said in text
    assert "![figure6-time.png](evaluation/figure6-time.png)" in text
    assert "smoke test" not in text
    results.size = "small"
    assert "smoke test" in page(results, "evaluation", [])


def test_results_survive_a_round_trip_and_give_the_same_page(results: Results, tmp_path: Path) -> None:
    folder = tmp_path / "evaluation"
    results.save(folder)
    again = load(folder)
    assert again == results
    assert write_page(again, folder, []).read_text() == page(results, "evaluation", [])
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(entry.samples) for entry in results.entries.values())
    assert rows[1]["map_s"] == "0.5" and rows[1]["mapped"] == "7"


def test_plots_are_drawn_for_what_was_measured(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from bench.paper.plots import draw_all

    drawn = [path.name for path in draw_all(results, tmp_path)]
    assert drawn == ["figure5-work.png", "figure6-time.png", "figure10-overhead.png"]
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in drawn)


@pytest.mark.parametrize("damage", ["{", '{"format": 1}', '{"format": 99, "size": "small", "entries": []}'])
def test_damaged_results_are_refused_with_a_remedy(damage: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(damage)
    with pytest.raises(BadResults, match="--replace"):
        load(tmp_path)
