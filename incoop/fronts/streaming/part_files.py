"""Part files of a streaming job.

Contract: the folder appears whole, with `_SUCCESS`, or not at all; one that is there already is never touched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from incoop.base.atomic import name_aside
from incoop.base.errors import IncoopError

#: A map-only job's part files have about this many bytes, as large as a block of HDFS.
_PART_BYTES = 128 << 20

#: A part file's number, and the texts in it.
Part = tuple[int, list[bytes]]


class OutputExists(IncoopError):
    """The output folder is there already."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return f"the output {self.folder} exists already. Nothing was run; choose another name, or remove it."


class PartsUnwritable(IncoopError):
    """The output folder cannot be made."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder, self.reason = folder, reason

    def __str__(self) -> str:
        return f"the output {self.folder} cannot be written: {self.reason}. What was computed is kept for the next run."


def refuse_existing(folder: Path) -> None:
    if os.path.lexists(folder):
        raise OutputExists(str(folder))


def write_partitions(folder: Path, texts: Iterable[tuple[int, bytes]], reducers: int, lazy: bool) -> None:
    """One part file for each reducer; with `lazy`, only for those with output. One text is in memory at a time."""
    _write(folder, _with_empty_ones(texts, reducers, lazy))


def _with_empty_ones(texts: Iterable[tuple[int, bytes]], reducers: int, lazy: bool) -> Iterator[Part]:
    missing = set(range(reducers))
    for number, text in texts:
        if text or not lazy:
            missing.discard(number)
            yield number, [text]
    if not lazy:
        yield from ((number, []) for number in missing)


def write_in_order(folder: Path, texts: Iterable[bytes]) -> None:
    """Texts one after the other, in part files of even size; one of them is in memory at a time."""
    _write(folder, enumerate(_in_parts(texts)))


def _in_parts(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for text in texts:
        if size >= _PART_BYTES:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    yield part


def _write(folder: Path, parts: Iterable[Part]) -> None:
    aside = name_aside(folder)
    try:
        aside.mkdir(parents=True)
        for number, texts in parts:
            with (aside / f"part-{number:05d}").open("wb") as file:
                file.writelines(texts)
        (aside / "_SUCCESS").touch()
        refuse_existing(folder)
        aside.rename(folder)
    except OSError as error:
        raise PartsUnwritable(str(folder), error.strerror or str(error)) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
