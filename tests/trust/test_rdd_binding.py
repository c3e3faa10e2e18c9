"""The RDD way in binds as PySpark does: what a function captured is what it was when PySpark pickles it.

Every program below runs on plain Spark and memoized: cold, again with everything memoized, and with another value.
"""

from __future__ import annotations

import json
import operator
import os
import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from incoop.fronts.rdd.entry_points import patched
from incoop.fronts.rdd.submit import Programs, run_script
from tests.fronts.harness import CHUNKS

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import SparkSession

# The loops below are the point: functions that capture the loop's variable.
# ruff: noqa: B023

#: A global that programs read in functions, and assign.
FACTOR = 1


class Program:
    """What a program has at hand; under `patched`, its context gives memoized RDDs."""

    def __init__(self, context: SparkContext, file: Path, value: int) -> None:
        self.context, self.file, self.value = context, file, value

    def lines(self) -> RDD[str]:
        return self.context.textFile(str(self.file))

    def pairs(self) -> RDD[Any]:
        return self.lines().map(str.split).map(lambda words: (words[0], int(words[1])))


def listed(rdd: RDD[Any]) -> list[Any]:
    return sorted(rdd.collect(), key=repr)


def all_of(rdds: list[RDD[Any]]) -> list[Any]:
    return [listed(rdd) for rdd in rdds]


# Loops: RDDs that are made in one, and collected after it. Two tell whether each has a value of its own or all have the
# last one's; where one is built on the other there are three.


def reduced_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().mapValues(lambda v: v * i).reduceByKey(operator.add))
    return all_of(made)


def grouped_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().map(lambda pair: (pair[1] % (i + 1), 1)).groupByKey().mapValues(len))
    return all_of(made)


def distinct_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().map(lambda pair: pair[1] // (10 * i)).distinct())
    return all_of(made)


def joined_in_a_loop(p: Program) -> Any:
    made = []
    sums = p.pairs().reduceByKey(operator.add)
    for i in range(p.value, p.value + 2):
        scaled = p.pairs().mapValues(lambda v: v * i).reduceByKey(max)
        made += [sums.join(scaled), sums.leftOuterJoin(scaled.filter(lambda pair: pair[1] > 100 * i))]
        made += [sums.mapValues(lambda v: v + i).cogroup(scaled).mapValues(lambda both: [sorted(one) for one in both])]
        made += [sums.subtractByKey(scaled.filter(lambda pair: pair[1] > 100 * i))]
    return all_of(made)


def cached_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().mapValues(lambda v: v * i).cache())
    return all_of(made), [rdd.values().sum() for rdd in made], [rdd.count() for rdd in made]


def united_in_a_loop(p: Program) -> Any:
    rdd = p.pairs().filter(lambda pair: False)
    for i in range(p.value, p.value + 3):
        rdd = rdd.union(p.pairs().mapValues(lambda v: v * i))
    plain = p.context.parallelize([("plain", 1)]).mapValues(lambda v: v * i)
    both = rdd.union(plain)
    i = 50
    return listed(rdd), listed(both), listed(plain)


def sorted_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().distinct().sortBy(lambda pair: (pair[1] % (i + 1), pair)))
    return [rdd.collect() for rdd in made]


def divided_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().partitionBy(3, lambda key: len(key) * i + int(key[1:])))
        made.append(p.pairs().mapValues(lambda v: v + i).repartition(3))
        made.append(p.pairs().mapValues(lambda v: v + i).coalesce(1))
        made.append(p.pairs().mapValues(lambda v: v + i).reduceByKey(operator.add, 3, lambda key: int(key[1:]) * i))
    placed = [[sorted(part) for part in rdd.glom().collect()] for rdd in made if rdd.partitioner]
    return placed, all_of(made), [rdd.getNumPartitions() for rdd in made]


def chained_in_a_loop(p: Program) -> Any:
    rdd, wide = p.pairs(), p.pairs()
    for i in range(p.value, p.value + 3):
        rdd = rdd.mapValues(lambda v: v * i)  # only steps: they all see the last value
        wide = wide.mapValues(lambda v: v * i).reduceByKey(operator.add)
    return listed(rdd), listed(wide)


def narrow_steps_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().mapValues(lambda v: v * i))
    return all_of(made)


def defaults_and_partials_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().mapValues(lambda v, i=i: v * i))
        made.append(p.pairs().mapValues(partial(operator.mul, i)).reduceByKey(max))
    return all_of(made)


def broadcasts_and_accumulators_in_a_loop(p: Program) -> Any:
    made, seen = [], []
    for i in range(p.value, p.value + 2):
        shared, count = p.context.broadcast([i]), p.context.accumulator(0)

        def look(v: int) -> int:
            count.add(shared.value[0])
            return v * shared.value[0]

        made.append(p.pairs().mapValues(look).reduceByKey(operator.add))
        seen.append(count)
    return all_of(made), [count.value for count in seen]


# One RDD, and a variable that changes.


def two_actions_of_one_rdd(p: Program) -> Any:
    factor = p.value
    rdd = p.pairs().mapValues(lambda v: v * factor)
    untouched = p.pairs().mapValues(lambda v: v * factor)
    found = [listed(rdd), rdd.values().sum(), rdd.count(), rdd.take(2)]
    factor += 1
    found += [listed(rdd), rdd.values().sum(), rdd.take(2), rdd.first(), listed(untouched)]
    factor += 1
    return [*found, listed(rdd), listed(rdd.map(str)), rdd.values().max(), listed(untouched), untouched.take(1)]


def cached_before_and_after(p: Program) -> Any:
    factor = p.value
    rdd = p.pairs().mapValues(lambda v: v * factor)
    live = rdd.mapValues(lambda v: v + factor)
    rdd.cache()
    kept = rdd.mapValues(lambda v: v + factor)
    factor += 10
    found = [listed(rdd), listed(live), listed(kept), rdd.values().sum(), rdd.lookup("k1")]
    rdd.unpersist()
    return [*found, rdd.values().sum(), listed(rdd), listed(rdd.keys()), listed(rdd.mapValues(lambda v: -v))]


def a_parent_of_two_wide_steps(p: Program) -> Any:
    factor = p.value
    scaled = p.pairs().mapValues(lambda v: v * factor)
    sums = scaled.reduceByKey(operator.add)
    factor += 1
    largest = scaled.reduceByKey(max)
    factor += 1
    return listed(sums), listed(largest), listed(scaled), sums.count(), largest.values().sum()


def a_container_that_grows(p: Program) -> Any:
    stop = [f"k{p.value}"]
    kept = p.pairs().filter(lambda pair: pair[0] not in stop)
    cached = p.pairs().filter(lambda pair: pair[0] not in stop).cache()
    sums = kept.reduceByKey(operator.add)
    stop.append("k7")
    return listed(kept), listed(cached), listed(sums), kept.count(), cached.count(), sums.count()


class Weight:
    """Found by its name in workers; an object of it travels."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def of(self, value: int) -> int:
        return value * self.factor


def an_object_that_changes(p: Program) -> Any:
    weight = Weight(p.value)
    sums = p.pairs().mapValues(weight.of).reduceByKey(operator.add)
    groups = p.pairs().mapValues(lambda v: weight.of(v)).groupByKey().mapValues(lambda vs: sum(vs) * weight.factor)
    weight.factor += 10
    return listed(sums), listed(groups)


def a_global_that_is_assigned(p: Program) -> Any:
    global FACTOR
    FACTOR = p.value
    sums = p.pairs().mapValues(lambda v: v * FACTOR).reduceByKey(operator.add)
    cached, steps = sums.mapValues(lambda v: v + FACTOR).cache(), sums.mapValues(lambda v: v + FACTOR)
    FACTOR += 10
    return listed(sums), listed(cached), listed(steps), listed(sums.map(lambda pair: pair[1] * FACTOR))


def helpers_that_make_functions(p: Program) -> Any:
    state = {"factor": p.value}

    def times() -> Callable[[int], int]:
        return lambda v: v * state["factor"]

    def scaled(rdd: RDD[Any]) -> RDD[Any]:
        return rdd.mapValues(times()).reduceByKey(operator.add).mapValues(times())

    first = scaled(p.pairs())
    state["factor"] += 1
    second = scaled(p.pairs())
    state = {"factor": 100}
    return listed(first), listed(second)


# The side that merges is bound with what follows.


def merged_with_another_value(p: Program) -> Any:
    modulus = 1000 * p.value
    sums = p.pairs().reduceByKey(lambda a, b: (a + b) % modulus)
    halves = p.pairs().combineByKey(lambda v: v, lambda a, v: a + v, lambda a, b: (a + b) % modulus)
    bound = sums.mapValues(str).groupByKey().mapValues(list)
    modulus = 97
    found = [listed(sums), listed(halves), listed(bound)]
    modulus = 31
    after = [listed(sums), listed(sums.mapValues(lambda v: v + 1)), sums.values().sum(), listed(bound), sums.count()]
    return found, after, listed(halves.groupByKey().mapValues(sum)), listed(sums.distinct())


def merged_in_a_loop(p: Program) -> Any:
    made = []
    for i in range(p.value, p.value + 2):
        made.append(p.pairs().reduceByKey(lambda a, b: max(a, b, 60 * i)))
        made.append(p.pairs().aggregateByKey(i, lambda a, v: a + v, lambda a, b: a + b - i, 3))
        made.append(p.pairs().foldByKey(0, lambda a, v: (a + v) % (1000 - i)))
    return all_of(made)


def merged_and_handed_to_plain_spark(p: Program) -> Any:
    modulus = 1000 * p.value
    sums = p.pairs().reduceByKey(lambda a, b: (a + b) % modulus)
    numbered = sums.mapPartitionsWithIndex(lambda number, part: (pair for pair in part))
    paired = sums.sortByKey().zip(sums.sortByKey().map(lambda pair: modulus))
    modulus = 89
    return listed(numbered), paired.collect(), listed(sums.filter(lambda pair: pair[1] % 2).pipe("cat"))


def no_shuffle_no_binding(p: Program) -> Any:
    factor = p.value
    by_hash = p.pairs().reduceByKey(operator.add, 4)
    again = by_hash.mapValues(lambda v: v * factor).reduceByKey(lambda a, b: a + b + factor, 4)
    grouped = by_hash.mapValues(lambda v: v * factor).groupByKey(4).mapValues(sum)
    moved = by_hash.mapValues(lambda v: v * factor).groupByKey(3).mapValues(sum)
    same, other = (by_hash.mapValues(lambda v: v * factor).partitionBy(n) for n in (4, 5))
    factor = 1000
    return all_of([again, grouped, moved, same, other, grouped.map(str)])


def default_partitions_that_need_no_shuffle(p: Program) -> Any:
    factor = p.value
    sums = p.pairs().reduceByKey(operator.add)
    grouped = sums.mapValues(lambda v: v * factor).groupByKey().mapValues(sum)
    moved = sums.map(lambda pair: (pair[0], pair[1] * factor)).groupByKey().mapValues(sum)
    factor = 1000
    return all_of([grouped, moved, grouped.filter(lambda pair: pair[1] > factor)])


# Sorts and numbers, for which PySpark runs a job when they are defined.


def sorted_by_another_key(p: Program) -> Any:
    shift = p.value
    keys = p.pairs().map(lambda pair: (pair[1], 1)).reduceByKey(operator.add)
    by_key = keys.sortByKey(keyfunc=lambda k: k + shift)
    one = keys.map(lambda pair: (pair[0] * shift, pair[1])).coalesce(1).sortByKey(numPartitions=1)
    nothing = keys.filter(lambda pair: pair[0] > 1000 - shift).sortByKey(False)
    shift = 990
    return by_key.collect(), one.collect(), sorted(nothing.collect())


def numbered_before_a_change(p: Program) -> Any:
    least = 10 * p.value
    numbered = p.pairs().filter(lambda pair: pair[1] >= least).zipWithIndex()
    first = numbered.collect()
    live = numbered.map(lambda pair: (pair[1], pair[0]))
    least += 40
    return first, numbered.collect(), live.collect(), numbered.count(), listed(live.groupByKey().mapValues(list))


# What else binds.


def what_binds_an_rdd(p: Program) -> Any:
    p.context.setCheckpointDir(str(p.file.parent / "checkpoints"))
    factor = p.value
    touches: list[Callable[[RDD[Any]], Any]] = [
        *(lambda rdd: rdd.setName("named"), lambda rdd: rdd.name(), lambda rdd: rdd.id(), repr),
        *(lambda rdd: rdd.getStorageLevel(), lambda rdd: rdd.cartesian(rdd), lambda rdd: rdd.union(rdd)),
        *(lambda rdd: rdd.checkpoint(), lambda rdd: rdd.coalesce(1), lambda rdd: rdd.zip(rdd)),
    ]
    others: list[Callable[[RDD[Any]], Any]] = [
        *(lambda rdd: rdd.getNumPartitions(), lambda rdd: rdd.mapValues(str), lambda rdd: rdd.repartition(2)),
        *(lambda rdd: rdd.reduceByKey(max), lambda rdd: rdd.take(1), lambda rdd: rdd.sample(False, 0.5)),
    ]
    made = [p.pairs().mapValues(lambda v: v * factor) for _ in [*touches, *others]]
    for touch, rdd in zip([*touches, *others], made, strict=True):
        touch(rdd)
    factor += 10
    again = [rdd.union(p.lines().map(lambda line: (line, factor))) for rdd in made] + [rdd.coalesce(1) for rdd in made]
    factor += 10
    return [rdd.values().sum() for rdd in made], all_of(made), all_of(again)


def what_is_made_by_plain_spark(p: Program) -> Any:
    factor = p.value
    rdd = p.pairs().mapValues(lambda v: v * factor)
    small = p.pairs().map(lambda pair: pair[1] * factor).distinct().filter(lambda v: v < 20 * factor)
    crossed, zipped = small.cartesian(small), rdd.zip(rdd.map(lambda pair: factor))
    numbered = rdd.zipWithUniqueId()
    ordered = rdd.repartitionAndSortWithinPartitions(2, lambda key: int(key[1:]) * factor)
    factor += 5
    return [*all_of([crossed, zipped, numbered]), [sorted(part) for part in ordered.glom().collect()]]


def what_cannot_be_pickled(p: Program) -> Any:
    lock = threading.Lock()
    locked = p.pairs().mapValues(lambda v: (v, lock))
    steps: list[Callable[[], Any]] = [
        lambda: locked.reduceByKey(max),
        lambda: p.pairs().reduceByKey(lambda a, b: max(a, b, key=lambda v: (lock, v))),
        lambda: p.pairs().combineByKey(lambda v: (v, lock), lambda a, v: a, lambda a, b: a),
        lambda: p.pairs().partitionBy(2, lambda key: hash((key, lock))),
        lambda: p.pairs().map(lambda pair: p.context.parallelize([pair])).distinct(),
        lambda: p.pairs().map(lambda pair: locked.count()).groupBy(operator.itemgetter(0)),
        *(locked.cache, locked.distinct, locked.groupByKey, lambda: locked.join(locked)),
        *(lambda: locked.union(p.pairs()), lambda: locked.map(str) and "steps alone raise nothing"),
        lambda: locked.count(),
    ]
    found: list[Any] = []
    for step in steps:
        try:
            found.append(isinstance(step(), object))
        except Exception as error:
            found.append(type(error).__name__)
    return found


class OnlyThere:
    """Loads in a worker alone."""

    def __init__(self, here: int, factor: int) -> None:
        self.here, self.factor = here, factor

    def __getstate__(self) -> Any:
        return self.here, self.factor

    def __setstate__(self, state: Any) -> None:
        self.here, self.factor = state
        if os.getpid() == self.here:
            raise RuntimeError("not on the driver")

    def of(self, value: int) -> int:
        return value * self.factor


def what_loads_in_workers_alone(p: Program) -> Any:
    there = OnlyThere(os.getpid(), p.value)
    sums = p.pairs().mapValues(lambda v: there.of(v)).reduceByKey(operator.add)
    largest = p.pairs().reduceByKey(lambda a, b: max(a, b, there.of(10)))
    placed = p.pairs().partitionBy(2, lambda key: there.of(int(key[1:])))
    grouped = p.pairs().groupByKey(2, lambda key: there.of(int(key[1:]))).mapValues(sum)
    in_order = p.pairs().map(lambda pair: (pair[1], 0)).distinct().sortByKey(keyfunc=lambda k: there.of(k))
    there.factor += 1
    return all_of([sums, largest, placed, grouped]), in_order.count()


PROGRAMS = [
    *(reduced_in_a_loop, grouped_in_a_loop, distinct_in_a_loop, joined_in_a_loop, cached_in_a_loop, united_in_a_loop),
    *(sorted_in_a_loop, divided_in_a_loop, chained_in_a_loop, narrow_steps_in_a_loop, defaults_and_partials_in_a_loop),
    *(broadcasts_and_accumulators_in_a_loop, two_actions_of_one_rdd, cached_before_and_after),
    *(a_parent_of_two_wide_steps, a_container_that_grows, an_object_that_changes, a_global_that_is_assigned),
    *(helpers_that_make_functions, merged_with_another_value, merged_in_a_loop, merged_and_handed_to_plain_spark),
    *(no_shuffle_no_binding, default_partitions_that_need_no_shuffle, sorted_by_another_key, numbered_before_a_change),
    *(what_binds_an_rdd, what_is_made_by_plain_spark, what_cannot_be_pickled, what_loads_in_workers_alone),
]


@pytest.fixture
def programs(spark: SparkSession, base: Path) -> Iterator[Callable[[], Programs]]:
    """Makes what `incoop submit` makes for a program; each is closed before the next, as in a process of its own."""
    made: list[Programs] = []

    def make() -> Programs:
        for program in made:
            program.close_all()
        made.append(Programs("binding.py", store=base / "binding", chunks=CHUNKS))
        return made[-1]

    yield make
    for program in made:
        program.close_all()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = random.Random(3)
    file = tmp_path / "pairs"
    file.write_text("".join(f"k{rng.randrange(12)} {rng.randrange(100)} {'pad' * 5}\n" for _ in range(240)))
    return file


@pytest.mark.parametrize("run", PROGRAMS)
def test_a_program_binds_as_pyspark_does(
    run: Callable[[Program], Any], programs: Callable[[], Programs], spark: SparkSession, file: Path
) -> None:
    context = spark.sparkContext
    for value in (1, 2):
        theirs = run(Program(context, file, value))
        for warm in (False, True):
            made = programs()
            with patched(made):
                assert run(Program(context, file, value)) == theirs
            executed = [report.map.executed for program in made.all for report in program.reports]
            assert not warm or not any(executed)


#: Of a script, everything travels by value: functions and classes of its own, and its globals.
SCRIPT = """
import json, sys
from enum import Enum
from pyspark import SparkContext

file, factor, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
pairs = SparkContext.getOrCreate().textFile(file).map(str.split).map(lambda words: (words[0], int(words[1])))
found = []

class Settings:
    factor = factor
    limits = [factor]

class Scale(Settings):
    def of(self, v):
        return v * self.factor + len(self.limits)

class Size(Enum):
    SMALL, LARGE = 1, 2

def of(v):
    return v + factor

def applied(v):
    return of(v)

def is_small(v):
    return Size.SMALL if v < 50 else Size.LARGE

made = []
for factor in range(factor, factor + 2):
    Settings.factor = factor
    made.append(pairs.mapValues(lambda v: v * Settings.factor).reduceByKey(lambda a, b: a + b))
    made.append(pairs.mapValues(Scale().of).reduceByKey(max))
    made.append(pairs.mapValues(applied).cache())
    made.append(pairs.mapValues(of))
    made.append(pairs.map(lambda pair: (is_small(pair[1]).name, 1)).reduceByKey(lambda a, b: a + b))

smallest = pairs.groupByKey().mapValues(min).groupByKey().mapValues(list)
sums = pairs.map(lambda pair: (pair[0], sum([pair[1], factor]))).distinct()

def of(v):
    return -v

def sum(these):
    return 0

Settings.limits.append(5)
Settings.factor, min = 1000, max
found = [sorted(rdd.collect()) for rdd in [*made, smallest, sums]]
sizes = pairs.mapValues(is_small).collect()
scales = pairs.map(lambda pair: (pair[0], Scale())).reduceByKey(lambda a, b: a).collect()
found.append([{size for _, size in sizes} == {Size.SMALL, Size.LARGE}, {type(scale) is Scale for _, scale in scales}])
found[-1][1] = len(found[-1][1]) == 1
json.dump([found, Settings.factor, Settings.limits], open(out, "w"))
"""


def test_a_script_binds_its_globals_functions_and_classes_as_pyspark_does(
    programs: Callable[[], Programs], spark: SparkSession, file: Path, tmp_path: Path
) -> None:
    script, out = tmp_path / "script.py", tmp_path / "out.json"
    script.write_text(SCRIPT)

    def run(value: int) -> Any:
        assert run_script(str(script), [str(file), str(value), str(out)]) == 0
        return json.loads(out.read_text())

    for value in (1, 3):
        theirs = run(value)
        for warm in (False, True):
            made = programs()
            with patched(made):
                assert run(value) == theirs
            executed = [report.map.executed for program in made.all for report in program.reports]
            assert executed and (not warm or not any(executed))
