"""Files that are there as a whole or not at all.

Contract: who opens a name finds what was there before or all of what was written, also after a crash of this process.
Where `durable` says so, also after one of the machine; that costs milliseconds: for what cannot be computed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def unique_name() -> str:
    """A name that nobody else gives, and that says which process did."""
    return f"{os.getpid()}-{os.urandom(8).hex()}"


def name_aside(path: Path, mark: str = ".") -> Path:
    """A name beside a path that nobody has, for what shall become that path.

    It begins with `mark` and the path's own name, so that whoever finds it after a crash can tell what it was to be.
    """
    return path.with_name(f"{mark}{path.name}.{unique_name()}")


@contextmanager
def written_aside(
    path: Path, parts: Iterable[bytes], *, durable: bool = True, private: bool = False, mark: str = "."
) -> Iterator[Path]:
    """Write what `path` shall hold to a file next to it; the file is gone afterwards, unless it was renamed.

    A `private` file can be read by its owner alone.
    """
    aside = name_aside(path, mark)
    try:
        # Private from the beginning: a secret that is closed to others later was open to them for a moment.
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        yield aside
    finally:
        aside.unlink(missing_ok=True)


def write_atomically(
    path: Path, parts: Iterable[bytes], *, durable: bool = True, private: bool = False, mark: str = "."
) -> None:
    """Write a file under a temporary name, then give it its own. The folder's new name is for `sync` to keep."""
    with written_aside(path, parts, durable=durable, private=private, mark=mark) as aside:
        aside.replace(path)


def make_folder(folder: Path) -> None:
    """Make a folder that others may not enter, and bring its name to disk: what is in it is lost without."""
    for each in make_private_folder(folder):
        with suppress(PermissionError):  # a folder that may not be opened
            sync(each.parent)


def make_private_folder(folder: Path) -> list[Path]:
    """Make a folder, and those above it that are missing, for their owner alone; those that were made.

    `Path.mkdir` makes the ones above for whomever the umask lets in.
    """
    made = []
    for each in (*reversed(folder.parents), folder):
        with suppress(FileExistsError, PermissionError):
            if not each.is_dir():
                each.mkdir(mode=0o700)
                made.append(each)
    folder.mkdir(mode=0o700, exist_ok=True)
    return made


def sync(path: Path) -> None:
    """Bring a file's content, or the names in a folder, to disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
