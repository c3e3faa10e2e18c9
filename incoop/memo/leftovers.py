"""What sessions that were killed left in a store's folder; cleared away by the next one.

Contract: called with the folder's gate held, while no other session of this machine lives. Only names that we give are
touched, and nothing is followed: a name says which process gave it, and what a living one writes stays.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import time
from pathlib import Path

from incoop.memo.files import TEMP
from incoop.memo.process import start_time

#: Folders that a session makes in the store's folder for itself (null.py, streaming's staging) are called so, after
#: its process.
_OF_SESSIONS = re.compile(r"(?:unmemoized|streaming)-(\d+)-.*")

#: `unique_name`, alone or behind the name of what was to be written.
_UNIQUE = re.compile(r"(?:\..*\.)?(\d+)-[0-9a-f]{16}")

#: What a collection was about to remove.
_CONDEMNED = re.compile("condemned-[0-9a-f]{16}()")

#: Seconds after which something in a folder that several machines use is no longer being written.
_OLD_ELSEWHERE = 3600.0


def clear_leftovers(folder: Path, home: Path, *, here_alone: bool) -> int:
    """Remove temporary packs, records half written, and folders of sessions that are gone; how many.

    `here_alone`: no other machine uses the folder, so that the processes that names tell of are this one's.
    """
    before = time.time() - (0 if here_alone else _OLD_ELSEWHERE)
    places = [(home / "packs" / TEMP, _UNIQUE), (home / "packs" / TEMP, _CONDEMNED), (folder, _OF_SESSIONS)]
    places += [(each, _UNIQUE) for each in (home, home / "server", home / "delivered")]
    found = [(path, name.fullmatch(path.name)) for place, name in places for path in _in(place)]
    return sum(_removed(path, before) for path, match in found if match and not _lives(match[1]))


def _lives(pid: str) -> bool:
    return bool(pid) and len(pid) < 10 and start_time(int(pid)) is not None


def _in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _removed(path: Path, before: float) -> bool:
    with contextlib.suppress(OSError):
        found = path.lstat()
        if found.st_mtime >= before or found.st_uid != os.geteuid():
            return False
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
        return True
    return False
