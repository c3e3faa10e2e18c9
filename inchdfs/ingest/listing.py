"""Which files there are now, of those that the user named.

Contract: a look never fails for what one file or folder does, never waits for a pipe, and says each trouble once until
it is over. What a folder or a glob finds with a name that begins with `_` or `.` is no log, as for all inputs. Beside a
file that was named, those are looked at that may be what it was before it was rotated; they are never begun with.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path

from incoop.inchdfs.errors import InputUnreadable
from incoop.inchdfs.files.sources import matching
from incoop.inchdfs.files.walk import walk
from incoop.inchdfs.ingest.names import live_name

#: Looks without a trouble after which it is over.
_OVER = 20

#: Called with a sentence for people.
Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A regular file that was there at a look."""

    path: str
    #: Relative to what the user named.
    name: str
    found: os.stat_result
    #: Not named, but perhaps a rotated log that was.
    beside: bool = False

    @property
    def inode(self) -> tuple[int, int]:
        return self.found.st_dev, self.found.st_ino


class Troubles:
    """What is wrong with which file: said once, and again only when it was over for some time."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        #: By path, why, and in which look that was last met.
        self._said: dict[str, tuple[str, int]] = {}
        self._looks = 0

    def begin_look(self) -> None:
        self._looks += 1
        self._said = {path: said for path, said in self._said.items() if self._looks - said[1] < _OVER}

    def say(self, path: str, why: str) -> None:
        if self._said.get(path, ("", 0))[0] != why:
            self._tell(f"{path}: {why}. The others go on.")
        self._said[path] = (why, self._looks)


class LogListing:
    """The sources of an ingest, looked at again and again."""

    def __init__(self, sources: Sequence[str], troubles: Troubles, store: Path) -> None:
        self._sources, self._troubles = list(sources), troubles
        #: No log is in there: what is taken would be taken again.
        self._store = store

    def look(self) -> list[SeenFile]:
        """Every file once, by its path; those that were named come before those beside them."""
        found: dict[str, SeenFile] = {}
        for source in self._sources:
            for seen in self._of(source):
                found.setdefault(seen.path, seen)
        for source in self._sources:
            for seen in self._beside(source):
                found.setdefault(seen.path, seen)
        return list(found.values())

    def _of(self, source: str) -> Iterator[SeenFile]:
        path = Path(source)
        if has_magic(source) and not os.path.lexists(source):
            try:
                paths = matching(source)
            except InputUnreadable as error:
                self._troubles.say(source, error.why)
                return
            for each in paths:
                if not _hidden(each):
                    yield from self._at(Path(each))
        else:
            yield from self._at(path)

    def _at(self, path: Path) -> Iterator[SeenFile]:
        try:
            found = path.stat()
        except OSError as error:
            self._troubles.say(str(path), _why(error))
            return
        if stat.S_ISDIR(found.st_mode):
            yield from self._below(path)
        elif stat.S_ISREG(found.st_mode):
            yield SeenFile(os.path.abspath(path), path.name, found)
        else:
            self._troubles.say(
                str(path), "it is no file but a pipe, a device or a socket; `incoop ingest -` reads those"
            )

    def _below(self, top: Path) -> Iterator[SeenFile]:
        """The files below a folder; what is gone since it was listed, or a link to nothing, is no log."""
        for path, found in walk(
            top, lambda at, error: self._troubles.say(str(at), _why(error)), self._store, wary=True
        ):
            if found is not None and stat.S_ISREG(found.st_mode):
                yield SeenFile(os.path.abspath(path), path.relative_to(top).as_posix(), found)

    def _beside(self, source: str) -> Iterator[SeenFile]:
        path = Path(source)
        # Path's own methods raise where a name is too long.
        if os.path.isdir(path) or (has_magic(source) and not os.path.exists(path)):
            return
        wanted = live_name(path.name)
        try:
            with os.scandir(path.parent) as entries:
                near = sorted(entry.path for entry in entries if entry.is_file() and live_name(entry.name) == wanted)
        except OSError:
            return
        for each in near:
            try:
                yield SeenFile(os.path.abspath(each), os.path.basename(each), os.stat(each), beside=True)
            except OSError:
                continue


def _hidden(path: str) -> bool:
    return os.path.basename(path).startswith(("_", "."))


def _why(error: OSError) -> str:
    return (error.strerror or str(error))[:200]
