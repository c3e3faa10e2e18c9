"""Changed code runs again, as far as it reaches; code that only looks different does not."""

from __future__ import annotations

import random
from typing import Any

import pytest

import incoop
from tests.events import CONTRACT, nothing_ran, ran, reused

from .histories import as_set, by_hand, some_lines, spark_jobs
from .places import Place

FILES = {"input.txt": some_lines(random.Random(9), 300)}

SOURCE = """
WEIGHT = {weight}

def mapper(_, line):
    for word in line.split():
        yield word, {mapped}

def helper(values):
    return sum(values) + {helped}

def combiner(key, values):
    yield key, [*{combined}(values)][0]

def reducer(key, values):
    {comment}
    yield key, helper(values) * WEIGHT
"""
PLAIN = {"weight": 1, "mapped": "1", "helped": 0, "combined": "(lambda v: [sum(v)])", "comment": "pass"}


def made(**changed: Any) -> incoop.Job:
    """A job out of source text, with some of its pieces changed."""
    space: dict[str, Any] = {"__name__": "made_for_a_test"}
    exec(compile(SOURCE.format(**PLAIN | changed), "made.py", "exec"), space)
    return incoop.Job("made", space["mapper"], space["reducer"], space["combiner"])


@pytest.mark.parametrize(
    ("changed", "maps", "combines"),
    [
        pytest.param({"mapped": "2"}, True, True, id="a constant of the mapper"),
        pytest.param({"mapped": "len(word)"}, True, True, id="an expression of the mapper"),
        pytest.param({"combined": "(lambda v: [0 + sum(v)])"}, True, True, id="the combiner"),
        pytest.param({"weight": 3}, False, False, id="a global that the reducer reads"),
        pytest.param({"helped": 1}, False, False, id="a function that the reducer calls"),
    ],
)
def test_changed_code_gives_what_it_gives_from_scratch(
    changed: dict[str, Any], maps: bool, combines: bool, place: Place
) -> None:
    place.write(FILES)
    first = place.run(made())
    result = place.run(made(**changed))
    assert as_set(result.collect()) == as_set(by_hand(made(**changed), FILES))
    if maps:  # all chunks, under other ids
        assert reused(result) == set() and ran(result).isdisjoint(ran(first)) and len(ran(result)) == len(ran(first))
    else:
        assert ran(result) == ran(result, CONTRACT) == set()
        assert (reused(result), reused(result, CONTRACT)) == (ran(first), ran(first, CONTRACT))
    assert (result.report.map.executed > 0, result.report.combine.executed > 0) == (maps, combines)
    assert result.report.keys_reduced == result.report.keys_total
    before = spark_jobs(place.spark)
    back = place.run(made())
    assert nothing_ran(back) and reused(back) == ran(first)
    assert as_set(back.collect()) == as_set(by_hand(made(), FILES))
    assert spark_jobs(place.spark) == before  # what the old code gave is still known


def test_a_comment_runs_nothing_again(place: Place) -> None:
    place.write(FILES)
    first = place.run(made())
    before = spark_jobs(place.spark)
    result = place.run(made(comment="# that is all\n    pass"))
    assert nothing_ran(result) and reused(result) == ran(first)
    report = result.report
    assert (report.map.executed, report.combine.executed, report.keys_reduced) == (0, 0, 0)
    assert spark_jobs(place.spark) == before


def test_code_and_input_may_change_at_once(place: Place) -> None:
    place.write(FILES)
    place.run(made())
    files = {"input.txt": [*FILES["input.txt"][:100], "another line", *FILES["input.txt"][120:]]}
    place.write(files)
    for changed in ({"mapped": "3"}, {"weight": 2}, {"helped": 5}, {}):
        result = place.run(made(**changed))
        assert as_set(result.collect()) == as_set(by_hand(made(**changed), files))


def test_a_combiner_that_comes_goes_or_moves_to_other_keys_changes_no_result(place: Place) -> None:
    place.write(FILES)
    with_one = made()
    expected = as_set(by_hand(with_one, FILES))
    without = incoop.Job("made", with_one.mapper, with_one.reducer)

    def renamed(key: Any, values: Any) -> Any:
        yield f"{key}!", sum(values)

    wrong = incoop.Job("made", with_one.mapper, with_one.reducer, renamed)
    for job in (with_one, without, with_one):
        assert as_set(place.run(job).collect()) == expected
    for _ in range(2):
        before = spark_jobs(place.spark)
        result = place.run(wrong)
        assert as_set(result.collect()) == expected
        assert any("without the combiner" in warning for warning in result.report.warnings)
    assert spark_jobs(place.spark) == before  # what a combiner does is not tried again
    assert as_set(place.run(with_one).collect()) == expected
