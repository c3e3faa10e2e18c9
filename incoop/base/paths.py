"""What a user names as a path: one of this machine, or a clear refusal.

Contract: every way in asks `local_path` before anything runs. A name with the scheme of another file system is refused,
never taken for a folder whose name ends in a colon; `file:` is a path; a colon inside a name means nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from incoop.base.errors import BadCall
from incoop.base.shown import shown_address

Named: TypeAlias = str | os.PathLike[str]

#: A scheme has two letters or more: `C:\\data` is none.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)?")

#: Schemes that are meant as such with one slash, or none, too: `dbfs:/data`, and `s3:/bucket`, which is what pathlib
#: makes of `s3://bucket`.
_KNOWN = re.compile(
    "abfss?|adl|alluxio|az|b2|cosn?|dbfs|ftps?|gcs|gs|har|hdfs|https?|inchdfs|jfs|lakefs|maprfs|memory|nfs|o3fs|obs|ofs|"
    "oss|r2|s3[an]?|sftp|smb|ssh|swift|viewfs|wasbs?|webdav|s?webhdfs"
)


#: File systems in whose names a container stands before the @, and what such a name looks like.
_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
_CONTAINER = re.compile(r"[a-z]+://[a-z0-9$-]+@[A-Za-z0-9.-]+(/[^@]*)?$")


class SchemeNotServed(BadCall):
    """A path of a file system that incoop does not read or write."""

    def __init__(self, named: str, scheme: str) -> None:
        super().__init__(named, scheme)
        self.named, self.scheme = named, scheme

    def _shown(self) -> str:
        plain = "@" not in self.named or (self.scheme in _CONTAINERS and _CONTAINER.match(self.named))
        return self.named if plain else shown_address(self.named)

    def __str__(self) -> str:
        remedy = (
            "A stored dataset is an input and no place for files; name a folder."
            if self.scheme == "inchdfs"
            else "Copy the data to this machine, or mount it, and give its path."
        )
        return (
            f"{self._shown()}: {self.scheme} is not read here, nor written to. Nothing was run. {remedy} A local file "
            "whose name looks like this is ./NAME."
        )


def local_path(named: Named, *, percent: bool = True) -> str:
    """The path that a name stands for.

    A `file:` URI may have %-codes, as its RFC says, unless `percent` is False: Hadoop knows none.

    Example:
        >>> local_path("file:///data/a%20b.txt"), local_path("file:/data/a"), local_path("12:30.log")
        ('/data/a b.txt', '/data/a', '12:30.log')
        >>> local_path("s3://bucket/out")
        Traceback (most recent call last):
        incoop.base.paths.SchemeNotServed: s3://bucket/out: s3 is not read here, nor written to. Nothing was run. \
Copy the data to this machine, or mount it, and give its path. A local file whose name looks like this is ./NAME.
    """
    text = os.fspath(named)
    if "\0" in text or not _encodes(text):
        raise BadCall(f"{text!r:.200} is no path: it has a character that none has.")
    found = _SCHEME.match(text)
    if found is None:
        return text
    scheme, slashes = found[1].lower(), found[2]
    if scheme == "file" and slashes:
        return _of_file_uri(text, text[found.end() :], slashes, percent)
    if slashes == "//" or (_KNOWN.fullmatch(scheme) and (slashes or not _exists(text))):
        raise SchemeNotServed(text, scheme)
    return text


def refuse_unserved(names: Iterable[Named]) -> None:
    """Raise for the first name that no path of this machine can be."""
    for name in names:
        local_path(name)


def _of_file_uri(text: str, rest: str, slashes: str, percent: bool) -> str:
    path = f"/{rest}"
    if slashes == "//":
        host, slash, below = rest.partition("/")
        if host not in ("", "localhost") or not slash:
            raise BadCall(f"{text}: a file: URI names a file of this machine by its full path, as in file:///data/a.")
        path = f"/{below.lstrip('/')}"
    decoded = unquote(path)
    if "\0" in decoded:
        raise BadCall(f"{text!r:.200} is no path: it has a character that none has.")
    # A file whose own name has %-codes is that file.
    return decoded if percent and decoded != path and not _exists(path) else path


def _encodes(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long, or no path at all
        return False
