"""Chunks with other lines may have tables of leaves that are equal to the byte: each keeps its own leaves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import incoop
from incoop import inchdfs

#: A file is one chunk.
CHUNKS = inchdfs.ChunkSettings(average=1 << 20)
NAMES = "abcdefgh"


def names(_: Any, line: str) -> Iterator[tuple[str, int]]:
    yield line.split()[0], 1


def total(key: str, values: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield key, sum(values)


def line(name: str, number: int) -> str:
    """So long that it is a leaf."""
    return f"{name} {''.join(random.Random(f'{name} {number}').choices('abcdefghij', k=6000))}"


def test_a_line_that_another_chunk_had_counts_as_what_it_is(base: Path, tmp_path: Path) -> None:
    """All chunks have one key, in every leaf: what their tables say is the same, and they lie in one pack."""
    folder, job = tmp_path / "in", incoop.Job("names", names, reducer=total)
    folder.mkdir()
    files = {name: [line(name, number) for number in range(30)] for name in NAMES}
    with incoop.connect(tmp_path / "store", chunks=CHUNKS) as session:
        for day in range(3):
            for place, name in enumerate(NAMES):
                if day == 1:  # chunks become bases of their own, by what is at hand
                    files[name][20:] = [line(name, number) for number in range(120, 130)]
                if day == 2:
                    files[name][20:20] = [line(other, 3) for other in NAMES if other != name][:place]
                (folder / f"{name}.txt").write_text("".join(f"{each}\n" for each in files[name]))
            counted = session.run(job, str(folder)).as_dict()
            assert counted == Counter(each[0] for lines in files.values() for each in lines)
