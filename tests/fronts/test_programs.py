"""Unmodified PySpark programs print what they print without incoop, before and after their input changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from .harness import PROGRAMS, Ran, run_memoized, run_plain

pytestmark = pytest.mark.usefixtures("spark")


def _words(rng: random.Random) -> list[str]:
    return [" ".join(f"word{int(rng.paretovariate(0.7)) % 400}" for _ in range(8)) for _ in range(700)]


def _links(rng: random.Random) -> list[str]:
    return [f"page{rng.randrange(60)} page{rng.randrange(60)}" for _ in range(500)]


def _points(rng: random.Random) -> list[str]:
    return [f"{rng.gauss(rng.choice([0, 5]), 1):.3f} {rng.gauss(rng.choice([0, 9]), 1):.3f}" for _ in range(600)]


def _numbers(rng: random.Random) -> list[str]:
    return [" ".join(str(rng.randrange(-5000, 5000)) for _ in range(6)) for _ in range(500)]


def _edges(rng: random.Random) -> list[str]:
    return [f"{node} {node + rng.randrange(1, 9)}" for node in range(0, 30, 3) for _ in range(2)]


def _readings(rng: random.Random) -> list[str]:
    return [f"s{rng.randrange(40)},{rng.gauss(20, 5):.2f}" for _ in range(1200)]


def _log(rng: random.Random) -> list[str]:
    lines = []
    for number in range(900):
        host, path = f"10.0.0.{rng.randrange(50)}", f"/page/{rng.randrange(30)}"
        status, size = rng.choice([200, 200, 200, 404, 500]), rng.choice(["-", str(rng.randrange(9000))])
        lines.append(f'{host} - - [01/Jan/2026:00:00:00 +0000] "GET {path} HTTP/1.1" {status} {size}')
        if number % 100 == 50:
            lines.append("a broken line")
    return lines


#: Program -> its input, a line that is inserted for the second run, further arguments.
CASES: dict[str, tuple[Callable[[random.Random], list[str]], str, list[str]]] = {
    "word_count": (_words, "word1 quite new", []),
    "page_rank": (_links, "page1 page61", ["2"]),
    "kmeans": (_points, "1.500 2.500", ["2", "0.5"]),
    "sort": (_numbers, "77 -9999 12345", []),
    "transitive_closure": (_edges, "5 36", []),
    "average_by_key": (_readings, "s1,99.5", []),
    "top_n": (_words, "word3 word1 word399 word399", ["7"]),
    "log_statistics": (_log, '10.0.0.77 - - [now] "PUT /page/x HTTP/1.1" 418 123', []),
}


@pytest.mark.parametrize("program", CASES)
def test_a_program_prints_the_same_and_reruns_little(program: str, base: Path, tmp_path: Path) -> None:
    make, fresh, arguments = CASES[program]
    lines = make(random.Random(5))
    text = tmp_path / "input.txt"
    runs: list[Ran] = []
    for _ in range(2):
        text.write_text("\n".join(lines) + "\n")
        plain = run_plain(PROGRAMS / f"{program}.py", text, *arguments)
        memoized = run_memoized(base / program, PROGRAMS / f"{program}.py", text, *arguments)
        assert (memoized.output, memoized.code) == (plain.output, plain.code)
        assert memoized.notes == []
        runs.append(memoized)
        lines.insert(len(lines) // 2, fresh)
    assert plain.output and runs[0].output != runs[1].output
    assert runs[0].mapped[0] > 0
    if program not in ("page_rank", "kmeans", "transitive_closure"):  # what a loop changes reaches everything
        assert 0 < runs[1].mapped[0] < 0.5 * runs[1].mapped[1]
    if program in ("word_count", "kmeans"):
        same = run_memoized(base / program, PROGRAMS / f"{program}.py", text, *arguments)
        assert same.output == runs[1].output
        assert same.mapped[0] == 0


def test_an_index_of_files_follows_the_files(base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, line in enumerate(_words(random.Random(3))[:40]):
        (folder / f"{number}.txt").write_text(f"{line}\n{line[::-1]}\n")
    script = PROGRAMS / "inverted_index.py"
    for run in range(2):
        plain_out, out = tmp_path / f"plain{run}", tmp_path / f"out{run}"
        plain, memoized = run_plain(script, folder, plain_out), run_memoized(base / "index", script, folder, out)
        assert memoized.output == plain.output
        assert _lines_of(out) == _lines_of(plain_out)
        (folder / "7.txt").write_text("other words word1\n")
    first, second = memoized.programs[0].reports[0], memoized.programs[0].reports[-1]
    assert memoized.notes == [] and first.map.tasks == 40
    assert second.map.executed < second.map.tasks


def _lines_of(folder: Path) -> list[str]:
    assert (folder / "_SUCCESS").exists()
    return [line for part in sorted(folder.glob("part-*")) for line in part.read_text().splitlines()]
