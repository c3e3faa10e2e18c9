"""Whatever an input goes through, a memoized job gives what mrjob gives for the input as it is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from incoop import inchdfs
from incoop.engine.stages.map_contract.leaves import LEAF

from ..end_to_end.places import Place
from .mrjob_runs import EXAMPLES, Memoized, plain

JOBS = Path(__file__).parent / "mrjob_jobs"
CASES = [
    (EXAMPLES / "mr_next_word_stats.py", []),
    (JOBS / "steps.py", []),
    (JOBS / "stateful.py", []),
    (JOBS / "numbered.py", []),
    (JOBS / "protocols.py", []),
    (JOBS / "combiners.py", ["--kind", "other values"]),
]

#: Jobs whose first mappers see a line at a time.
BY_LEAF = [(EXAMPLES / "mr_word_freq_count.py", []), (EXAMPLES / "mr_next_word_stats.py", [])]

#: Chunks of some sixteen leaves.
LEAFY = inchdfs.ChunkSettings(average=8192)

#: Text that protocols, sorting and splitting may stumble over.
ODD = ["", "\t", "a\tb", "\r", "é ß", "\x00 \x01", '"quoted" \\n', "0 1 1.0 -0", "☃" * 30, "x" * 2000]


def edited(lines: list[str], rng: random.Random) -> list[str]:
    """The lines after a few random edits."""
    lines = list(lines)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(lines))
        how = rng.choice(["insert", "odd", "delete", "move", "cut"])
        if how == "insert":
            lines.insert(at, " ".join(f"w{rng.randrange(30)}" for _ in range(rng.randint(1, 9))))
        elif how == "odd":
            lines.insert(at, rng.choice(ODD))
        elif how == "delete":
            del lines[at : at + rng.randint(1, 20)]
        elif how == "move":
            lines = lines[at:] + lines[:at]
        else:
            lines = lines[: len(lines) // 2]
    return lines


@pytest.mark.parametrize("seed", range(4))
def test_every_run_of_a_history_gives_what_mrjob_gives(seed: int, place: Place) -> None:
    rng = random.Random(seed)
    run = Memoized(place.session)
    lines = [" ".join(f"w{rng.randrange(30)}" for _ in range(rng.randint(0, 9))) for _ in range(100)]
    for _ in range(3):
        job, arguments = rng.choice(CASES)
        place.write({"a.txt": lines[: len(lines) // 2], "b.txt": lines[len(lines) // 2 :]})
        inputs = sorted(place.input.iterdir())
        assert run(job, *arguments, *inputs) == plain(job, *arguments, *inputs), (job.name, lines)
        lines = edited(lines, rng)


@pytest.mark.parametrize("seed", range(2))
def test_every_run_by_leaf_gives_what_mrjob_gives(seed: int, place: Place) -> None:
    place.chunks = LEAFY
    rng = random.Random(seed)
    run = Memoized(place.session)
    lines = [" ".join(f"w{rng.randrange(300)}" for _ in range(rng.randint(0, 9))) for _ in range(1500)]
    for _ in range(3):
        place.write({"a.txt": lines[: len(lines) // 2], "b.txt": lines[len(lines) // 2 :]})
        inputs = sorted(place.input.iterdir())
        for job, arguments in BY_LEAF:
            assert run(job, *arguments, *inputs) == plain(job, *arguments, *inputs), job.name
        lines = edited(lines, rng)


@pytest.mark.parametrize("name", ["mr_word_freq_count.py"])
def test_an_inserted_line_maps_its_leaf(name: str, place: Place) -> None:
    place.chunks = LEAFY
    run = Memoized(place.session)
    lines = [f"w{number % 997} w{number % 89} w{number % 1009}" for number in range(4000)]
    for line in ("w5 w1 w2", "w5 w996 w1008"):
        lines.insert(2000, line)
        place.write(lines)
        path = place.input / "input.txt"
        assert run(EXAMPLES / name, path) == plain(EXAMPLES / name, path)
    assert 0 < run.runner.reports[0].fresh_bytes <= LEAF * 8
