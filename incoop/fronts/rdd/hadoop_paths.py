"""Which local files Spark's `textFile` would read for a path, and in which order.

Contract: an answer is exactly what Hadoop's input format lists. Where that is not certain (other file systems,
patterns that Python reads differently, folders in folders, byte order marks, other compressions) there is none.
"""

from __future__ import annotations

import os
from glob import glob, has_magic  # Path.glob takes no absolute pattern
from pathlib import Path
from urllib.parse import urlsplit

#: Hadoop knows more patterns than Python's glob, and reads these differently.
_OTHER_PATTERNS = ("{", "}", "\\", "**", "[^", "[!")

#: Compressed files that Hadoop reads and inchdfs does not, or not in the same way.
OTHER_CODECS = (".deflate", ".lz4", ".snappy", ".zst", ".lzo", ".xz")

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def local_files(path: str, folder: str | None = None) -> list[str] | None:
    """The files behind comma-separated paths, globs and folders; None when plain Spark has to read them.

    `folder` is where relative paths are from, if not the one of this process: Spark stays where it was started.
    """
    files: list[str] = []
    for one in path.split(","):
        found = _files_of(one, folder)
        if not found:
            return None
        files += found
    return files


def local_path(named: str, folder: str | None = None) -> str | None:
    """The path of this machine that Hadoop reads in a name that is no pattern; None where that is not certain."""
    local = _local(named, folder)
    if local is None or has_magic(local) or any(sign in local for sign in (*_OTHER_PATTERNS, ":")):
        return None
    return local


def _files_of(named: str, folder: str | None) -> list[str] | None:
    local = _local(named, folder)
    if local is None or any(sign in local for sign in _OTHER_PATTERNS):
        return None
    paths = sorted(glob(local)) if has_magic(local) else [local]
    files: list[str] = []
    for path in map(Path, paths):
        if _hidden(path):
            if len(paths) == 1:
                return None
            continue
        # In the order in which the file system lists them, as Hadoop does.
        entries = [entry for entry in path.iterdir() if not _hidden(entry)] if path.is_dir() else [path]
        if not all(_readable(entry) for entry in entries):
            return None
        files += map(str, entries)
    return files


def _local(named: str, folder: str | None) -> str | None:
    if named.startswith("file:"):
        # Every sign stands for itself, `%20` and `#` too; a host, also localhost, is an error that Spark shows.
        path = named.removeprefix("file:").removeprefix("//")
        return path if path.startswith("/") else None
    if urlsplit(named).scheme or not named or named != named.strip():
        return None
    # A text with `*` is no Path.
    return os.path.normpath(os.path.join(folder or Path.cwd(), named))  # noqa: PTH118


def _hidden(path: Path) -> bool:
    return path.name.startswith(("_", "."))


def _readable(path: Path) -> bool:
    if not path.is_file() or path.suffix in OTHER_CODECS or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        return not file.read(3).startswith(_BYTE_ORDER_MARKS)
