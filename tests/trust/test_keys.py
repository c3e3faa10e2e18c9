"""Keys are the same when a dict says so, in a chunk, across chunks and after edits; or they are refused."""

from __future__ import annotations

import math
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incoop
from incoop.contraction.columns.encoding import UnfitKey, encode
from incoop.contraction.columns.keys import hash_of, hashes_of
from incoop.contraction.columns.normal import normal
from incoop.contraction.columns.run import Run, merge
from tests.cli.command import CALL
from tests.end_to_end.places import Place

from .keys import KEYS, UNFIT, Insensitive

Pairs = Iterator[tuple[Any, Any]]
FEW = st.lists(st.integers(0, len(KEYS) - 1), max_size=30)


def grouped(places: Iterable[int]) -> dict[Any, list[int]]:
    """Plain Python: what a dict takes for one key, shown as it came first, with values in input order."""
    groups: dict[Any, list[int]] = {}
    for number, place in enumerate(places):
        groups.setdefault(KEYS[place], []).append(number)
    return groups


def exactly(pairs: Iterable[tuple[Any, Any]]) -> dict[bytes, Any]:
    """By the keys as they are, to the type and the bit."""
    found = {encode(key): value for key, value in pairs}
    return found


@pytest.mark.parametrize("one", range(len(KEYS)))
def test_two_keys_are_one_if_a_dict_says_so(one: int) -> None:
    for other in range(len(KEYS)):
        together = len({KEYS[one]: 1, KEYS[other]: 2}) == 1
        assert (encode(normal(KEYS[one])) == encode(normal(KEYS[other]))) == together, KEYS[other]
        if together:
            assert hash_of(KEYS[one]) == hash_of(KEYS[other])
    assert hashes_of([KEYS[one]] * 2).tolist() == [hash_of(KEYS[one])] * 2


@given(chunks=st.lists(FEW, max_size=5))
def test_chunks_together_hold_the_keys_that_a_dict_holds(chunks: list[list[int]]) -> None:
    runs, first = [], 0
    for chunk in chunks:
        groups = {key: [value + first for value in values] for key, values in grouped(chunk).items()}
        runs.append(Run.from_bytes(Run.of_groups(groups).to_bytes()))
        first += len(chunk)
    assert exactly(merge(runs)[0].groups()) == exactly(grouped(place for chunk in chunks for place in chunk).items())


@pytest.mark.parametrize("nan", [math.nan, np.float32("nan"), Decimal("nan"), np.datetime64("NaT")], ids=repr)
def test_a_key_that_does_not_equal_itself_is_one_key(nan: Any) -> None:
    again = type(nan)("nan" if not isinstance(nan, np.datetime64) else "NaT")
    runs = [Run.of_groups({nan: [1], again: [2]}), Run.of_groups({again: [3]})]
    ((_, values),) = merge(runs)[0].groups()
    assert values == [1, 2, 3]


def emits(_: object, line: str) -> Pairs:
    place, number = line.split()
    yield KEYS[int(place)], int(number)


def total(key: Any, values: Iterable[int]) -> Pairs:
    yield key, sum(values)


def in_order(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, [value for each in values for value in (each if isinstance(each, list) else [each])]


JOBS = {
    "sums": incoop.Job("sums", emits, total, total, version="1"),
    "lists": incoop.Job("lists", emits, in_order, version="1"),
    "combined lists": incoop.Job("combined lists", emits, in_order, in_order, version="1"),
}


def by_dict(job: incoop.Job, lines: list[str]) -> dict[Any, Any]:
    groups: dict[Any, list[Any]] = {}
    assert callable(job.mapper) and job.reducer is not None
    for line in lines:
        for key, value in job.mapper(None, line):
            groups.setdefault(key, []).append(value)
    return dict(pair for key, values in groups.items() for pair in job.reducer(key, values))


@pytest.mark.parametrize("name", JOBS)
def test_a_job_gives_what_a_dict_gives_whatever_ran_before(name: str, place: Place) -> None:
    rng = random.Random(name)
    job = JOBS[name]
    lines = [f"{rng.randrange(len(KEYS))} {number}" for number in range(600)]
    before: dict[Any, Any] = {}
    for _ in range(5):
        place.write(lines)
        result = place.run(job)
        after = by_dict(job, lines)
        assert exactly(result) == exactly(after.items())
        changes = list(result.changes())
        assert {each.key: (each.old, each.new) for each in changes} == {
            key: (before.get(key), after.get(key))
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        }
        with place.scratch() as session:
            assert session.run(job, str(place.input)).root == result.root
        before = after
        at = rng.randrange(len(lines))  # the first of a key may come, go, or look otherwise
        lines = rng.choice(
            [
                [*lines[:3], f"{rng.randrange(len(KEYS))} 1000", *lines[3:]],
                [*lines[:at], f"{rng.randrange(len(KEYS))} 7", *lines[at + 1 :]],
                lines[40:],
                [f"{rng.randrange(len(KEYS))} 5" for _ in range(30)] + lines,
            ]
        )


@pytest.mark.parametrize("name", UNFIT)
def test_a_key_that_cannot_be_told_has_no_normal_form(name: str) -> None:
    with pytest.raises(UnfitKey, match=r"(tests\.trust\.keys|numpy)\.\w+ was emitted.*__incoop_key__"):
        normal(UNFIT[name])


def unfit(_: object, line: str) -> Pairs:
    yield UNFIT.get(line, line), 1


@pytest.mark.parametrize("combiner", [total, in_order, None], ids=["sum", "lists", "none"])
@pytest.mark.parametrize("name", ["text with a rule of its own", "in a pair", "an object without equality"])
def test_a_key_that_cannot_be_told_is_refused_before_anything_is_stored(name: str, combiner: Any, place: Place) -> None:
    job = incoop.Job("unfit", unfit, combiner or in_order, combiner, version="1")
    place.write([name, "plain"])
    with pytest.raises(UnfitKey, match="Emit a plain value that stands for it"):
        place.run(job)
    assert place.packs == []
    place.write(["other", "plain"])
    assert set(place.run(job).as_dict()) == {"other", "plain"}
    place.write(["other", "plain", name])
    with pytest.raises(UnfitKey):
        place.run(job)
    place.write(["other", "plain", "new"])
    assert [each.key for each in place.run(job).changes()] == ["new"]


#: Keys of which some two cannot be compared, or compare to nonsense.
UNORDERED: list[Any] = [
    *(1, "a", None, b"a", 1j, (1, "a"), ("a", 1), (None, 2), frozenset({1}), frozenset({2}), math.nan, Decimal("NaN")),
    *(int, KEYS[-1], "\ud800", "a\tb", 2.5, True),
]


def unordered(_: object, line: str) -> Pairs:
    yield UNORDERED[int(line.split()[0])], 1


def any_key(key: Any, values: Iterable[int]) -> Pairs:
    yield [key, {"of": key}], sum(values)
    yield np.array([1, 2]), 1
    yield UNFIT["an object without equality"], 2
    yield Insensitive("A"), 3


@pytest.mark.parametrize("reducer", [total, any_key, None], ids=["as emitted", "keys of any kind", "map only"])
def test_keys_that_cannot_be_ordered_leave_a_result_readable(reducer: Any, place: Place) -> None:
    job = incoop.Job("unordered", unordered, reducer, version="1")
    lines = [f"{number % len(UNORDERED)} {number}" for number in range(150)]
    for edit in ("", "0 edit"):
        if edit:
            lines[70] = edit
        place.write(lines)
        result = place.run(job)
        pairs = result.collect()
        with place.scratch() as session:
            assert [encode(each) for each in session.run(job, str(place.input))] == [encode(each) for each in pairs]
        assert len(list(result.changes())) > 0
        out = place.folder / "out"
        result.save(out)
        text = "".join(path.read_text(errors="surrogatepass") for path in sorted(out.glob("part-*")))
        assert len(text.splitlines()) >= len(pairs) > 0
        assert len(result.rdd().collect()) == len(pairs)
    if reducer is total:
        assert sum(value for _, value in pairs) == 150
        assert result.as_dict()["a"] > 1


def test_the_error_names_the_type_and_a_way_out() -> None:
    with pytest.raises(UnfitKey) as refused:
        normal(UNFIT["in a set"])
    assert refused.value.kind == "tests.trust.keys.Rounded"
    assert re.search(r"frozen dataclass.*NamedTuple.*__incoop_key__", str(refused.value))


COMMAND_JOB = """
import incoop

def mapper(_, line):
    yield [1, "a", None, (1, "a"), "\\ud800", 2j][int(line) % 6], 1

def total(key, values):
    yield key, sum(values)

job = incoop.Job("any keys", mapper, total, total)
"""


@pytest.mark.parametrize("options", [[], ["--changes"]], ids=["pairs", "changes"])
def test_the_command_prints_keys_that_cannot_be_ordered_or_encoded(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(COMMAND_JOB)
    (tmp_path / "text").write_text("".join(f"{number}\n" for number in range(60)))
    ended = subprocess.run(
        [sys.executable, "-c", CALL, "run", "job.py", "text", *options], cwd=tmp_path, capture_output=True, timeout=240
    )
    assert ended.returncode == 0, ended.stderr
    keys = {line.split("\t")[0] for line in ended.stdout.decode("utf-8", "surrogatepass").splitlines()}
    assert keys == {"1", "a", "None", "(1, 'a')", "\ud800", "2j"}
