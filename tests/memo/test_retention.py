"""Which generations stay: the decision alone."""

from __future__ import annotations

import pytest

from incoop.memo.retention import Candidate, Keep, choose

NOW = 1000.0


def runs(text: str) -> list[Candidate]:
    """`a1@10 b1@20*`: job, number, time of commit; a star pins it."""
    out = []
    for word in text.split():
        name, _, when = word.rstrip("*").partition("@")
        out.append(Candidate(name[0], int(name[1:]), float(when), word.endswith("*")))
    return out


@pytest.mark.parametrize(
    ("given", "keep", "expected"),
    [
        pytest.param("a1@10 a2@20 b1@5", Keep(), "a2 b1", id="the last of each job by default"),
        pytest.param("a1@10 a2@20 a3@30 b1@5", Keep(last=2), "a2 a3 b1", id="the last two of each job"),
        pytest.param("a1@10 a2@20", Keep(last=0), "", id="none"),
        pytest.param("a2@30 a3@20", Keep(), "a3", id="the highest number counts, not who committed last"),
        pytest.param("a1@10* a2@20", Keep(), "a1 a2", id="a pinned one stays although it is not the last"),
        pytest.param("a1@10*", Keep(last=0, max_age=1, max_bytes=0, max_entries=0), "a1", id="no limit drops a pin"),
        pytest.param("a1@10 b1@990", Keep(max_age=100), "b1", id="too old, although the last of its job"),
        pytest.param("a1@10 b1@20 c1@30", Keep(max_bytes=250), "b1 c1", id="newest first until the bytes are full"),
        pytest.param("a1@10 b1@20 c1@30", Keep(max_entries=10), "c1", id="newest first until the entries are full"),
        pytest.param("a1@10* b1@20 c1@30", Keep(max_bytes=250), "a1 c1", id="pinned ones count first"),
        pytest.param("a1@10 b1@20 c1@30", Keep(max_bytes=200), "b1 c1", id="as many bytes as there may be"),
        pytest.param("a1@10 b1@20 c1@30", Keep(max_entries=20), "b1 c1", id="as many entries as there may be"),
        pytest.param("a1@10 b1@20 c1@30", Keep(max_bytes=250, max_entries=10), "c1", id="the narrower limit counts"),
        pytest.param("a1@10* b1@20 c1@30", Keep(max_entries=20), "a1 c1", id="pinned ones count first, by entries"),
        pytest.param("a1@10* b1@20* c1@30", Keep(max_bytes=250), "a1 b1", id="pinned ones may leave room for none"),
        pytest.param("a1@900 b1@899", Keep(max_age=100), "a1", id="as old as may be"),
        pytest.param("a1@10 b1@990", Keep(max_age=100, max_bytes=100), "b1", id="what is too old takes no room"),
        pytest.param("a1@990 b1@10 c1@5", Keep(max_age=994, max_bytes=250), "a1 b1", id="the old ones behind"),
        pytest.param(
            "a1@10 a2@10 a3@10", Keep(last=3, max_bytes=200), "a2 a3", id="committed at once: the higher number"
        ),
        pytest.param("", Keep(max_bytes=1), "", id="nothing there"),
    ],
)
def test_keep(given: str, keep: Keep, expected: str) -> None:
    kept = choose(runs(given), keep, NOW, lambda _: (100, 10))
    assert sorted(f"{one.job}{one.number}" for one in kept) == expected.split()


def test_what_running_sessions_hold_counts_against_the_limit() -> None:
    kept = choose(runs("a1@10 b1@20"), Keep(max_bytes=250), NOW, lambda _: (100, 10), base=(100, 0))
    assert [one.job for one in kept] == ["b"]


def test_shared_results_are_counted_once() -> None:
    sizes = iter([(100, 1), (0, 0), (100, 1)])
    assert len(choose(runs("a1@10 b1@20 c1@30"), Keep(max_bytes=100), NOW, lambda _: next(sizes))) == 2


def test_entries_of_running_sessions_count_too() -> None:
    kept = choose(runs("a1@10 b1@20"), Keep(max_entries=25), NOW, lambda _: (100, 10), base=(0, 10))
    assert [one.job for one in kept] == ["b"]


def test_without_a_base_nothing_is_held() -> None:
    assert len(choose(runs("a1@10"), Keep(max_bytes=100, max_entries=10), NOW, lambda _: (100, 10))) == 1


def test_what_is_kept_is_given_pinned_first_and_then_newest_first() -> None:
    kept = choose(runs("a1@10* b1@20 c1@30 d1@5*"), Keep(), NOW, lambda _: (0, 0))
    assert [one.job for one in kept] == ["a", "d", "c", "b"]


def test_generations_are_measured_only_where_there_is_a_limit() -> None:
    def measure(_: Candidate) -> tuple[int, int]:
        raise AssertionError("measuring reads every entry of a generation")

    assert len(choose(runs("a1@10 b1@20"), Keep(), NOW, measure)) == 2
    assert Candidate("a", 1, 0.0).pinned is False
