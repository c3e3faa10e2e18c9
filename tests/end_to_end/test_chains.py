"""Jobs on results of jobs: a change goes through the chain as a change, and the chain gives what it gives from scratch.

In processes of our own: no Spark is started.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import incoop
from incoop import inchdfs
from incoop.engine.events import DidExecute

from ..contract.test_equal_hashes import ALIKE
from ..events import nothing_ran, ran, reused
from .histories import as_set
from .places import as_bytes

Pairs = Iterator[tuple[Any, Any]]
Lines = list[str]

TIED = [key for keys in ALIKE for key in keys]


def amounts(_: Any, line: str) -> Pairs:
    """Some keys are texts, some are numbers with equal hashes."""
    name, amount = line.split()
    yield (TIED[int(name[1:])] if name[0] == "t" else name), int(amount)


def total(key: Any, values: Iterable[int]) -> Pairs:
    yield key, sum(values)


def some_totals(key: Any, values: Iterable[int]) -> Pairs:
    """Keys are dropped, keys give two pairs, and what was seen is counted beside them."""
    incoop.counter("keys")
    found = sum(values)
    if found % 7:
        yield key, found
    if found % 5 == 0:
        yield "fives", found


def by_end(key: Any, found: int) -> Pairs:
    """Few keys, a sum."""
    yield found % 10, found


def tied_again(key: Any, found: int) -> Pairs:
    yield TIED[found % 9], 1


def tenths(key: Any, found: int) -> Pairs:
    """Floats, whose last digits show in which order they are added up."""
    incoop.counter("pairs")
    yield found % 12, found / 10


def added(key: Any, values: Iterable[Any]) -> Pairs:
    """A combiner that is known to nobody."""
    result = 0
    for value in values:
        result += value
    yield key, result


def names(key: Any, found: int) -> Pairs:
    yield found % 40, str(key)


def in_order(key: Any, found: Iterable[str]) -> Pairs:
    yield key, sorted(found)


def sizes(key: Any, found: Any) -> Pairs:
    """Of sums and of lists; no float lies so near the limit that its last digits matter."""
    size = len(found) if isinstance(found, list) else found
    yield ("large" if size > 500.05 else "small"), 1


#: One shard: a block of all keys, in which there are leaves.
SUMS = incoop.Job("sums", amounts, total, total, shards=1)
SOME = incoop.Job("some", amounts, some_totals, total, shards=1)
MAPPED = incoop.Job("mapped", amounts, None)

SECONDS = {
    "sum": incoop.Job("second", by_end, total, total),
    "equal hashes": incoop.Job("second", tied_again, total, total),
    "unknown combiner": incoop.Job("second", tenths, added, added),
    "no combiner": incoop.Job("second", names, in_order),
}
THIRD = incoop.Job("third", sizes, total, total)


def grouped(pairs: Iterable[tuple[Any, Any]], job: incoop.Job) -> list[tuple[Any, Any]]:
    """What a job gives on some records, by plain means."""
    assert callable(job.mapper)
    groups: dict[Any, list[Any]] = defaultdict(list)
    mapped = [pair for record in pairs for pair in job.mapper(*record)]
    if job.reducer is None:
        return mapped
    for key, value in mapped:
        groups[key].append(value)
    return [pair for key, values in groups.items() for pair in job.reducer(key, values)]


def some_lines(rng: random.Random, count: int = 900) -> Lines:
    lines = [f"k{rng.randrange(700)} {rng.randrange(1000)}" for _ in range(count)]
    return lines + [f"t{number} {rng.randrange(1000)}" for number in rng.sample(range(9), 5)]


EDITS = ["insert", "delete", "change", "vanish", "come back", "stay equal", "tie"]


def edited(lines: Lines, edit: str, rng: random.Random, first: Lines) -> Lines:
    lines = list(lines)
    at = rng.randrange(len(lines))
    name = lines[at].split()[0]
    match edit:
        case "insert":
            lines.insert(at, f"new{rng.randrange(1000)} {rng.randrange(1000)}")
        case "delete":
            del lines[at]
        case "change":
            lines[at] = f"{name} {rng.randrange(1000)}"
        case "vanish":
            lines = [line for line in lines if line.split()[0] != name]
        case "come back":
            lines.insert(at, rng.choice(first))
        case "stay equal":  # the lines change, the key's sum does not
            lines[at:at] = [f"{name} 17", f"{name} -17"]
        case "tie":
            lines.insert(at, f"t{rng.randrange(9)} {rng.randrange(1000)}")
    return lines


@st.composite
def histories(draw: st.DrawFn) -> list[Lines]:
    rng = random.Random(draw(st.integers(0, 1 << 30)))
    versions = [some_lines(rng)]
    for edits in draw(st.lists(st.lists(st.sampled_from(EDITS), min_size=1, max_size=4), min_size=2, max_size=4)):
        after = versions[-1]
        for edit in edits:
            after = edited(after, edit, rng, versions[0])
        versions.append(after)
    return versions


class Chain:
    """Jobs, each on the result of the one before, on a file in a folder of its own."""

    def __init__(self, base: Path, jobs: Sequence[incoop.Job]) -> None:
        folder = Path(tempfile.mkdtemp(dir=base))
        self.jobs, self.path = jobs, folder / "input.txt"
        self.session = incoop.connect(folder / "store", chunks=inchdfs.ChunkSettings(average=4096))

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def run(self, lines: Lines) -> list[incoop.Result]:
        self.path.write_bytes(as_bytes(lines))
        results: list[incoop.Result] = []
        for job in self.jobs:
            results.append(self.session.run(job, results[-1] if results else str(self.path)))
            assert results[-1].report.warnings == []
        return results


def by_hand(jobs: Sequence[incoop.Job], lines: Lines) -> list[list[tuple[Any, Any]]]:
    """What each of the jobs gives."""
    given: list[list[tuple[Any, Any]]] = [[(None, line) for line in lines]]
    for job in jobs:
        given.append(grouped(given[-1], job))
    return given[1:]


def close_to(pairs: list[tuple[Any, Any]], wanted: list[tuple[Any, Any]]) -> bool:
    """Floats may differ in their last digits from those that were added up in another order."""
    return dict(pairs) == {key: pytest.approx(value) if isinstance(value, float) else value for key, value in wanted}


def differences(old: dict[Any, Any], new: dict[Any, Any]) -> dict[Any, tuple[Any, Any]]:
    return {key: (old.get(key), new.get(key)) for key in old.keys() | new.keys() if old.get(key) != new.get(key)}


laws = settings(
    max_examples=2,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (SUMS, "sum"),
        (SUMS, "equal hashes"),
        (SUMS, "unknown combiner"),
        (SOME, "unknown combiner"),
        (SOME, "no combiner"),
        (MAPPED, "sum"),
        (MAPPED, "no combiner"),
    ],
)
@given(versions=histories())
@laws
def test_a_chain_gives_what_it_gives_from_scratch_and_what_plain_python_gives(
    first: incoop.Job, second: str, base: Path, versions: list[Lines]
) -> None:
    jobs = [first, SECONDS[second], THIRD]
    before: dict[Any, Any] = {}
    with Chain(base, jobs) as chain, Chain(base, jobs) as scratch:
        for version in versions:
            results = chain.run(version)
            for result, wanted in list(zip(results, by_hand(jobs, version), strict=True))[1:]:
                assert close_to(result.collect(), wanted)
            now = results[-1].as_dict()
            changes = {change.key: (change.old, change.new) for change in results[-1].changes()}
            assert changes == differences(before, now)
            before = now
        for found, expected in zip(results, scratch.run(versions[-1]), strict=True):
            assert as_set(found.collect()) == as_set(expected.collect()), "to the last digit"
            assert found.report.counters == expected.report.counters
            assert found.root == expected.root


def mapped_share(result: incoop.Result) -> float:
    """Of its input, what the job mapped."""
    (event,) = [event for event in result.events.of(DidExecute) if event.step == "map"]
    assert event.bytes == result.report.fresh_bytes
    return result.report.fresh_bytes / result.report.input_bytes


@pytest.mark.parametrize(
    ("first", "second"), [(SUMS, "sum"), (SUMS, "unknown combiner"), (SOME, "no combiner"), (MAPPED, "sum")]
)
def test_a_changed_key_maps_a_few_pairs_of_the_next_job(first: incoop.Job, second: str, base: Path) -> None:
    lines = [f"k{number} {number % 500 + 1}" for number in range(4000)]
    with Chain(base, [first, SECONDS[second]]) as chain:
        before = chain.run(lines)
        assert mapped_share(before[1]) == 1
        lines[2000] = "k2000 501"
        after = chain.run(lines)
        assert len(ran(after[1])) == 1 and ran(after[1]).isdisjoint(ran(before[1]))
        # In a job of few keys whose combiner is none that is known, a group of leaves is mapped.
        assert 0 < mapped_share(after[1]) < (0.15 if second == "unknown combiner" else 0.05)
        assert after[1].report.keys_reduced <= 2
        assert as_set(after[1].collect()) != as_set(before[1].collect())
        again = chain.run(lines)
        assert all(map(nothing_ran, again)) and reused(again[1]) >= ran(after[1])


def test_lines_that_change_no_sum_run_nothing_in_the_next_job(base: Path) -> None:
    rng = random.Random(5)
    lines = some_lines(rng)
    with Chain(base, [SUMS, SECONDS["sum"]]) as chain:
        chain.run(lines)
        counted, second = chain.run(edited(lines, "stay equal", rng, lines))
        assert ran(counted) and nothing_ran(second)
