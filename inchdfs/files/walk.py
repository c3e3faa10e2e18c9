"""The files below a folder, through links, whoever made these folders.

Contract: in the order of names, folder by folder. A link back to a folder that is being walked is passed over. Depth
takes none of Python's stack, and links between folders, of which a dozen have more ways through them than anybody can
walk, end in a trouble. What `_` or `.` begins is hidden.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from incoop.base.own_files import demand_own_link

#: Links may lead to a folder from so many places.
_MOST_WAYS = 100

_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)

#: Called for a folder or a file that cannot be looked at; it may raise.
Trouble = Callable[[Path, OSError], object]

_Key = tuple[int, int]


def walk(
    top: Path, trouble: Trouble, passed: Path | None = None, wary: bool = False
) -> Iterator[tuple[Path, os.stat_result | None]]:
    """Everything below a folder that is no folder, with what the system says of it: None for a link to nothing.

    `passed` is a folder that is passed over, wherever it is found. With `wary`, links of other users are a trouble that
    lead to folders which are not theirs.
    """
    passed_key = None
    if passed is not None:
        with suppress(OSError):
            there = passed.stat()
            passed_key = there.st_dev, there.st_ino
    ways: Counter[_Key] = Counter()
    above: dict[_Key, None] = {}
    # Each folder that is being walked, with its entries that are left, the last one first.
    begun: list[tuple[_Key, list[str], Path]] = []

    def begin(folder: Path) -> None:
        try:
            found = folder.stat()
            key = (found.st_dev, found.st_ino)
            if key in above or key == passed_key:
                return
            if wary and folder != top:
                demand_own_link(folder, folder.lstat(), found)
            ways[key] += 1
            if ways[key] == _MOST_WAYS + 1:
                raise OSError(
                    errno.ELOOP, f"links lead to it in more than {_MOST_WAYS} ways, and no further ones are taken"
                )
            if ways[key] > _MOST_WAYS:
                return
            names = sorted(
                (
                    name
                    for name in os.listdir(folder)  # noqa: PTH208 - names alone
                    if not name.startswith(("_", "."))
                ),
                reverse=True,
            )
        except OSError as error:
            trouble(folder, error)
            return
        above[key] = None
        begun.append((key, names, folder))

    begin(top)
    while begun:
        key, names, folder = begun[-1]
        if not names:
            begun.pop()
            del above[key]
            continue
        path = folder / names.pop()
        try:
            found = path.stat()
        except OSError as error:
            if error.errno in _NOTHING_THERE:
                yield path, None
            else:
                trouble(path, error)
            continue
        if stat.S_ISDIR(found.st_mode):
            begin(path)
        else:
            yield path, found
