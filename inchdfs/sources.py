"""From what a user names (paths, globs, folders) to files that can be read, compressed ones decompressed."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic  # Path.glob takes no absolute pattern
from pathlib import Path

import zstandard

from inchdfs.errors import InputNotFound, InputUnreadable
from inchdfs.splitter import ReadInto

#: Endings of files whose decompressed content is chunked.
COMPRESSED = (".gz", ".bz2", ".zst")


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


def expand(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[InputFile]:
    """List the files that paths, globs and folders stand for, sorted within each.

    As in Hadoop, files in a folder whose name begins with `_` or `.` are not input.
    """
    named = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    return [file for one in named for file in _expand_one(os.fspath(one))]


def _expand_one(named: str) -> list[InputFile]:
    path = Path(named)
    # A file whose name holds `*` or `[` is that file; only what does not exist is taken for a pattern.
    paths = (
        [Path(found) for found in sorted(glob(named, recursive=True))]
        if has_magic(named) and not path.exists()
        else [path]
    )
    if not paths:
        raise InputNotFound(named, "no file matches")
    return [file for each in paths for file in _files_at(each)]


def _files_at(path: Path) -> list[InputFile]:
    if path.is_dir():
        found = [InputFile(file, file.relative_to(path).as_posix()) for file in sorted(_walk(path))]
        if not found:
            raise InputNotFound(str(path), "the folder holds no input file")
        return found
    if not path.exists():
        raise InputNotFound(str(path), "no such file or folder")
    return [InputFile(path, path.name)]


def _walk(folder: Path) -> Iterator[Path]:
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise InputUnreadable(str(folder), error.strerror or str(error)) from error
    for entry in entries:
        if entry.name.startswith(("_", ".")):
            continue
        if entry.is_dir():
            yield from _walk(entry)
        else:
            yield entry


@contextmanager
def open_content(file: InputFile) -> Iterator[ReadInto]:
    """Open a file's content for reading from its beginning; what cannot be read says which file it was."""
    with readable(file.path):
        if file.path.suffix == ".gz":
            with gzip.open(file.path, "rb") as unzipped:
                yield unzipped.readinto
        elif file.path.suffix == ".bz2":
            with bz2.open(file.path, "rb") as unzipped_bz2:
                yield unzipped_bz2.readinto
        elif file.path.suffix == ".zst":
            with (
                file.path.open("rb") as raw,
                zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as unzipped_zst,
            ):
                yield unzipped_zst.readinto
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
    except (OSError, EOFError, zstandard.ZstdError) as error:
        raise InputUnreadable(str(path), getattr(error, "strerror", None) or str(error)) from error
