"""`python -m bench`: the smoke test of the whole evaluation, and wrong calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import _interrupted, main
from bench.paper.experiments import EXPERIMENTS
from bench.paper.requirements import REQUIREMENTS
from bench.paper.results import Results, load
from tests.conftest import REPOSITORY


def refused(*arguments: str) -> str:
    """What a wrong call says; its exit code must be 2."""
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == 2, done.output
    return done.output


def test_unknown_names_are_refused_with_those_there_are(tmp_path: Path) -> None:
    output = ("--output", str(tmp_path / "out"))
    assert "kmeans" in refused("paper", "--size", "small", "--apps", "words,nonsense", *output)
    assert "granularity" in refused("paper", "--size", "small", "--experiments", "nonsense", *output)
    assert "'small', 'medium', 'large'" in refused("paper", "--size", "tiny", *output)
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "another --output" in refused("paper", "--size", "small", "--output", str(tmp_path / "file" / "out"))


def test_results_of_another_size_are_not_overwritten(tmp_path: Path) -> None:
    Results("large").save(tmp_path)
    assert "--replace" in refused("paper", "--size", "small", "--output", str(tmp_path))
    assert load(tmp_path) == Results("large")


def test_a_text_that_is_too_short_is_refused_before_spark_starts(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a few words\n" * 1000)
    output = ("--output", str(tmp_path / "out"))
    said = refused("paper", "--size", "small", "--apps", "words", "--text", str(tmp_path / "text"), *output)
    assert "12000 bytes" in said and "smaller size or a longer text" in said


def test_ctrl_c_in_the_middle_of_an_answer_from_spark_is_still_ctrl_c() -> None:
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise OSError("the answer is empty")
    except OSError as error:
        assert _interrupted(error)
    assert not _interrupted(ValueError())


def test_a_page_of_nothing_is_refused(tmp_path: Path) -> None:
    assert "no results.json" in refused("page", "--output", str(tmp_path))
    (tmp_path / "results.json").write_text("{")
    assert CliRunner().invoke(main, ["page", "--output", str(tmp_path)]).exit_code == 1


def test_an_app_that_no_chosen_experiment_has_leaves_nothing_to_measure(tmp_path: Path) -> None:
    chosen = ["--experiments", "logs", "--apps", "words"]
    done = CliRunner().invoke(main, ["paper", "--size", "small", *chosen, "--output", str(tmp_path)])
    assert done.exit_code == 0 and "nothing is left" in done.output


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_small_evaluation_runs_every_experiment_and_writes_the_page(tmp_path: Path) -> None:
    output = tmp_path / "evaluation"
    command = [sys.executable, "-m", "bench", "paper", "--size", "small", "--output", str(output)]
    surroundings = {**os.environ, "TMPDIR": str(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=REPOSITORY, env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-5000:]

    results = load(output)
    assert results is not None
    wanted = {f"{each.name}/{app}" for each in EXPERIMENTS.values() for app in each.apps}
    assert results.entries.keys() == wanted
    for entry in results.entries.values():
        assert entry.samples and all(sample.seconds > 0 for sample in entry.samples)
    text = (tmp_path / "evaluation.md").read_text()
    assert all(requirement.title in text for requirement in REQUIREMENTS)
    for app in ("Word count", "Co-occurrence matrix", "Bigram count", "K-means", "K nearest neighbours"):
        assert f"| {app} |" in text
    assert (output / "results.csv").read_text().count("\n") > len(wanted)
    assert not list(tmp_path.glob("incoop-evaluation-*")), "temporary files are left behind"

    # What is there is not measured again, and the page follows from the results alone.
    again = CliRunner().invoke(main, ["paper", "--size", "small", "--resume", "--output", str(output)])
    assert again.exit_code == 0 and "nothing is left" in again.output
    assert (tmp_path / "evaluation.md").read_text() == text
