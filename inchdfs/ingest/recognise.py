"""Which known stream a file is: by the ids of what was taken, chunk by chunk.

Contract: a file continues a stream when all that was taken of it stands at the file's beginning. Nothing else makes
it that: not its inode, its name or its first lines. Where content leaves a choice, names and inodes decide:

(1) Taken bytes stand in a file, and nowhere else: it is the log, renamed, copied or compressed. Of several streams the
    one is meant that was last seen in this inode, then at this path, then the longest. But a log that was rotated does
    not come back under the name that is written to, unless it is the same inode.
(2) They stand in a file that is called as its rotated copy would be, while the log itself is there: a copy, of which
    nothing is taken as long as the log is there.
(3) The same for a file that is but a beginning of what was taken: a copy that is being made, or was made before the
    last lines came.
(4) Else it is another log, even where its first lines, or all of them, are the same.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import xxhash

from incoop.base.content_ids import content_id
from incoop.inchdfs.cutting.chunk_table import EDGE, offsets_of
from incoop.inchdfs.ingest.log_file import LogFile
from incoop.inchdfs.ingest.names import is_rotated, live_name, may_be_copy
from incoop.inchdfs.ingest.streams import Stream

#: The bytes of a stored chunk, by its id.
Stored = Callable[[bytes], bytes]


#: Chunks that are compared of a file that lies where it lay: another one, in the same inode, would have to have all of
#: them, some 64 KiB each at least, at the same places.
_COMPARED = 16


class Match(enum.Enum):
    """What a file and what was taken of a stream have in common."""

    NONE = enum.auto()
    #: The file is a beginning of it, and shorter.
    BEGINNING = enum.auto()
    #: All of it is the file's beginning.
    ALL = enum.auto()


@dataclass(frozen=True, slots=True)
class Matching:
    """A stream whose beginning a file shares, and what is known of where it is."""

    stream: Stream
    match: Match
    #: Its log is somewhere else, too.
    lives: bool


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is: a stream's log, a copy of it, or neither."""

    stream: Stream | None = None
    copy: bool = False


def decide(path: str, inode: tuple[int, int], matching: Iterable[Matching]) -> Recognised:
    """What a file is, from what it matches."""
    every = list(matching)
    free = [
        each.stream
        for each in every
        if each.match is Match.ALL and not each.lives and not _comes_back(path, inode, each.stream)
    ]
    if free:  # step (1)
        return Recognised(max(free, key=lambda s: (s.inode == inode, s.path == path, s.size)))
    copies = [each.stream for each in every if may_be_copy(path, each.stream.path)]
    if copies:  # steps (2), (3)
        return Recognised(max(copies, key=lambda s: s.size), copy=True)
    return Recognised()  # step (4)


def _comes_back(path: str, inode: tuple[int, int], stream: Stream) -> bool:
    rotated_before = is_rotated(stream.path) and not is_rotated(path) and live_name(stream.path) == live_name(path)
    return rotated_before and stream.inode != inode


def match(file: LogFile, stream: Stream, stored: Stored) -> Match:
    """Compare a file with what was taken of a stream, as far as they go.

    Every chunk is compared, unless the file lies in the inode that the stream was last seen in: then some do, of which
    the first and the last are two. A log that grows costs what it grew by.
    """
    if not stream.size or not file.length or file.lead != stream.skip:
        return Match.NONE
    if file.inode == stream.inode and not file.compressed and file.length >= stream.size:
        return Match.ALL if _stand(file, stream, _spread(len(stream.rows))) else Match.NONE
    position = 0
    for id_, length in zip(stream.rows["id"].tolist(), stream.rows["length"].tolist(), strict=True):
        data = file.read_at(position, length)
        if len(data) < length:
            return Match.BEGINNING if stored(id_).startswith(data) else Match.NONE
        if content_id(data) != id_:
            return Match.NONE
        position += length
    return Match.ALL


def begin_alike(file: LogFile, streams: Sequence[Stream]) -> list[Stream]:
    """The streams that a file may match, by their first bytes: of thousands most are told apart by these."""
    first = file.read_at(0, EDGE)
    head = xxhash.xxh3_64_intdigest(first)
    return [
        stream
        for stream in streams
        if stream.size and (min(len(first), int(stream.rows["length"][0])) < EDGE or stream.rows["head"][0] == head)
    ]


def still_holds(file: LogFile, stream: Stream) -> bool:
    """Whether a file that held a stream when it was last looked at does so now: by the first and the last chunk taken.

    In one that was truncated, and written beyond where it was taken to, both would have to stand where they did.
    """
    return file.lead == stream.skip and _stand(file, stream, {0, len(stream.rows) - 1} if stream.size else set())


def _stand(file: LogFile, stream: Stream, which: set[int]) -> bool:
    """Whether some chunks of a stream stand in a file where they should."""
    offsets, lengths, ids = offsets_of(stream.rows), stream.rows["length"], stream.rows["id"]
    return all(content_id(file.read_at(int(offsets[at]), int(lengths[at]))) == bytes(ids[at]) for at in sorted(which))


def _spread(count: int) -> set[int]:
    """Some of so many chunks: all of few, else from the first to the last.

    Example:
        >>> sorted(_spread(3)), sorted(_spread(1000))[:3], max(_spread(1000)), len(_spread(1000))
        ([0, 1, 2], [0, 66, 133], 999, 16)
    """
    if count <= _COMPARED:
        return set(range(count))
    return {at * (count - 1) // (_COMPARED - 1) for at in range(_COMPARED)}
