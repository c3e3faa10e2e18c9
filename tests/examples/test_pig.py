"""The examples in Pig Latin give what plain Python counts, also after lines came and went."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ..cli.command import incoop
from ..conftest import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
LINE = re.compile(r'^(\S+) \S+ \S+ \[([^:]+):(\d+)[^\]]*\] "(\S+) (\S+)[^"]*" (\d+) (\d+) "([^"]*)" "([^"]*)".*$')


def _rows(folder: Path) -> list[str]:
    return [line for path in sorted(folder.glob("part-*")) for line in path.read_text().splitlines()]


def _visits(folder: Path, log: list[str]) -> None:
    (folder / "access.log").write_text("".join(log))
    done = incoop("pig", EXAMPLES / "pig" / "visits.pig", "-param", "in=access.log", "-param", "out=out", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = [LINE.match(line.rstrip("\n")) for line in log]
    good = [each for each in found if each and int(each[6]) < 400]
    assert done.stdout == f"({sum(each is None for each in found)})\n"
    days = {
        f"{day}\t{len(its)}\t{len({each[1] for each in its})}\t{sum(int(each[7]) for each in its)}"
        for day in {each[2] for each in good}
        if (its := [each for each in good if each[2] == day])
    }
    assert set(_rows(folder / "out" / "days")) == days
    pages = sorted(Counter(each[5] for each in good).items(), key=lambda pair: (-pair[1], pair[0]))[:10]
    assert _rows(folder / "out" / "pages") == [f"{page}\t{count}" for page, count in pages]
    lost = Counter((each[6], each[5]) for each in found if each and int(each[6]) >= 400)
    assert set(_rows(folder / "out" / "lost")) == {f"{status}\t{page}\t{n}" for (status, page), n in lost.items()}
    devices = [line.split(",") for line in _rows(folder / "out" / "devices")]
    assert sum(int(count) for _, _, count in devices) == len(good)
    assert {device for device, _, _ in devices} <= {"phone", "computer", "robot"}


def test_visits(tmp_path: Path) -> None:
    made = tmp_path / "made"
    subprocess.run([sys.executable, EXAMPLES / "logs" / "make_logs.py", made, "400"], check=True)
    log = [*made.read_text().splitlines(keepends=True), "cut off\n"]
    _visits(tmp_path, log)
    _visits(tmp_path, [*log[5:200], "more is missing\n", *log[190:]])


def test_word_count(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("The oak, the ash\nand an oak (old)\n\n")
    call = ("pig", EXAMPLES / "pig" / "word_count.pig", "-param", "in=corpus", "-param", "out=words")
    assert incoop(*call, cwd=tmp_path).returncode == 0
    assert _rows(tmp_path / "words") == ["oak\t2", "the\t2"]
