"""A combiner that changes the result is refused before anything is reduced; one that does not is accepted."""

from __future__ import annotations

import contextlib
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import incoop
from incoop import inchdfs
from incoop.engine.stages.map_contract.rounding import alike, noise_of
from incoop.engine.stages.map_contract.soundness import Records, check_combiner
from tests.end_to_end.places import Place
from tests.fronts.mrjob_runs import Memoized, plain
from tests.fronts.streams import Streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Function = Callable[[Any, Iterable[Any]], Iterable[tuple[Any, Any]]]


def of_list(function: Callable[[list[Any]], Any]) -> Function:
    """A combiner or reducer that gives one value for all."""

    def combine(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        yield key, function(list(values))

    return combine


def numbers(_: object, line: str) -> Iterator[tuple[str, int]]:
    key, number, _ = line.split()
    yield key, int(number)


def ones(_: object, line: str) -> Iterator[tuple[str, int]]:
    yield line.split()[0], 1


def amounts(_: object, line: str) -> Iterator[tuple[str, float]]:
    key, _, amount = line.split()
    yield key, float(amount)


def texts(_: object, line: str) -> Iterator[tuple[str, str]]:
    yield line.split()[0], line.split()[1]


def some_lines(count: int = 3000) -> list[str]:
    """A key, a number, and an amount; the amounts of a key add up to nearly 0."""
    rng = random.Random(7)
    lines = []
    for _ in range(count // 2):
        key, amount = f"k{rng.randrange(12)}", rng.uniform(0.01, 1e7)
        lines += [f"{key} {rng.randrange(100)} {amount}", f"{key} {rng.randrange(100)} {-amount}"]
    rng.shuffle(lines)
    return lines


def first_ten(values: list[Any]) -> str:
    return ",".join(map(str, values[:10]))


def flat(lists: list[list[Any]]) -> list[Any]:
    return [value for each in lists for value in each]


def distinct(values: list[int]) -> int:
    return len(set(values))


def count(values: list[int]) -> int:
    return len(values)


def spread(values: list[int]) -> int:
    return max(values) - min(values)


def in_place(values: list[list[int]]) -> list[int]:
    for each in values[1:]:
        values[0].extend(each)
    return values[0]


UNSOUND: dict[str, tuple[Any, Any, Any]] = {
    "count": (ones, of_list(count), of_list(sum)),
    "len of a list": (ones, lambda key, values: [(key, len(list(values)))], of_list(sum)),
    "sum for a reducer that counts": (ones, of_list(sum), of_list(count)),
    "mean": (numbers, of_list(statistics.mean), of_list(statistics.mean)),
    "mean of floats": (amounts, of_list(statistics.fmean), of_list(statistics.fmean)),
    "median": (numbers, of_list(statistics.median), of_list(statistics.median)),
    "variance": (numbers, of_list(statistics.pvariance), of_list(statistics.pvariance)),
    "the first ten, for all": (texts, of_list(first_ten), of_list(",".join)),
    "text for numbers": (numbers, of_list(lambda v: str(sum(map(int, v)))), of_list(lambda v: max(map(str, v)))),
    "distinct count": (numbers, of_list(distinct), of_list(sum)),
    "spread": (numbers, of_list(spread), of_list(spread)),
    "the last and one": (numbers, of_list(lambda values: values[-1] + 1), of_list(sum)),
    "difference": (numbers, of_list(lambda values: values[0] - sum(values[1:])), of_list(sum)),
    "length": (texts, of_list(lambda values: len("".join(map(str, values)))), of_list(lambda v: sum(map(int, v)))),
    "a pair that it cannot take": (
        numbers,
        of_list(lambda v: (len(v), sum(v))),
        of_list(lambda v: sorted(map(str, v))),
    ),
    "reversed": (texts, of_list(lambda values: " ".join(reversed(values))), of_list(" ".join)),
    "drops one value alone": (numbers, lambda key, v: [(key, sum(v))] if len(v) > 2 else [], of_list(sum)),
    "a tiny sum and a bit": (
        lambda _, line: [(line.split()[0], float(line.split()[1]) * 1e-20)],
        of_list(lambda values: sum(values) * (1 + 1e-6)),
        of_list(sum),
    ),
}


@dataclass(frozen=True)
class Total:
    """A value with a float inside, and an equality that asks for all its digits."""

    count: int
    amount: float


class Plain:
    """A value without an equality of its own."""

    def __init__(self, amount: float) -> None:
        self.amount = amount


SOUND: dict[str, tuple[Any, Any, Any]] = {
    "sum": (numbers, of_list(sum), of_list(sum)),
    "max": (numbers, of_list(max), of_list(max)),
    "a ledger that adds up to nearly 0": (amounts, of_list(sum), of_list(sum)),
    "exact float sums": (amounts, of_list(sum), of_list(lambda values: sum(values) / 7)),
    "whether a balance is overdrawn": (amounts, of_list(sum), of_list(lambda values: sum(values) < 0)),
    "root of nearly 0": (amounts, of_list(sum), of_list(lambda values: math.sqrt(abs(sum(values))))),
    "pairs of sum and count, for a mean": (
        lambda _, line: [(line.split()[0], (float(line.split()[2]), 1))],
        of_list(lambda values: (sum(a for a, _ in values), sum(n for _, n in values))),
        of_list(lambda values: sum(a for a, _ in values) / sum(n for _, n in values)),
    ),
    "top three": (
        numbers,
        lambda key, values: [(key, value) for value in sorted(values)[-3:]],
        of_list(lambda values: sorted(values)[-3:]),
    ),
    "set union": (
        lambda _, line: [(line.split()[0], {int(line.split()[1])})],
        of_list(lambda values: set().union(*values)),
        of_list(lambda values: len(set().union(*values))),
    ),
    "concatenation, in place": (lambda _, line: [(line[:2], [int(line.split()[1])])], of_list(in_place), of_list(flat)),
    "counters": (
        lambda _, line: [(line.split()[0], Counter(line.split()[1]))],
        of_list(lambda values: sum(values, Counter())),
        of_list(lambda values: sum(values, Counter()).most_common(3)),
    ),
    "decimals": (
        lambda _, line: [(line.split()[0], Decimal(line.split()[2]))],
        of_list(lambda values: sum(values, Decimal(0))),
        of_list(lambda values: round(sum(values, Decimal(0)), 4)),
    ),
    "texts in order": (texts, of_list(" ".join), of_list(" ".join)),
    "dict merge, the last stays": (
        lambda _, line: [(line[:2], {line.split()[1]: line.split()[2]})],
        of_list(lambda values: {k: v for each in values for k, v in each.items()}),
        of_list(lambda values: {k: v for each in values for k, v in each.items()}),
    ),
    "bitwise or": (
        numbers,
        of_list(lambda values: int(np.bitwise_or.reduce(values))),
        of_list(lambda values: int(np.bitwise_or.reduce(values))),
    ),
    "first": (texts, of_list(lambda values: values[0]), of_list(lambda values: values[0])),
    "arrays": (
        lambda _, line: [(line.split()[0], np.array([float(line.split()[2]), 1.0]))],
        of_list(lambda values: np.sum(values, axis=0)),
        of_list(lambda values: np.sum(values, axis=0)),
    ),
    "dataclasses": (
        lambda _, line: [(line.split()[0], Total(1, float(line.split()[2])))],
        of_list(lambda values: Total(sum(t.count for t in values), sum(t.amount for t in values))),
        of_list(lambda values: Total(sum(t.count for t in values), sum(t.amount for t in values))),
    ),
    "objects without equality": (
        lambda _, line: [(line.split()[0], Plain(float(line.split()[2])))],
        of_list(lambda values: Plain(sum(each.amount for each in values))),
        of_list(lambda values: Plain(sum(each.amount for each in values))),
    ),
}


def reduced_plainly(mapper: Any, reducer: Any, lines: list[str]) -> list[tuple[Any, Any]]:
    groups: dict[Any, list[Any]] = {}
    for line in lines:
        for key, value in mapper(None, line):
            groups.setdefault(key, []).append(value)
    return sorted((pair for key, values in groups.items() for pair in reducer(key, values)), key=lambda pair: pair[0])


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_combiner_is_refused(name: str, place: Place) -> None:
    mapper, combiner, reducer = UNSOUND[name]
    place.write(some_lines())
    with pytest.raises(incoop.CombinerNotSound, match="the combiner changes the result: for key 'k"):
        place.run(incoop.Job(name, mapper, reducer, combiner))


@pytest.fixture
def large_chunks(spark: SparkSession, base: Path) -> Iterator[Place]:
    """A place where an input has few chunks: the sample is all that there is, and its amounts add up to nearly 0."""
    with contextlib.closing(Place(base, spark, inchdfs.ChunkSettings(average=1 << 18))) as place:
        yield place


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("chunks", ["place", "large_chunks"])
def test_a_sound_combiner_is_accepted_and_right(name: str, chunks: str, request: pytest.FixtureRequest) -> None:
    place: Place = request.getfixturevalue(chunks)
    mapper, combiner, reducer = SOUND[name]
    lines = some_lines(900)
    place.write(lines)
    result = place.run(incoop.Job(name, mapper, reducer, combiner))
    noise = noise_of([amount for line in lines for _, amount in amounts(None, line)])
    got, wanted = sorted(result, key=lambda pair: pair[0]), reduced_plainly(mapper, reducer, lines)
    if name == "root of nearly 0":  # the root of a rounding
        noise = noise_of([noise.floats**0.5 / 2**-52])
    if name != "whether a balance is overdrawn":
        assert alike(got, wanted, noise)
    assert [key for key, _ in got] == [key for key, _ in wanted]


def seldom(_: object, line: str) -> Iterator[tuple[int, int]]:
    yield int(line.split()[0]), 1


def test_keys_that_come_back_late_are_tried_all_the_same(place: Place) -> None:
    """No key comes twice among the first thousand records, nor in one chunk."""
    place.write([f"{number % 2500} {number}" for number in range(7500)])
    with pytest.raises(incoop.CombinerNotSound):
        place.run(incoop.Job("seldom", seldom, of_list(sum), of_list(count)))


def test_an_input_that_begins_small_is_tried_when_it_has_grown(place: Place) -> None:
    job = incoop.Job("grows", ones, of_list(sum), of_list(count))
    place.write(["a 1 1.0", "b 2 1.0"])
    assert place.run(job).as_dict() == {"a": 1, "b": 1}
    place.write(["a 1 1.0", "b 2 1.0", *some_lines(300)])
    with pytest.raises(incoop.CombinerNotSound):
        place.run(job)


def test_a_new_reducer_is_tried_with_an_old_combiner(place: Place) -> None:
    place.write(some_lines(600))
    place.run(incoop.Job("totals", ones, of_list(sum), of_list(sum)))
    with pytest.raises(incoop.CombinerNotSound):
        place.run(incoop.Job("totals", ones, of_list(count), of_list(sum)))


def test_a_combiner_that_passed_is_not_tried_again(place: Place) -> None:
    calls = place.folder / "calls"

    def noted(key: Any, values: Iterable[int]) -> Iterator[tuple[Any, int]]:
        with calls.open("a") as file:
            file.write("x")
        yield key, sum(values)

    lines = some_lines(600)
    job = incoop.Job("noted", ones, noted, of_list(sum))
    place.write(lines)
    first = place.run(job)
    assert calls.stat().st_size > 2 * first.report.keys_reduced
    calls.unlink()
    place.write([*lines, "k1 1 1.0"])
    again = place.run(job)
    assert again.report.map.executed > 0 and calls.stat().st_size == again.report.keys_reduced == 1


def test_the_trial_leaves_what_it_was_given_as_it_was() -> None:
    kept: list[list[int]] = []

    def mapper(_: object, line: str) -> Iterator[tuple[str, list[int]]]:
        kept.append([int(line)])
        yield "k", kept[-1]

    sample = [[(mapper, str(number)) for number in range(20)]]
    assert check_combiner(sample, of_list(in_place), of_list(flat)) == 20
    assert kept == [[number] for number in range(20)]


def test_functions_that_fail_are_left_to_the_run() -> None:
    def fails(*_: object) -> Any:
        raise ZeroDivisionError

    good: list[Records] = [[(ones, "a 1 1"), (ones, "a 1 1")]]
    assert check_combiner([[(fails, "a")]], of_list(sum), of_list(sum)) == 0
    assert check_combiner(good, fails, of_list(sum)) == 0
    assert check_combiner(good, of_list(sum), fails) == 0


def test_rounding_is_told_from_a_difference_by_the_size_of_what_went_in() -> None:
    ledger = [1e9, 0.1, -1e9, -0.1]
    assert alike(sum(ledger), 0.0, noise_of(ledger))
    assert not alike(1e-9, 0.0, noise_of([1e-9, 2e-9]))
    assert not alike(3, 4, noise_of([1e18]))
    assert alike([{"a": (0.1 + 0.2, math.nan)}], [{"a": (0.3, math.nan)}])
    assert not alike(np.array([1.0, 2.0]), np.array([1.0, 2.1]))
    assert not alike(np.array([1, 2]), [1, 2])
    assert alike(Decimal("0.10"), Decimal("0.1")) and not alike(Decimal("0.1"), Decimal("0.1000001"))
    assert alike({0.1 + 0.2, 1.0}, {0.3, 1.0}) and not alike({1, 2}, {1, 3})
    assert alike(Plain(0.1 + 0.2), Plain(0.3)) and not alike(Plain(1.0), Plain(2.0))
    assert not alike("a", b"a") and not alike(None, 0.0) and not alike([1], (1,))


MRJOB = """
from mrjob.job import MRJob

class Job(MRJob):
    def mapper(self, _, line):
        yield line.split()[0], 1

    def combiner(self, key, values):
        yield key, {combiner}

    def reducer(self, key, values):
        yield key, sum(values)

if __name__ == "__main__":
    Job.run()
"""


@pytest.mark.parametrize(
    ("combiner", "contracted"),
    [("len(list(values))", False), ("sum(values)", True), ("max(values)", False), ("sum(values) + 1", False)],
)
def test_mrjob_contracts_sound_combiners_only(
    combiner: str, contracted: bool, tmp_path: Path, spark: SparkSession, place: Place
) -> None:
    lines = some_lines(1000)
    job, text = tmp_path / "job.py", tmp_path / "text"
    job.write_text(MRJOB.format(combiner=combiner))
    text.write_text("".join(f"{line}\n" for line in lines))
    memoized = Memoized(place.session)
    got = memoized(job, text)
    assert ("map tasks only" not in " ".join(memoized.runner.notes)) == contracted
    if contracted:
        assert sorted(got.splitlines()) == sorted(plain(job, text).splitlines())


AWK = {
    "count": ('{ n[$1]++ } END { for (k in n) print k "\\t" n[k] }', False),
    "sum": ('{ n[$1] += $2 } END { for (k in n) print k "\\t" n[k] }', True),
    "mean": ('{ n[$1] += $2; m[$1]++ } END { for (k in n) print k "\\t" n[k] / m[k] }', False),
    "at most five": ('{ n[$1] += $2 } END { for (k in n) print k "\\t" (n[k] > 5 ? 5 : n[k]) }', False),
}


@pytest.mark.parametrize("name", AWK)
def test_streaming_refuses_unsound_combiners(name: str, tmp_path: Path, spark: SparkSession) -> None:
    program, sound = AWK[name]
    streams = Streams(tmp_path, spark)
    streams.write(some_lines(600))
    combine, total = streams.program("combine.awk", program), streams.program("total.awk", AWK["sum"][0])
    mapper = "awk '{ print $1 \"\\t1\" }'"
    call = ["-files", f"{combine},{total}", "-mapper", mapper, "-reducer", "awk -f total.awk"]
    try:
        if sound:
            output, _ = streams.run(*call, "-combiner", "awk -f combine.awk")
            wanted = Counter(line.split()[0] for line in some_lines(600))
            assert dict(line.split("\t") for line in output.decode().splitlines()) == {
                key: str(number) for key, number in wanted.items()
            }
        else:
            with pytest.raises(incoop.IncoopError, match="changes the result"):
                streams.run(*call, "-combiner", "awk -f combine.awk")
    finally:
        streams.session.close()


def test_a_combiner_that_was_tried_while_a_read_was_found_counts_as_tried(place: Place) -> None:
    """The ids are made anew then, and the run begins again; what the trial cost is not paid again."""
    calls, weight = place.folder / "calls", place.folder / "weight"
    weight.write_text("1")

    def weighed(_: object, line: str) -> Iterator[tuple[str, int]]:
        yield line.split()[0], int(weight.read_text())

    def noted(key: Any, values: Iterable[int]) -> Iterator[tuple[Any, int]]:
        with calls.open("a") as file:
            file.write("x")
        yield key, sum(values)

    lines = some_lines(600)
    job = incoop.Job("weighed", weighed, noted, of_list(sum))
    place.write(lines)
    place.run(job)
    calls.unlink()
    place.write([*lines, "k1 1 1.0"])
    again = place.run(job)
    assert again.report.map.executed > 0 and calls.stat().st_size == again.report.keys_reduced == 1
