"""From what a user names (paths, globs, folders) to files that can be read, compressed ones decompressed."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic  # Path.glob takes no absolute pattern
from pathlib import Path
from typing import BinaryIO, Protocol, overload

import zstandard

from incoop.base.file_stamps import Stamp
from incoop.base.paths import local_path
from incoop.inchdfs.cutting.splitter import ReadInto
from incoop.inchdfs.errors import FileChangedWhileRead, InputNotFound, InputUnreadable

#: Endings of files whose decompressed content is chunked.
COMPRESSED = (".gz", ".bz2", ".zst")

#: Compressed bytes decompressed at once: small, because a few bytes may stand for gigabytes.
_COMPRESSED_PIECE = 16 << 10


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file and the name under which a dataset keeps it."""

    path: Path
    #: Relative to what the user named: a folder's files keep their place below it.
    name: str

    @property
    def compressed(self) -> bool:
        return self.path.suffix in COMPRESSED

    @property
    def seekable(self) -> bool:
        """The content can be read again from any place: neither compressed nor a pipe."""
        return not self.compressed and self.path.is_file()


@dataclass(frozen=True, slots=True)
class Listing(Sequence[str]):
    """Files that a caller found in a way of its own. Their index is found by `name`, whichever come and go."""

    name: str
    files: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.files)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        return self.files[at]


def expand(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[InputFile]:
    """List the files that paths, globs and folders stand for, sorted within each.

    As in Hadoop, what a folder or a glob finds with a name that begins with `_` or `.` is not input.
    """
    return [file for one in local_paths(inputs) for file in _expand_one(one)]


def local_paths(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """What is named, as paths of this machine; other file systems are refused."""
    named = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    return [local_path(one) for one in named]


def _expand_one(named: str) -> list[InputFile]:
    path = Path(named)
    # A file whose name holds `*` or `[` is that file; only what does not exist is taken for a pattern.
    if has_magic(named) and not path.exists():
        paths = [found for found in map(Path, sorted(glob(named, recursive=True))) if not _hidden(found)]
    else:
        paths = [path]
    if not paths:
        raise InputNotFound(named, "no file matches")
    return [file for each in paths for file in _files_at(each)]


def _files_at(path: Path) -> list[InputFile]:
    if path.is_dir():
        found = [InputFile(file, file.relative_to(path).as_posix()) for file in sorted(_walk(path, frozenset()))]
        if not found:
            raise InputNotFound(str(path), "the folder holds no input file")
        return found
    if not path.exists():
        raise InputNotFound(str(path), "no such file or folder")
    return [InputFile(path, path.name)]


def _walk(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    """The files below a folder; a link back to a folder that is being walked is passed over."""
    real = folder.resolve()
    if real in above:
        return
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise InputUnreadable(str(folder), error.strerror or str(error)) from error
    for entry in entries:
        if _hidden(entry):
            continue
        if entry.is_dir():
            yield from _walk(entry, above | {real})
        elif entry.is_file() or not entry.exists():  # a link to nothing is missed later; pipes and sockets are no data
            yield entry


def _hidden(path: Path) -> bool:
    return path.name.startswith(("_", "."))


def total_size(files: Sequence[InputFile]) -> int:
    """Bytes of all files as they lie on disk."""
    total = 0
    for file in files:
        with readable(file.path):
            total += file.path.stat().st_size
    return total


@contextmanager
def open_content(file: InputFile) -> Iterator[ReadInto]:
    """Open a file's content for reading from its beginning; what cannot be read says which file it was."""
    with readable(file.path):
        if file.path.suffix == ".gz":
            with gzip.open(file.path, "rb") as unzipped:
                yield unzipped.readinto
        elif file.path.suffix in _FRAMED:
            with file.path.open("rb", buffering=1 << 20) as raw:
                yield _Frames(raw, _FRAMED[file.path.suffix]).read_into
        else:
            with file.path.open("rb", buffering=0) as plain:
                yield plain.readinto


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the operating system's and the decompressors' errors into one that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputNotFound(str(path), "no such file or folder") from error
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise InputUnreadable(str(path), getattr(error, "strerror", None) or str(error)) from error


@contextmanager
def unchanging(file: InputFile) -> Iterator[int]:
    """Give the file's size; raise at the end when the file moved meanwhile. A pipe always moves, and is read once."""
    with readable(file.path):
        before = Stamp.of(file.path)
        yield before.size
        if file.path.is_file() and Stamp.of(file.path) != before:
            raise FileChangedWhileRead(str(file.path))


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


#: Formats whose own readers take a file that was cut short (zstandard) or damaged between frames (bz2) for a whole one.
_FRAMED: dict[str, Callable[[], _Decompressor]] = {
    ".bz2": bz2.BZ2Decompressor,
    ".zst": lambda: zstandard.ZstdDecompressor().decompressobj(),
}


class _Frames:
    """Reads compressed frame after frame, each of which must be whole."""

    def __init__(self, raw: BinaryIO, new_frame: Callable[[], _Decompressor]) -> None:
        self._raw, self._new_frame = raw, new_frame
        self._frame: _Decompressor | None = None
        self._input = b""
        self._ready = memoryview(b"")

    def read_into(self, target: memoryview) -> int:
        while not self._ready:
            self._input = self._input or self._raw.read(_COMPRESSED_PIECE)
            if not self._input:
                if self._frame is not None:
                    raise EOFError("the file ends inside a compressed frame")
                return 0
            self._frame = self._frame or self._new_frame()
            self._ready, self._input = memoryview(self._frame.decompress(self._input)), b""
            if self._frame.eof:
                self._input, self._frame = self._frame.unused_data, None
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
