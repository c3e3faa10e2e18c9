"""A record format of the user's own: when its code changes, a file that did not is cut anew."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.command import incoop as command

JOB = """
import incoop
from dataclasses import dataclass

END = b";\\n"

@dataclass(frozen=True)
class Until:
    def ends_around(self, data, start, position, end):
        before = data.rfind(END, start, position)
        after = data.find(END, max(start, position - len(END)), end)
        return (before + len(END) if before >= 0 else start), (after + len(END) if after >= 0 else -1)

    def records(self, chunk):
        found = chunk.split(END)
        return found if found[-1] else found[:-1]

def mapper(_, record):
    yield len(record), 1

def total(length, counts):
    yield length, sum(counts)

job = incoop.Job("lengths", mapper, total, total, records=Until()OPTIONS)
"""


@pytest.mark.parametrize("version", [False, True], ids=["followed", "by version"])
def test_records_are_cut_by_the_code_that_is_there_now(version: bool, base: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    records = ["x" * rng.randrange(5, 60) + (";" if rng.random() < 0.7 else "|") for _ in range(8000)]
    text = "".join(f"{record}\n" for record in records)
    (tmp_path / "in.txt").write_text(text)
    for end in (";", "|", ";"):
        options = f", version={end!r}" if version else ""
        job = JOB.replace('b";', f'b"{end}').replace("OPTIONS", options)
        (tmp_path / "job.py").write_text(job)
        ran = command("run", "job.py", "in.txt", "--store", "store", "--average", "4K", cwd=tmp_path)
        wanted = text.split(f"{end}\n")
        expected = Counter(map(len, wanted if wanted[-1] else wanted[:-1]))
        assert {
            int(key): int(value) for key, _, value in (line.partition("\t") for line in ran.stdout.splitlines())
        } == expected
