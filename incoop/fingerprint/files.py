"""Hash the files that code depends on: `depends_on=[paths]`.

Contract: a file counts by its bytes, not its path, name or times; a folder by the relative names and bytes of all
files in it, in the order of those names, wherever the folder lies. Compiled Python (`__pycache__`) does not count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from incoop.base.content_ids import GrowingContent
from incoop.base.paths import local_path
from incoop.fingerprint.errors import DependencyUnreadable
from incoop.fingerprint.tokens import digest, str_token

# Read in pieces that fit the processor's cache; hashing then runs at the speed of reading.
READ_BYTES = 1 << 20

# The interpreter rewrites these from the sources beside them, with times inside.
IGNORED_FOLDERS = frozenset({"__pycache__"})

PathLike = str | os.PathLike[str]


def dependency_digests(depends_on: PathLike | Iterable[PathLike]) -> list[tuple[str, bytes]]:
    """Return (path as given, content digest) for each path; a single path may be given without a list."""
    given = [depends_on] if isinstance(depends_on, str | os.PathLike) else list(depends_on)
    return [(os.fspath(path), folder_digest(Path(local_path(path)))) for path in given]


def folder_digest(path: Path) -> bytes:
    """Return the digest of a file's bytes, or of all files of a folder.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "stop.txt").write_text("the")
        >>> before = folder_digest(folder)
        >>> _ = (folder / "stop.txt").write_text("a")
        >>> before == folder_digest(folder)
        False
    """
    try:
        if path.is_dir():
            names = sorted((file.relative_to(path).as_posix(), file) for file in _files(path, ()))
            return digest(b"folder" + b"".join(str_token(name) + _file_digest(file) for name, file in names))
        return digest(b"file" + _file_digest(path))
    except OSError as error:
        raise DependencyUnreadable(str(path), error.strerror or str(error)) from error


def _files(folder: Path, ancestors: tuple[Path, ...]) -> Iterator[Path]:
    real = folder.resolve()
    if real in ancestors:  # a link back to where we came from
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in IGNORED_FOLDERS:
                yield from _files(entry, (*ancestors, real))
        else:
            yield entry


def _file_digest(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise DependencyUnreadable(str(path), "it is neither a file nor a folder")
    state = GrowingContent()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(READ_BYTES):
            state.update(piece)
    return state.id()
