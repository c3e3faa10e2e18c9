"""Every example that mrjob ships and that needs no Hadoop gives, byte for byte, what mrjob's own runner gives."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ..end_to_end.places import Place
from .mrjob_runs import EXAMPLES, FEW_CHUNKS, Memoized, plain

TEXT = "the quick brown fox jumps over a lazy dog and umbrellas unfold under unusual suns don't it's Zürich"

#: Example -> (runner to compare with, its arguments).
ONE_INPUT = {
    "mr_count_lines_by_file": ("inline", []),
    "mr_count_lines_right": ("inline", []),
    "mr_count_lines_wrong": ("inline", []),
    "mr_grep": ("local", ["-e", "fox.*dog"]),
    "mr_most_used_word": ("inline", []),
    "mr_next_word_stats": ("inline", []),
    "mr_nick_nack": ("inline", []),
    "mr_wc": ("inline", []),
    "mr_word_freq_count": ("inline", []),
    "mr_words_containing_u_freq_count": ("local", []),
}


def some_text(lines: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(TEXT.split(), k=rng.randint(0, 12))) for _ in range(lines)]


@pytest.mark.parametrize("name", ONE_INPUT)
def test_an_example_gives_what_mrjob_gives_before_and_after_a_change(name: str, place: Place) -> None:
    runner, arguments = ONE_INPUT[name]
    if runner == "local":
        place.chunks = FEW_CHUNKS
    job, run = EXAMPLES / f"{name}.py", Memoized(place.session)
    files = {"one.txt": some_text(150), "two.txt": some_text(60, seed=2)}
    for change in (None, "a line more, with a fox and a dog"):
        if change is not None:
            files["one.txt"].insert(70, change)
        place.write(files)
        inputs = sorted(place.input.iterdir())
        expected = plain(job, *arguments, *inputs, runner=runner)
        assert expected
        assert run(job, *arguments, *inputs) == expected
    assert run(job, *arguments, *inputs) == expected
    assert run.report.map.executed == 0


def test_the_sampler_draws_from_its_input(place: Place) -> None:
    job = EXAMPLES / "mr_log_sampler.py"
    lines = [f"line {number}" for number in range(100)]
    place.write(lines)
    run = Memoized(place.session)
    drawn = run(job, "--sample-size", 20, place.input / "input.txt").decode().splitlines()
    assert len(set(drawn)) == 20 and set(drawn) <= set(lines)
    assert any("random" in warning for warning in run.report.warnings)
    everything = run(job, "--sample-size", 1000, place.input / "input.txt")
    assert sorted(everything.splitlines()) == sorted(
        plain(job, "--sample-size", 1000, place.input / "input.txt").splitlines()
    )


def parsed(output: bytes) -> list[list[Any]]:
    """Lines of JSON, keys and values."""
    return [[json.loads(each) for each in line.split(b"\t")] for line in output.splitlines()]


def test_the_text_classifier_reads_whole_files_by_name(place: Place) -> None:
    job, run = EXAMPLES / "mr_text_classifier.py", Memoized(place.session)
    documents = sorted((EXAMPLES / "docs-to-classify").glob("*.txt"))
    assert len(documents) > 5
    copies: list[Path] = []
    for document in documents[:4]:
        copies.append(place.input / document.name)
        copies[-1].write_text(document.read_text(errors="replace")[:600])
    arguments = ["--min-df", 1, "--stop-words", "a,the"]
    for edit in ("", "another sentence about tests"):
        copies[2].write_text(copies[2].read_text() + edit)
        ours, theirs = run(job, *arguments, *copies), plain(job, *arguments, *copies)
        # The job writes dicts in the order of a set of strings, which is another one in each Python process.
        same = parsed(ours) == parsed(theirs)
        assert same
    assert 0 < run.runner.reports[0].map.executed < run.runner.reports[0].map.tasks


def test_the_example_that_fails_shows_its_own_traceback(place: Place) -> None:
    import incoop

    place.write(["a line"])
    with pytest.raises(incoop.JobFailed) as failed:
        Memoized(place.session)(EXAMPLES / "mr_boom.py", place.input / "input.txt")
    assert "BOOM" in str(failed.value) and "mr_boom.py" in str(failed.value)
