"""Chained jobs, several inputs, asking before running, checking for purity, running plainly, ways out."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from tests.events import nothing_ran, ran, reused, tasks

from .places import Place

WORDS = [f"word{n:x}" for n in range(400)]


def some_lines(count: int = 400, seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(WORDS[int(len(WORDS) ** rng.random()) - 1] for _ in range(6)) for _ in range(count)]


def words(_: object, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(word: str, counts: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, sum(counts)


def by_count(word: str, count: int) -> Iterator[tuple[int, str]]:
    yield count, word


def sorted_words(count: int, found: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    yield count, sorted(found)


def first_word(count: int, found: list[str]) -> Iterator[tuple[str, tuple[int, str]]]:
    yield "top", (count, found[0])


def ten_largest(key: str, found: Iterable[tuple[int, str]]) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    yield key, sorted(found, reverse=True)[:10]


COUNT = incoop.Job("count", words, total, total, shards=16)
GROUP = incoop.Job("group by count", by_count, sorted_words)
TOP = incoop.Job("top of each", first_word, ten_largest)


def chain(place: Place) -> tuple[incoop.Result, incoop.Result, incoop.Result]:
    counted = place.run(COUNT)
    grouped = place.session.run(GROUP, counted)
    return counted, grouped, place.session.run(TOP, grouped)


def expected_top(lines: list[str]) -> list[tuple[int, str]]:
    groups: dict[int, list[str]] = defaultdict(list)
    for word, count in Counter(word for line in lines for word in line.split()).items():
        groups[count].append(word)
    return sorted(((count, min(found)) for count, found in groups.items()), reverse=True)[:10]


def test_three_chained_jobs_stay_small_after_a_small_change(place: Place) -> None:
    lines = some_lines()
    place.write(lines)
    first = chain(place)
    *_, top = first
    assert top.as_dict() == {"top": expected_top(lines)}

    lines[200] = "word1 word2 unheard-of"
    place.write(lines)
    counted, grouped, top = chain(place)
    assert top.as_dict() == {"top": expected_top(lines)}
    assert counted.report.map.executed <= 2
    assert counted.report.keys_reduced <= 12
    # The words that changed lie in some output blocks of the first job; the others are not mapped again.
    assert reused(grouped) and reused(grouped) < ran(first[1]) and ran(grouped).isdisjoint(ran(first[1]))
    assert len(tasks(first[0]) - reused(counted)) <= 2
    assert grouped.report.keys_reduced <= 24

    before = {result.report.job: result.collect() for result in (counted, grouped, top)}
    again = chain(place)
    assert all(map(nothing_ran, again))
    assert [reused(result) for result in again] == [tasks(result) for result in (counted, grouped, top)]
    assert {result.report.job: result.collect() for result in again} == before


def left_rows(_: object, line: str) -> Iterator[tuple[str, tuple[str, str]]]:
    key, _, value = line.partition(",")
    yield key, ("left", value)


def right_rows(_: object, line: str) -> Iterator[tuple[str, tuple[str, str]]]:
    key, _, value = line.partition(",")
    yield key, ("right", value)


def joined(key: str, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, str]]]:
    found = list(rows)
    for side, left in found:
        for other, right in found:
            if (side, other) == ("left", "right"):
                yield key, (left, right)


def test_two_inputs_with_a_mapper_each_are_joined(place: Place) -> None:
    left, right = place.folder / "left.csv", place.folder / "right.csv"
    left.write_text("".join(f"k{n},left{n}\n" for n in range(300)))
    right.write_text("".join(f"k{n},right{n}\n" for n in range(100, 400)))
    job = incoop.Job("join", {"left": left_rows, "right": right_rows}, joined)
    inputs = {"left": str(left), "right": str(right)}
    first = place.session.run(job, inputs)
    assert first.as_dict() == {f"k{n}": (f"left{n}", f"right{n}") for n in range(100, 300)}

    right.write_text(right.read_text().replace("k150,right150", "k150,changed"))
    result = place.session.run(job, inputs)
    assert result.as_dict()["k150"] == ("left150", "changed")
    assert [(change.key, change.old, change.new) for change in result.changes()] == [
        ("k150", ("left150", "right150"), ("left150", "changed"))
    ]
    assert len(ran(result)) <= 2 and len(ran(first) - reused(result)) <= 2
    assert result.report.keys_reduced == 1
    with pytest.raises(incoop.BadCall, match="an input for each"):
        place.session.run(job, str(left))


def test_an_explanation_runs_nothing_and_says_why(place: Place) -> None:
    lines = some_lines()
    place.write(lines)
    said = place.session.explain(COUNT, str(place.input))
    assert said.reusable == 0 and said.why == "the job has not run in this store"
    place.run(COUNT)
    assert place.session.explain(COUNT, str(place.input)).why == "nothing changed"

    place.write([*lines[:100], "a new line", *lines[100:]])
    said = place.session.explain(COUNT, str(place.input))
    assert said.fresh_chunks <= 2 and said.why in ("1 chunk is new", "2 chunks are new")
    assert len(ran(place.run(COUNT))) == said.fresh_chunks

    other = incoop.Job("count", words, total, lambda word, counts: [(word, sum(counts) + 0)])
    assert "code changed" in place.session.explain(other, str(place.input)).why


def test_strict_refuses_what_could_reuse_too_little_and_runs_the_rest(place: Place) -> None:
    lines = some_lines()
    place.write(lines)
    with pytest.raises(incoop.TooLittleReuse, match=r"could reuse 0\.0%"):
        place.run(COUNT, strict=True)
    first = place.run(COUNT)
    place.write([*lines, "one more"])
    result = place.run(COUNT, strict=0.5)
    assert len(ran(result)) <= 2 and len(ran(first) - reused(result)) <= 1
    with pytest.raises(incoop.BadCall, match="between 0 and 1"):
        place.run(COUNT, strict=7)


def with_the_time(_: object, line: str) -> Iterator[tuple[str, float]]:
    yield line, time.time()


def with_the_length(_: object, line: str) -> Iterator[tuple[str, int]]:
    yield line, len(line)


def test_verify_finds_a_function_that_is_not_pure(place: Place) -> None:
    place.write(some_lines(50))
    impure = incoop.Job("impure", with_the_time, lambda key, values: [(key, max(values))])
    first = place.run(impure)
    assert any("time.time" in warning for warning in first.report.warnings)
    with pytest.raises(incoop.NotDeterministic, match=r"gave two results for the chunk at .*input\.txt, line"):
        place.run(impure, verify=1.0)
    pure = incoop.Job("pure", with_the_length, lambda key, values: [(key, max(values))])
    first = place.run(pure, verify=1.0)  # what it has just computed
    assert not nothing_ran(first)
    assert first.collect() == place.run(pure, verify=1.0).collect()


def test_a_job_that_is_not_memoized_runs_plainly_and_leaves_nothing(place: Place) -> None:
    lines = some_lines(100)
    place.write(lines)
    plain = incoop.Job("plain", words, total, total, memoize=False)
    for _ in range(2):
        result = place.run(plain)
        assert result.report.map.executed == result.report.map.tasks > 1
        assert result.as_dict() == Counter(word for line in lines for word in line.split())
    place.close_session()
    assert not list(place.store.glob("unmemoized-*"))
    assert not [path for path in (place.store / "memo" / "packs").rglob("*") if path.is_file()]


def averaged(key: str, values: Iterable[int]) -> Iterator[tuple[str, float]]:
    found = list(values)
    yield key, sum(found) / len(found)


def lengths(_: object, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word[:5], len(word)


def test_an_unsound_combiner_is_refused_with_key_and_both_results(place: Place) -> None:
    place.write(some_lines(100))
    unsound = incoop.Job("average", lengths, averaged, total)
    with pytest.raises(incoop.CombinerNotSound) as refused:
        place.run(unsound)
    assert refused.value.key == "'word1'" or refused.value.key.startswith("'word")
    assert refused.value.plain != refused.value.combined


def test_the_pairs_come_as_an_rdd_a_dataframe_and_part_files(place: Place) -> None:
    lines = some_lines(60)
    place.write(lines)
    result = place.run(COUNT)
    counts = Counter(word for line in lines for word in line.split())
    assert result.rdd().collectAsMap() == counts
    assert {row.key: row.value for row in result.dataframe().collect()} == counts
    out = place.folder / "out"
    assert len(result.save(out)) == 16
    assert (out / "_SUCCESS").exists()
    assert pairs_in(out) == counts

    lines[30] = "word1"
    place.write(lines)
    changed = place.run(COUNT)
    rewritten = changed.save(out)
    assert 0 < len(rewritten) <= 7
    assert pairs_in(out) == Counter(word for line in lines for word in line.split())
    assert changed.save(out) == []

    (out / "part-00003").write_text("someone was here\n")
    assert [path.name for path in changed.save(out)] == ["part-00003"]
    (out / "notes.txt").write_text("mine")
    with pytest.raises(incoop.IncoopError, match=r"holds notes\.txt"):
        changed.save(out)


def pairs_in(folder: Path) -> dict[str, int]:
    lines = [line for path in sorted(folder.glob("part-*")) for line in path.read_text().splitlines()]
    return {word: int(count) for word, count in (line.split("\t") for line in lines)}


def emits_much(_: object, line: str) -> Iterator[tuple[int, int]]:
    for number in range(int(line)):
        yield number % 70_000, number


def largest(key: int, values: Iterable[Any]) -> Iterator[tuple[int, int]]:
    yield key, max(values)


@pytest.mark.parametrize("combiner", [largest, None], ids=["combined", "not combined"])
@pytest.mark.long
def test_a_chunk_that_emits_more_than_fits_is_spilled(combiner: Any, place: Place) -> None:
    place.write(["2500000", "3"])
    result = place.run(incoop.Job("much", emits_much, largest, combiner))
    assert result.as_dict() == {key: key + 70_000 * ((2_499_999 - key) // 70_000) for key in range(70_000)}


def test_a_relative_store_stays_where_it_was_opened(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers are in the folder that Spark was started in, and the program may go elsewhere."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    lines = some_lines()
    (tmp_path / "here" / "text").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path / "here")
    with incoop.connect("store", spark=spark, blobs="packs") as session:
        assert dict(session.run(COUNT, "text")) == Counter(" ".join(lines).split())
        monkeypatch.chdir(tmp_path / "there")
        result = session.run(COUNT, tmp_path / "here" / "text")
        assert nothing_ran(result) and dict(result) == Counter(" ".join(lines).split())
    assert not list((tmp_path / "there").iterdir())
    assert sorted(each.name for each in (tmp_path / "here").iterdir()) == ["packs", "store", "text"]
