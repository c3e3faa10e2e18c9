"""Inputs with a mapper each: what one of them gave for some lines is not what another gives for the same lines."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop import Job, inchdfs

from .histories import as_set

Pairs = Iterator[tuple[Any, Any]]

#: A file of a day is some chunks of many leaves.
CHUNKS = inchdfs.ChunkSettings(average=16 << 10)


def today(_: Any, line: str) -> Pairs:
    yield line.split()[0], 1


def yesterday(_: Any, line: str) -> Pairs:
    yield line.split()[0], 1000


def total(key: str, values: Iterable[int]) -> Pairs:
    yield key, sum(values)


def largest(key: str, values: Iterable[int]) -> Pairs:
    yield key, max(values)


def in_order(key: str, values: Iterable[int]) -> Pairs:
    yield key, list(values)


def turned(key: str, value: int) -> Pairs:
    yield key, -value


MAPPERS = {"today": today, "yesterday": yesterday}
JOBS = [
    Job("sums", MAPPERS, total, total),
    Job("largest", MAPPERS, largest, largest),
    Job("lists", MAPPERS, in_order),
    Job("pairs", MAPPERS),
]


def a_day(number: int, rng: random.Random) -> list[str]:
    return [f"u{rng.randrange(40)} {number} {rng.randrange(10**6)}" for _ in range(2000)]


def by_hand(job: Job, lines: dict[str, list[str]]) -> list[tuple[Any, Any]]:
    pairs = [pair for name, mapper in MAPPERS.items() for line in lines[name] for pair in mapper(None, line)]
    if job.reducer is None:
        return pairs
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return [pair for key, values in groups.items() for pair in job.reducer(key, values)]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_lines_that_go_from_one_input_to_the_other(job: Job, base: Path, tmp_path: Path) -> None:
    """Each day what was today's is yesterday's; so are the pairs of results, of which each has a mapper, too."""
    rng = random.Random(7)
    paths = {name: str(tmp_path / name) for name in MAPPERS}
    lines = {"today": a_day(1, rng), "yesterday": a_day(0, rng)}
    of_results = Job("of results", {"today": turned, "yesterday": doubled}, total, total)
    with incoop.connect(tmp_path / "store", chunks=CHUNKS) as session:
        for day in range(2, 6):
            for name, path in paths.items():
                Path(path).write_text("".join(f"{line}\n" for line in lines[name]))
            result = session.run(job, paths)
            assert as_set(result.collect()) == as_set(by_hand(job, lines))
            given = {name: session.run(Job(f"pairs of {name}", today), path) for name, path in paths.items()}
            sums = session.run(of_results, given).as_dict()
            assert sums == {
                key: sum(-1 for line in lines["today"] if line.split()[0] == key)
                + sum(2 for line in lines["yesterday"] if line.split()[0] == key)
                for key in {line.split()[0] for each in lines.values() for line in each}
            }
            if day == 4:  # a part of them alone
                lines["yesterday"][500:900] = lines["today"][300:800]
                lines["today"][5] = "u7 changed"
            else:
                lines = {"today": a_day(day, rng), "yesterday": lines["today"]}
    with incoop.connect(tmp_path / "other", chunks=CHUNKS) as session:
        assert session.run(job, paths).root == result.root


def doubled(key: str, value: int) -> Pairs:
    yield key, 2 * value


def gone_over(lines: dict[str, list[str]], rng: random.Random) -> dict[str, list[str]]:
    """The lines after an edit: a block goes from one input to the other, or into both; they change places; or less."""
    one, other = rng.sample(sorted(lines), 2)
    lines = {name: list(each) for name, each in lines.items()}
    at, to, length = rng.randrange(2000), rng.randrange(2000), rng.choice([1, 40, 700])
    block = lines[one][at : at + length]
    match rng.choice(["moved", "copied", "changed places", "a file twice", "appended", "deleted"]):
        case "moved":
            del lines[one][at : at + length]
            lines[other][to:to] = block
        case "copied":
            lines[other][to : to + length] = block
        case "changed places":
            lines = {one: lines[other], other: lines[one]}
        case "a file twice":
            lines[other] = [*lines[one][:at], "u1 between", *lines[one][at:]]
        case "appended":
            lines[one] += block + a_day(at, rng)[:length]
        case _:
            del lines[one][at : at + length]
    return lines


@pytest.mark.parametrize("seed", range(2))
def test_after_any_edits_each_line_counts_as_its_input_says(seed: int, base: Path, tmp_path: Path) -> None:
    rng = random.Random(seed)
    paths = {name: str(tmp_path / name) for name in MAPPERS}
    lines = {name: a_day(number, rng) for number, name in enumerate(MAPPERS)}
    chunks = rng.choice([CHUNKS, inchdfs.ChunkSettings(average=1 << 20)])
    with incoop.connect(tmp_path / "store", chunks=chunks) as session:
        for _ in range(8):
            for name, path in paths.items():
                Path(path).write_text("".join(f"{line}\n" for line in lines[name]))
            for job in rng.sample(JOBS, 2):
                assert as_set(session.run(job, paths).collect()) == as_set(by_hand(job, lines)), job.name
            lines = gone_over(lines, rng)


def test_a_changed_line_is_mapped_by_leaf_in_each_input(base: Path, tmp_path: Path) -> None:
    rng = random.Random(8)
    paths = {name: tmp_path / name for name in MAPPERS}
    lines = {"today": a_day(1, rng), "yesterday": a_day(0, rng)}
    with incoop.connect(tmp_path / "store", chunks=CHUNKS) as session:
        for name in ("", "today", "yesterday"):
            if name:
                lines[name][1000] = f"u1 changed in {name}"
            for each, path in paths.items():
                path.write_text("".join(f"{line}\n" for line in lines[each]))
            result = session.run(JOBS[0], {each: str(path) for each, path in paths.items()})
            assert as_set(result.collect()) == as_set(by_hand(JOBS[0], lines))
            if name:
                assert result.report.map.executed == 1
                assert 0 < result.report.fresh_bytes < 4096
