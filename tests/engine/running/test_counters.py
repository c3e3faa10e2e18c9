"""Counters with samples: which are kept follows from all that was counted, however it was added up."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop import BadCall, counter
from incoop.engine.events import DidFinish
from incoop.engine.report import RunReport
from incoop.engine.running.counters import (
    SAMPLE_LENGTH,
    SAMPLES,
    added_counts,
    counting_apart,
    take_counts,
    told_apart,
)
from incoop.fronts.common.reports import added_up

#: Counters and texts: few of either, so that they meet, and of any characters.
COUNTED = st.tuples(st.sampled_from(["bad", "worse"]), st.integers(0, 40).map(str) | st.text(max_size=50))


def counts_of(counted: list[tuple[str, str]]) -> dict[str, int]:
    with counting_apart():
        for name, text in counted:
            counter(name, sample=text)
        return take_counts()


@given(st.lists(st.lists(st.lists(COUNTED, max_size=8), max_size=4), max_size=4), st.randoms(use_true_random=False))
def test_samples_of_leaves_and_chunks_are_those_of_the_whole(chunks: list[list[list[tuple[str, str]]]], rng) -> None:
    whole = [each for chunk in chunks for leaf in chunk for each in leaf]
    by_chunk = [added_counts(map(counts_of, chunk)) for chunk in chunks]
    rng.shuffle(by_chunk)
    counters, samples = told_apart(added_counts(by_chunk))
    assert (counters, samples) == told_apart(counts_of(whole))
    assert counters == Counter(name for name, _ in whole)
    for name, texts in samples.items():
        every = Counter(text[:SAMPLE_LENGTH] for each, text in whole if each == name)
        assert len(texts) == min(SAMPLES, len(every))
        assert texts == {text: every[text] for text in texts}
        assert list(texts) == list(told_apart(counts_of(whole))[1][name])  # in one order


def test_a_long_sample_is_cut() -> None:
    (text,) = told_apart(counts_of([("bad", "x" * 10_000)]))[1]["bad"]
    assert text == "x" * SAMPLE_LENGTH + "…"


def test_many_lines_without_an_end_are_not_kept() -> None:
    counts = counts_of([("bad", str(number)) for number in range(10_000)])
    assert counts["bad"] == 10_000
    assert len(counts) == 1 + SAMPLES


def test_a_sample_that_is_no_text_is_refused() -> None:
    with counting_apart(), pytest.raises(BadCall, match="a text as sample"):
        counter("bad", sample=b"bytes")  # type: ignore[arg-type]


def test_the_report_shows_samples_below_their_counter_so_that_no_terminal_obeys_them() -> None:
    report = RunReport("count")
    report.hear(DidFinish(0, counts_of([("bad", "\x1b[2J"), ("bad", "\x1b[2J"), ("bad", "\udcff")])))
    assert report.counters == {"bad": 3}
    assert report.as_dict()["samples"] == {"bad": {"\x1b[2J": 2, "\udcff": 1}}
    shown = str(report).splitlines()
    assert shown[-3] == "counter bad: 3"
    assert set(shown[-2:]) == {r"  2 x '\x1b[2J'", r"  1 x '\udcff'"}


def test_one_report_for_several_jobs_has_the_samples_of_all() -> None:
    reports = [RunReport("one"), RunReport("two")]
    for report in reports:
        report.hear(DidFinish(0, counts_of([("bad", "twice"), ("bad", report.job)])))
    whole = added_up("both", reports)
    assert whole.counters == {"bad": 4}
    assert whole.samples == {"bad": {"twice": 2, "one": 1, "two": 1}}
