"""From what a user names (paths, globs, folders) to files that can be read, compressed ones decompressed."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import stat
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob, has_magic  # Path.glob takes no absolute pattern
from pathlib import Path
from typing import BinaryIO, Protocol, overload

import zstandard

from incoop.base.file_stamps import Stamp
from incoop.base.paths import local_path
from incoop.inchdfs.cutting.splitter import ReadInto
from incoop.inchdfs.errors import FileChangedWhileRead, InputNotFound, InputUnreadable
from incoop.inchdfs.files.walk import walk

#: Endings of files whose decompressed content is chunked.
COMPRESSED = (".gz", ".bz2", ".zst")

#: Compressed bytes decompressed at once.
_BZ2_PIECE = 16 << 10

#: zstandard cannot be told how much to give. Four bytes may stand for 128 KiB, so these for 16 MiB at most.
_ZSTD_PIECE = 512

#: What a decompressor that can be told gives at once.
_GIVEN = 1 << 20

#: A record of a compressed file that is longer than this, and than so many times the file, is a bomb: what compresses
#: as well in earnest (a table of zeros) has ends of records. gzip comes to 1,000 times at most, so that more would not
#: bound it.
_LONG_RECORD = 64 << 20
_MOST_TIMES = 100

#: Seconds to wait for somebody to open the other end of a pipe that was named.
PIPE_SECONDS = 30.0


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
    found: list[InputFile] = []
    for one in local_paths(inputs):
        with readable(Path(one)):  # a name may be too long to look at
            found += _expand_one(one)
    return found


def local_paths(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """What is named, as paths of this machine; other file systems are refused."""
    named = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    for one in named:
        if "\0" in os.fspath(one):
            raise InputNotFound(repr(os.fspath(one)), "no such file or folder")
    return [local_path(one) for one in named]


def _expand_one(named: str) -> list[InputFile]:
    path = Path(named)
    # A file whose name holds `*` or `[` is that file; only what does not exist is taken for a pattern.
    if has_magic(named) and not path.exists():
        paths = [found for found in map(Path, matching(named)) if not _hidden(found)]
    else:
        paths = [path]
    if not paths:
        raise InputNotFound(named, "no file matches")
    return [file for each in paths for file in _files_at(each)]


def matching(pattern: str) -> list[str]:
    """The paths that a pattern matches, in order."""
    try:
        return sorted(glob(pattern, recursive=True))
    except RecursionError:
        raise InputUnreadable(pattern, "folders there are nested too deeply for a pattern with **") from None


def _files_at(path: Path) -> list[InputFile]:
    if path.is_dir():
        found = [InputFile(file, file.relative_to(path).as_posix()) for file in sorted(_below(path))]
        if not found:
            raise InputNotFound(str(path), "the folder holds no input file")
        return found
    if not path.exists():
        raise InputNotFound(str(path), "no such file or folder")
    return [InputFile(path, path.name)]


def _below(folder: Path) -> Iterator[Path]:
    """The files below a folder."""

    def refuse(path: Path, error: OSError) -> None:
        raise InputUnreadable(str(path), error.strerror or str(error)) from error

    for path, found in walk(folder, refuse):
        if found is None or stat.S_ISREG(found.st_mode):  # a link to nothing is missed later; pipes are no data
            yield path


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
    with readable(file.path), opened(file.path) as raw:
        yield content_reader(raw, file.path.suffix)


def content_reader(raw: io.FileIO, suffix: str) -> ReadInto:
    """What reads the content of an open file, which is compressed as its name says."""
    if suffix == ".gz":
        # It gives what it is asked for, and reads names in headers, however long, byte by byte: so it is buffered.
        return gzip.GzipFile(fileobj=io.BufferedReader(raw, 1 << 20), mode="rb").readinto
    if suffix in _FRAMED:
        return _Frames(io.BufferedReader(raw, 1 << 20), *_FRAMED[suffix]).read_into
    return raw.readinto


@contextmanager
def opened(path: Path) -> Iterator[io.FileIO]:
    """Open a file, or a pipe that somebody writes to; what would never end, or never begin, is refused."""
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        handle = _open_pipe(path)
    elif stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and path.samefile(os.devnull)):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    else:
        raise InputUnreadable(str(path), "it is no file but a folder, a device or a socket")
    with io.FileIO(handle, "rb") as file:
        yield file


def _open_pipe(path: Path) -> int:
    """Open a pipe; an error when nobody does so at its other end."""
    if str(path).startswith(("/dev/", "/proc/")):  # one of our own, as in <(command): its other end was opened before
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC)), daemon=True)
    waiting.start()
    waiting.join(PIPE_SECONDS)
    if not waiting.is_alive() and found:
        return found[0]
    with suppress(OSError):  # be the other end for a moment, so that the thread ends
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    waiting.join(1)
    for each in found:
        os.close(each)
    raise InputUnreadable(str(path), f"it is a pipe, and nobody wrote to it for {PIPE_SECONDS:g} seconds")


def longest_record(file: InputFile) -> int | None:
    """The most bytes that a record of a compressed file may have; None where memory is as large as the file, at most.

    A few bytes may stand for gigabytes: without an end of a record in them they would all be held in memory.
    """
    if not file.compressed:
        return None
    with readable(file.path):
        return longest_content(file.path.stat().st_size)


def longest_content(compressed: int) -> int:
    """The most bytes that so many compressed ones may stand for in earnest, where nothing else bounds them."""
    return max(_LONG_RECORD, _MOST_TIMES * compressed)


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
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Bz2:
    """A decompressor that gives some of what it has, and the rest when it is asked again."""

    def __init__(self) -> None:
        self._own = bz2.BZ2Decompressor()

    @property
    def eof(self) -> bool:
        return self._own.eof

    @property
    def unused_data(self) -> bytes:
        return self._own.unused_data

    @property
    def needs_input(self) -> bool:
        return self._own.needs_input

    def decompress(self, data: bytes, /) -> bytes:
        return self._own.decompress(data, _GIVEN)


class _Zstd:
    """A decompressor that gives all that it was given stands for."""

    needs_input = True

    def __init__(self) -> None:
        self._own = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._own.eof

    @property
    def unused_data(self) -> bytes:
        return self._own.unused_data

    def decompress(self, data: bytes, /) -> bytes:
        return self._own.decompress(data)


#: Formats whose own readers take a file that was cut short (zstandard) or damaged between frames (bz2) for a whole one;
#: and how much of a file to give them at once.
_FRAMED: dict[str, tuple[Callable[[], _Decompressor], int]] = {".bz2": (_Bz2, _BZ2_PIECE), ".zst": (_Zstd, _ZSTD_PIECE)}


class _Frames:
    """Reads compressed frame after frame, each of which must be whole."""

    def __init__(self, raw: BinaryIO, new_frame: Callable[[], _Decompressor], piece: int) -> None:
        self._raw, self._new_frame, self._piece = raw, new_frame, piece
        self._frame: _Decompressor | None = None
        self._input = b""
        self._ready = memoryview(b"")

    def read_into(self, target: memoryview) -> int:
        while not self._ready:
            waits = self._frame is None or self._frame.needs_input
            if waits:
                self._input = self._input or self._raw.read(self._piece)
                if not self._input:
                    if self._frame is not None:
                        raise EOFError("the file ends inside a compressed frame")
                    return 0
            self._frame = self._frame or self._new_frame()
            self._ready = memoryview(self._frame.decompress(self._input if waits else b""))
            self._input = b"" if waits else self._input
            if self._frame.eof:
                self._input, self._frame = self._frame.unused_data, None
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
