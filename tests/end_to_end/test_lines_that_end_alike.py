"""Logs whose lines all end alike, as with the name of a browser: the tree over their chunks is none the worse."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import incoop
from incoop import inchdfs
from tests.events import CONTRACT, ran, reused, tasks

CHUNKS = inchdfs.ChunkSettings(average=1 << 10)
AGENT = '"Mozilla/5.0 (compatible; a browser whose name takes the whole of what is looked at before a boundary)"'


def parts(_: object, line: str) -> Iterator[tuple[str, float]]:
    host, sent, _ = line.split(maxsplit=2)
    yield host, 1 / int(sent)


def added(host: str, values: Iterable[float]) -> Iterator[tuple[str, float]]:
    total = 0.0
    for value in values:
        total += value
    yield host, total


JOB = incoop.Job("parts", mapper=parts, combiner=added, reducer=added)


def made(rng: random.Random, count: int) -> list[str]:
    return [f"10.0.0.{rng.randrange(9)} {rng.randrange(1, 10**9)} {AGENT}\n" for _ in range(count)]


@pytest.mark.parametrize("seed", range(2))
def test_whatever_changes_floats_add_up_as_from_scratch(tmp_path: Path, seed: int) -> None:
    rng, log = random.Random(seed), tmp_path / "access.log"
    lines = made(rng, 2000)
    with incoop.connect(store=tmp_path / "store", chunks=CHUNKS) as inc:
        for step in range(5):
            log.write_text("".join(lines))
            with incoop.connect(store=tmp_path / f"scratch-{step}", chunks=CHUNKS) as fresh:
                assert dict(inc.run(JOB, str(log))) == dict(fresh.run(JOB, str(log)))
            match rng.randrange(3):
                case 0:
                    lines += made(rng, rng.randrange(1, 200))
                case 1:
                    at = rng.randrange(len(lines))
                    lines[at : at + rng.randrange(30)] = made(rng, rng.randrange(30))
                case _:
                    lines[rng.randrange(len(lines))] = made(rng, 1)[0]


def test_a_line_at_the_end_touches_the_nodes_above_it_and_no_other(tmp_path: Path) -> None:
    rng, log = random.Random(20), tmp_path / "access.log"
    log.write_text("".join(made(rng, 6000)))
    with incoop.connect(store=tmp_path / "store", chunks=CHUNKS) as inc:
        first = inc.run(JOB, str(log))
        assert len(tasks(first)) > 400 and len(tasks(first, CONTRACT)) < len(tasks(first)) / 8, "groups of about 16"
        with log.open("a") as file:
            file.writelines(made(rng, 1))
        second = inc.run(JOB, str(log))
        assert len(ran(second)) <= 2
        assert len(ran(second, CONTRACT)) <= 4, "a node a level"
        assert len(reused(second, CONTRACT)) >= len(tasks(first, CONTRACT)) - 4
