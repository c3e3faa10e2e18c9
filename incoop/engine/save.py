"""Part files: one a part of the output, of which only those that changed are rewritten.

Contract: a part file appears whole or not at all; `_SUCCESS` stands only beside a complete set. A folder that holds
anything else but hidden files is refused, never overwritten. What was written is remembered in `_incoop.json`; a part
file that someone touched since is written again. Notes that are damaged mean that every part is. Whatever they say,
nothing but part files of this folder is touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from incoop.base.atomic import write_atomically
from incoop.base.errors import IncoopError
from incoop.base.file_stamps import Stamp
from incoop.base.own_files import NotAFile, clear_way, read_regular, trusted_link
from incoop.engine.output import Output, OutputBlock, Pair, read_blocks
from incoop.engine.running.workforce import Workforce
from incoop.engine.stored import BlobReader
from incoop.memo import WorkerConfig

_NOTES = "_incoop.json"

#: What notes hold of every part: its content, and a stamp.
_NOTED = 1 + len(fields(Stamp))

#: What we call a part file.
_PART = re.compile(r"part-\d{5,9}(?:\.parquet)?")


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


class OutputUnwritable(IncoopError):
    """The output folder cannot be written to."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder, self.reason = folder, reason

    def __str__(self) -> str:
        return (
            f"cannot write part files to {self.folder}: {self.reason}. The result is kept; free some room there or "
            "mend the folder and save it again, or choose another one."
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


@runtime_checkable
class NamedWhole(Protocol):
    """An output whose parts are told by reading all of it."""

    @property
    def whole(self) -> bytes:
        """Equal for equal parts."""
        ...


class Printer(Protocol):
    """Pairs as the text of a part file; it travels to workers."""

    @property
    def said(self) -> str:
        """Names what it prints: equal names, equal text for equal pairs."""
        ...

    @property
    def suffix(self) -> str:
        """How the names of part files end."""
        ...

    def __call__(self, pairs: Sequence[Pair]) -> Iterable[bytes]: ...


@dataclass(frozen=True, slots=True)
class PairLines:
    """A line a pair."""

    #: Nothing: notes of earlier versions name no printer.
    said: str = ""
    suffix: str = ""

    def __call__(self, pairs: Sequence[Pair]) -> Iterable[bytes]:
        return (text.encode("utf-8", "surrogatepass") for text in _texts(iter(pairs)))


def write_lines(pairs: Sequence[Pair], path: Path, printer: Printer) -> None:
    """Write a part file, whole or not at all."""
    write_atomically(path, printer(pairs), durable=False, mark="_")


def _texts(pairs: Iterator[Pair]) -> Iterator[str]:
    """The lines, many at once: a call or two for each would take half of the time that a part file takes."""
    while some := list(islice(pairs, _LINES_AT_ONCE)):
        yield "".join(
            [
                f"{key if type(key) is str else _shown(key)}\t{value if type(value) in _PLAIN else _shown(value)}\n"
                for key, value in some
            ]
        )


#: Shown by themselves in a format string.
_PLAIN = (int, str)

#: Some hundred kilobytes.
_LINES_AT_ONCE = 10_000


#: Parts of so many bytes, all together, are written here: asking others takes as long.
_FEW_BYTES = 1 << 20


def _write_part(worker: WorkerConfig, printer: Printer, item: tuple[list[OutputBlock], str]) -> bool | str:
    """Write a part in a worker; whether that could be done: it may not have the classes of keys and values.

    What the system refused is told as text.
    """
    blocks, path = item
    reader = BlobReader(worker.open())
    try:
        pairs = read_blocks(blocks, reader)
    except (ImportError, AttributeError):
        return False
    try:
        write_lines(pairs, Path(path), printer)
    except OSError as error:
        return error.strerror or str(error)
    return True


def _write_parts(
    items: list[tuple[list[OutputBlock], str]],
    worker: WorkerConfig,
    workforce: Workforce,
    reader: BlobReader,
    printer: Printer,
) -> None:
    """Write parts, in whoever is there; Spark is not started for it."""
    left = items
    if sum(block.length for blocks, _ in items for block in blocks) > _FEW_BYTES:
        run = workforce.spark.run if workforce.spark.running else workforce.processes.run
        done = run(f"write {len(items)} part files", partial(_write_part, worker, printer), items)
        for (_, path), refused in zip(items, done, strict=True):
            if isinstance(refused, str):
                raise OutputUnwritable(str(Path(path).parent), refused)
        left = [item for item, written in zip(items, done, strict=True) if not written]
    for blocks, path in left:
        write_lines(read_blocks(blocks, reader), Path(path), printer)


def save_parts(
    output: Output,
    folder: Path,
    worker: WorkerConfig,
    workforce: Workforce,
    reader: BlobReader,
    printer: Printer | None = None,
) -> list[Path]:
    """Bring a folder up to date; return the files that were written."""
    try:
        return _save_parts(output, folder.absolute(), worker, workforce, reader, printer or PairLines())
    except OSError as error:
        raise OutputUnwritable(str(folder), error.strerror or str(error)) from error


def _save_parts(
    output: Output, folder: Path, worker: WorkerConfig, workforce: Workforce, reader: BlobReader, printer: Printer
) -> list[Path]:
    def content(part: int) -> str:
        return f"{output.content(part).hex()}{printer.said}"

    written = _notes(folder)
    # An output whose parts are found by reading all of it has a name as a whole, which is noted with each part.
    whole = [f"{output.whole.hex()}{printer.said}"] if isinstance(output, NamedWhole) else []
    if whole and written and (folder / "_SUCCESS").exists():
        kept = (note[1:] == [*_stamp(folder / name), *whole] for name, note in written.items())
        if all(kept):
            return []
    wanted = {f"part-{part:05d}{printer.suffix}": part for part in range(len(output))}
    fresh = {
        name: part
        for name, part in wanted.items()
        if written.get(name, [])[:_NOTED] != [content(part), *_stamp(folder / name)]
    }
    gone = written.keys() - wanted.keys()
    if not fresh and not gone and not whole and (folder / "_SUCCESS").exists():
        return []
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_SUCCESS").unlink(missing_ok=True)
    # Named before they are written, and until they are gone: what a crash leaves behind is still known as ours.
    _write_notes(folder, {name: written[name] if name not in fresh else [] for name in [*wanted, *gone]})
    if fresh:
        items = [(output.blocks(part, reader), str(folder / name)) for name, part in fresh.items()]
        _write_parts(items, worker, workforce, reader, printer)
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    notes = {name: [content(part), *_stamp(folder / name), *whole] for name, part in wanted.items()}
    _write_notes(folder, notes)
    (folder / "_SUCCESS").touch()
    return [folder / name for name in fresh]


def demand_folder(folder: Path) -> None:
    """Refuse a folder that holds anything else, before work is done for it."""
    try:
        _notes(folder.absolute())
    except OSError as error:
        raise OutputUnwritable(str(folder), error.strerror or str(error)) from error


def _notes(folder: Path) -> dict[str, list[Any]]:
    """What an earlier run wrote here; a folder with other files is refused."""
    if not trusted_link(str(folder)):
        raise OutputUnwritable(str(folder), "it is a link which another user made")
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise OutputFolderTaken(str(folder), "a file of that name")
    notes = _read_notes(folder / _NOTES)
    for path in sorted(folder.iterdir()):
        ours = path.name in notes if notes is not None else _PART.fullmatch(path.name)
        # What is hidden is no data to whoever reads the folder, and is not touched by parts: a schema, a checksum.
        if not ours and not path.name.startswith(("_incoop", "_SUCCESS", "_part-", ".")):
            raise OutputFolderTaken(str(folder), path.name)
    # Of damaged notes it is known that we wrote here, and not what: part files are ours, and are all written again.
    return notes if notes is not None else {path.name: [] for path in folder.iterdir() if _PART.fullmatch(path.name)}


def _read_notes(path: Path) -> dict[str, list[Any]] | None:
    """What the notes say; None where they are damaged. Names that we do not give are not ours to touch."""
    try:
        notes = json.loads(read_regular(path))
    except FileNotFoundError:
        return {}
    except (NotAFile, ValueError, RecursionError):
        return None
    if not isinstance(notes, dict) or not all(isinstance(value, list) for value in notes.values()):
        return None
    return {name: value for name, value in notes.items() if _PART.fullmatch(name)}


def _write_notes(folder: Path, notes: dict[str, list[Any]]) -> None:
    clear_way(folder / _NOTES)
    write_atomically(folder / _NOTES, [json.dumps(notes).encode()], durable=False, mark="")


def _stamp(path: Path) -> list[int]:
    try:
        return list(astuple(Stamp.of(path)))
    except OSError:
        return []
