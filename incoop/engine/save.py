"""Part files: one a part of the output, of which only those that changed are rewritten.

Contract: a part file appears whole or not at all; `_SUCCESS` stands only beside a complete set. A folder that holds
anything else is refused, never overwritten. What was written is remembered in `_incoop.json`; a part file that someone
touched since is written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

from incoop.base.atomic import write_atomically
from incoop.base.errors import IncoopError
from incoop.base.file_stamps import Stamp
from incoop.engine.output import Output, OutputBlock, Pair, read_blocks
from incoop.engine.running.workforce import Workforce
from incoop.engine.stored import BlobReader
from incoop.memo import WorkerConfig

_NOTES = "_incoop.json"


class OutputFolderTaken(IncoopError):
    """The output folder holds files that incoop did not write."""

    def __init__(self, folder: str, example: str) -> None:
        super().__init__(folder, example)
        self.folder, self.example = folder, example

    def __str__(self) -> str:
        return (
            f"{self.folder} holds {self.example}, which no earlier run wrote. Nothing was changed; "
            "choose another folder, or empty this one."
        )


def line_of(key: Any, value: Any) -> str:
    """One pair as text: key, tab, value; `repr` for what is not text or a number.

    Example:
        >>> line_of("word", 3), line_of(("a", "b"), None)
        ('word\\t3', "('a', 'b')\\tNone")
    """
    return f"{_shown(key)}\t{_shown(value)}"


def _shown(value: Any) -> str:
    return value if type(value) is str else str(value) if type(value) in (int, float) else repr(value)


def write_lines(pairs: Iterable[Pair], path: Path) -> None:
    """Write a part file, whole or not at all."""
    lines = (f"{line_of(key, value)}\n".encode("utf-8", "surrogatepass") for key, value in pairs)
    write_atomically(path, lines, durable=False, mark="_")


#: Parts of so many bytes, all together, are written here: asking others takes as long.
_FEW_BYTES = 1 << 20


def _write_part(worker: WorkerConfig, item: tuple[list[OutputBlock], str]) -> bool:
    """Write a part in a worker; whether that could be done: it may not have the classes of keys and values."""
    blocks, path = item
    reader = BlobReader(worker.open())
    try:
        pairs = read_blocks(blocks, reader)
    except (ImportError, AttributeError):
        return False
    write_lines(pairs, Path(path))
    return True


def _write_parts(
    items: list[tuple[list[OutputBlock], str]], worker: WorkerConfig, workforce: Workforce, reader: BlobReader
) -> None:
    """Write parts, in whoever is there; Spark is not started for it."""
    left = items
    if sum(block.length for blocks, _ in items for block in blocks) > _FEW_BYTES:
        run = workforce.spark.run if workforce.spark.running else workforce.processes.run
        done = run(f"write {len(items)} part files", partial(_write_part, worker), items)
        left = [item for item, written in zip(items, done, strict=True) if not written]
    for blocks, path in left:
        write_lines(read_blocks(blocks, reader), Path(path))


def save_parts(
    output: Output, folder: Path, worker: WorkerConfig, workforce: Workforce, reader: BlobReader
) -> list[Path]:
    """Bring a folder up to date; return the files that were written."""
    folder = folder.absolute()
    written = _notes(folder)
    wanted = {f"part-{part:05d}": part for part in range(len(output))}
    fresh = {
        name: part
        for name, part in wanted.items()
        if written.get(name) != [output.content(part).hex(), *_stamp(folder / name)]
    }
    gone = written.keys() - wanted.keys()
    if not fresh and not gone and (folder / "_SUCCESS").exists():
        return []
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_SUCCESS").unlink(missing_ok=True)
    # Named before they are written, and until they are gone: what a crash leaves behind is still known as ours.
    _write_notes(folder, {name: written[name] if name not in fresh else [] for name in [*wanted, *gone]})
    if fresh:
        items = [(output.blocks(part, reader), str(folder / name)) for name, part in fresh.items()]
        _write_parts(items, worker, workforce, reader)
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    notes = {name: [output.content(part).hex(), *_stamp(folder / name)] for name, part in wanted.items()}
    _write_notes(folder, notes)
    (folder / "_SUCCESS").touch()
    return [folder / name for name in fresh]


def _notes(folder: Path) -> dict[str, list[Any]]:
    """What an earlier run wrote here; a folder with other files is refused."""
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise OutputFolderTaken(str(folder), "a file of that name")
    notes: dict[str, list[Any]] = json.loads((folder / _NOTES).read_text()) if (folder / _NOTES).exists() else {}
    for path in sorted(folder.iterdir()):
        if path.name not in notes and not path.name.startswith(("_incoop", "_SUCCESS", "_part-")):
            raise OutputFolderTaken(str(folder), path.name)
    return notes


def _write_notes(folder: Path, notes: dict[str, list[Any]]) -> None:
    write_atomically(folder / _NOTES, [json.dumps(notes).encode()], durable=False, mark="")


def _stamp(path: Path) -> list[int]:
    try:
        return list(astuple(Stamp.of(path)))
    except OSError:
        return []
