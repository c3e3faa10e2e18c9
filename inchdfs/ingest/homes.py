"""Where each known stream is now, look by look; and which files are streams that were not known.

Contract: a look decides by what `stat` says and by content. A file that holds a stream is kept open, so that it can be
read to its end when it is renamed to where nobody looks, or removed. Of more files than may be open those are closed of
which all was taken, and recognised again when they change.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass

from incoop.base.file_stamps import SETTLED_NS
from incoop.inchdfs.errors import InputNotFound, InputUnreadable
from incoop.inchdfs.files.sources import COMPRESSED
from incoop.inchdfs.ingest.listing import LogListing, SeenFile, Troubles
from incoop.inchdfs.ingest.log_file import PIECE, LogFile
from incoop.inchdfs.ingest.names import is_rotated, may_be_copy
from incoop.inchdfs.ingest.recognise import Match, Matching, Stored, begin_alike, decide, match
from incoop.inchdfs.ingest.streams import Stream, unused_name

#: A rotated file that was not written to for so many seconds is not written to any more: a daemon that is told to open
#: its log anew does so within a second or two. If it is after all, that is taken, too.
QUIET_SECONDS = 5.0

#: A compressed file that cannot be read is being written, unless it is older than this.
_BEING_COMPRESSED = 10.0

#: Of two files that nobody saw before, one that is a beginning of the other is being copied, unless it is older.
_BEING_COPIED = 60.0

#: Files kept open, and at most so large a part of what the system allows.
_MOST_OPEN = 256
_SHARE_OF_HANDLES = 4

#: What says that a file is as it was.
_Look = tuple[int, int, int, int, int]


def _look_of(found: os.stat_result) -> _Look:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@dataclass(frozen=True, slots=True)
class _Left:
    """A file of which nothing is to be taken while it is as it was."""

    look: _Look
    #: The stream that it is a copy of, or that was closed, how long its content is, and how much they were compared.
    stream: Stream | None = None
    length: int = 0
    compared: int = 0
    #: It holds the stream; else it is a copy, or nothing.
    holds: bool = False
    #: Why it cannot be read.
    trouble: str = ""


class Homes:
    """The streams of a dataset, each with the file that holds it now."""

    def __init__(
        self,
        streams: list[Stream],
        listing: LogListing,
        troubles: Troubles,
        stored: Stored,
        most_open: int = _MOST_OPEN,
    ) -> None:
        self.streams = streams
        self._listing, self._troubles, self._stored = listing, troubles, stored
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most_open = min(most_open, allowed // _SHARE_OF_HANDLES)
        self._left: dict[str, _Left] = {}
        #: Streams whose files were closed, and inodes of those that are open.
        self._held: set[int] = set()
        self._inodes: set[tuple[int, int]] = set()
        #: Streams whose files may be closed, and those that were all taken, by inode.
        self._idle: list[Stream] = []
        self._all_taken: dict[tuple[int, int], Stream] = {}
        #: Files of the last look, and whether some of them wait until others can be closed.
        self.files = 0
        self.unopened = False

    def close(self) -> None:
        for stream in self.streams:
            self.leave(stream)

    def leave(self, stream: Stream) -> None:
        """Forget where a stream is."""
        if isinstance(stream.home, LogFile):
            stream.home.close()
        stream.home = None

    def give_up(self, stream: Stream, why: str) -> None:
        """Leave a file alone that cannot be read, until it changes."""
        file = stream.home
        assert isinstance(file, LogFile)
        self._left[file.path] = _Left(_look_of(file.found()), trouble=why)
        self._troubles.say(file.path, why)
        self.leave(stream)

    def look(self) -> None:
        """Find each stream again, and those that are new, in the order in which they were last written to."""
        self._troubles.begin_look()
        seen = self._listing.look()
        self.files = sum(not each.beside for each in seen)
        by_inode = {each.inode: each for each in reversed(seen)}
        for stream in self.streams:
            if isinstance(stream.home, LogFile):
                self._look_again(stream, stream.home, by_inode)
        # A log that nobody took a line of, and that is gone, never was.
        self.streams[:] = [stream for stream in self.streams if stream.size or stream.home is not None]
        now = {each.path: _look_of(each.found) for each in seen}
        self._left = {path: left for path, left in self._left.items() if now.get(path) == left.look}
        self._held = {id(left.stream) for left in self._left.values() if left.holds}
        self._inodes = {s.home.inode for s in self.streams if isinstance(s.home, LogFile)}
        self._idle = [s for s in reversed(self.streams) if isinstance(s.home, LogFile) and (s.waits or not s.lag)]
        self._all_taken = {
            (s.stamp.device, s.stamp.inode): s for s in self.streams if s.trusted and s.stamp is not None
        }
        self.unopened = False
        new = [opened for each in self._hinted_first(seen) if (opened := self._see(each)) is not None]
        self._begin(new)

    def _look_again(self, stream: Stream, file: LogFile, by_inode: dict[tuple[int, int], SeenFile]) -> None:
        """The file is the one that it was, but may have been renamed, removed, truncated or written to."""
        before = max(file.length, stream.size)
        try:
            found = file.found()
            if not file.compressed:
                file.refresh()
        except (OSError, InputUnreadable) as error:
            self._troubles.say(file.path, getattr(error, "why", None) or str(error))
            self.leave(stream)
            return
        now = by_inode.get(file.inode)
        if now is not None:
            file.moved = file.moved or now.path != file.path
            file.path = stream.path = now.path
        if file.compressed:
            changed = stream.stamp is not None and found.st_mtime_ns != stream.stamp.mtime_ns
        else:
            changed = file.length < before
            file.ended = (now is None or file.moved or is_rotated(file.path)) and _is_quiet(found)
        if changed or (now is None and not found.st_nlink and not stream.lag):
            self.leave(stream)

    def _hinted_first(self, seen: list[SeenFile]) -> list[SeenFile]:
        """Where several files may be a stream, the one is asked first that it was last seen in."""
        inodes = {stream.inode for stream in self.streams}
        paths = {stream.path for stream in self.streams}
        return sorted(seen, key=lambda s: (s.inode not in inodes, s.path not in paths, s.found.st_mtime_ns, s.path))

    def _see(self, seen: SeenFile) -> tuple[SeenFile, LogFile] | None:
        """Find out what a file is that is no stream's home; one that was not known is given back, open."""
        if seen.inode in self._inodes or self._is_left(seen):
            return None
        if (known := self._trusted(seen)) is not None:
            self._left[seen.path] = _Left(_look_of(seen.found), known, known.size, holds=True)
            self._held.add(id(known))
            known.path = seen.path
            return None
        if not self._has_room():
            self.unopened = True
            return None
        try:
            file = LogFile(seen.path)
        except InputNotFound:  # gone since it was listed
            return None
        except InputUnreadable as error:
            self._left[seen.path] = _Left(_look_of(seen.found), trouble=error.why)
            self._say_trouble(seen, error.why)
            return None
        kept = file.inode not in self._inodes and self._recognise(seen, file)
        if not kept:
            file.close()
            return None
        self._inodes.add(file.inode)
        return None if any(stream.home is file for stream in self.streams) else (seen, file)

    def _recognise(self, seen: SeenFile, file: LogFile) -> bool:
        """Make a file the home of its stream, if it has one; False where nothing is to be taken of it."""
        if not file.length:
            return False
        look = _look_of(file.found())
        try:
            recognised = decide(seen.path, file.inode, self._matching(file))
        except (InputUnreadable, InputNotFound) as error:
            self._left[seen.path] = _Left(look, trouble=error.why)
            return False
        stream = recognised.stream
        if recognised.copy or (stream is None and seen.beside):
            self._left[seen.path] = _Left(look, stream, file.length, stream.size if stream is not None else 0)
            return False
        if stream is not None:
            self._settle(stream, seen.path, file)
        return True

    def _settle(self, stream: Stream, path: str, file: LogFile) -> None:
        stream.home, stream.path, stream.stamp, stream.trusted = file, path, file.stamp(), False
        file.ended = file.compressed or (is_rotated(path) and _is_quiet(file.found()))

    def _begin(self, new: list[tuple[SeenFile, LogFile]]) -> None:
        """Begin streams with files that were not known, but for those that are copies of others of them."""
        begun = [(s.path, s.home, s) for s in self.streams if not s.size and isinstance(s.home, LogFile)]
        known = len(begun)
        for seen, file in sorted(new, key=lambda each: (is_rotated(each[0].path), -each[1].length)):
            originals = (
                stream for path, other, stream in begun if may_be_copy(seen.path, path) and _copies(file, other)
            )
            if (original := next(originals, None)) is not None:
                self._left[seen.path] = _Left(_look_of(file.found()), original, file.length)
                file.close()
                continue
            stream = Stream(seen.name, seen.path, skip=file.lead)
            self._settle(stream, seen.path, file)
            begun.append((seen.path, file, stream))
        names = {stream.name for stream in self.streams}
        for _, _, stream in sorted(begun[known:], key=lambda each: (each[1].stamp().mtime_ns, each[0])):
            stream.name = unused_name(stream.name, names)
            names.add(stream.name)
            self.streams.append(stream)

    def _matching(self, file: LogFile) -> Iterator[Matching]:
        for stream in begin_alike(file, self.streams):
            if (found := match(file, stream, self._stored)) is not Match.NONE:
                yield Matching(stream, found, lives=self._lives(stream))

    def _lives(self, stream: Stream) -> bool:
        return stream.home is not None or id(stream) in self._held

    def _is_left(self, seen: SeenFile) -> bool:
        left = self._left.get(seen.path)
        if left is None:
            return False
        if left.trouble:
            self._say_trouble(seen, left.trouble)
        stream = left.stream
        if stream is None or left.holds:
            return True
        if not self._lives(stream):
            return left.length < stream.size  # else the copy is the log now: nothing else holds it
        # What was a copy of what had not been taken yet is compared with that, each time that it has doubled.
        return stream.size < min(left.length, max(1, 2 * left.compared)) or left.compared >= left.length

    def _trusted(self, seen: SeenFile) -> Stream | None:
        """The stream of which all was taken that a file held, if it was not written to since."""
        stream = self._all_taken.get(seen.inode)
        if stream is None or stream.stamp is None or self._lives(stream):
            return None
        stamp = stream.stamp  # without the time that a rename moves
        return stream if (stamp.size, stamp.mtime_ns) == (seen.found.st_size, seen.found.st_mtime_ns) else None

    def _say_trouble(self, seen: SeenFile, why: str) -> None:
        young = abs(time.time() - seen.found.st_mtime) < _BEING_COMPRESSED
        if not (young and seen.path.endswith(COMPRESSED)):
            self._troubles.say(seen.path, why)

    def _has_room(self) -> bool:
        """Whether another file may be open, once one was closed of which nothing is to be taken."""
        while len(self._inodes) >= self._most_open and self._idle:
            stream = self._idle.pop()
            file = stream.home
            assert isinstance(file, LogFile)
            self._inodes.discard(file.inode)
            self._left[file.path] = _Left(_look_of(file.found()), stream, stream.size, holds=True)
            self._held.add(id(stream))
            self.leave(stream)
        return len(self._inodes) < self._most_open

    def note_stamps(self) -> None:
        """See which files need not be read again by the next ingest: those of which all was taken, for some time."""
        settled = time.time_ns() - SETTLED_NS
        for stream in self.streams:
            if isinstance(stream.home, LogFile) and not stream.trusted:
                stream.stamp = stream.home.stamp()
                all_taken = stream.home.compressed or stream.home.lead + stream.size == stream.stamp.size
                stream.trusted = all_taken and not stream.lag and stream.stamp.mtime_ns < settled


def _is_quiet(found: os.stat_result) -> bool:
    return abs(time.time() - found.st_mtime) >= QUIET_SECONDS


def _copies(file: LogFile, other: LogFile) -> bool:
    """Whether a file is a copy of another one, or will be."""
    age = abs(time.time() - file.found().st_mtime)
    if file.lead != other.lead or file.length > other.length or (file.length < other.length and age > _BEING_COPIED):
        return False
    return all(
        file.read_at(at, PIECE) == other.read_at(at, PIECE)[: file.length - at] for at in range(0, file.length, PIECE)
    )
