"""What was read and decoded before, kept by a worker from task to task: an update reads what the last one read.

Contract: what is kept is found by the hash of its bytes, which were verified when they were read, and only as long as
the pack that they were read from is the file that it was: one that is gone, or was written to, is read again, and found
out. It follows from these bytes alone: equal ones may stand at several places of a pack. Nothing depends on what is
kept. What is kept is never changed in place.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from incoop.contraction.parts.packs import Reader

#: What all workers of a machine keep, decoded, is this share of its memory at most, and what one of them does, as many
#: bytes. A list of 116 MB with 1.4 million keys has 180 MB of blocks and tables in its chunks, and 50 in its nodes.
_SHARE_OF_MEMORY = 1 / 16
_LEAST, _MOST = 16 << 20, 256 << 20

#: Where a container is told how much memory it has.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))

#: Nothing larger than this share of it is kept: it would push out everything else.
_LARGEST = 1 / 8

#: Bytes of a value's own objects, about: without them very small ones would seem to cost nothing.
_BESIDE = 1000


class Sized(Protocol):
    """Something decoded."""

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""


def stamp_of(reader: Reader, pack: bytes) -> object:
    """Equal as long as nobody wrote to a pack; None where its reader cannot tell."""
    stamp = getattr(reader, "stamp", None)  # asking whether it has a protocol takes longer
    return stamp(pack) if stamp is not None else None


class AtHand:
    """Decoded blocks and tables, by the hash of their bytes."""

    def __init__(self, most: int | None = None) -> None:
        #: Found out when something is to be kept: a worker's limit is set after this was loaded.
        self._most = most
        self._kept: dict[bytes, tuple[object, Any, int]] = {}
        self._names: list[bytes] = []
        self._size = 0
        # An update reads what there is in the order of the input: what was used longest ago will be used next.
        self._chance = random.Random(2011)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """How much memory all of it takes."""
        return self._size

    def get(self, digest: bytes, stamp: object) -> Any:
        """What was kept under this hash, read from the same file; else None."""
        found = self._kept.get(digest)
        return found[1] if found is not None and stamp is not None and found[0] == stamp else None

    def keep(self, digest: bytes, stamp: object, value: Sized) -> None:
        """Keep what bytes of this hash were decoded to; something else may go for it, by chance."""
        if self._most is None:
            self._most = own_share()
        size = value.nbytes + _BESIDE
        if stamp is None or size > self._most * _LARGEST:
            return
        with self._lock:
            if digest in self._kept:
                self._size -= self._kept[digest][2]
            else:
                self._names.append(digest)
            self._kept[digest] = stamp, value, size
            self._size += size
            while self._size > self._most:
                at = self._chance.randrange(len(self._names))
                self._names[at], self._names[-1] = self._names[-1], self._names[at]
                self._size -= self._kept.pop(self._names.pop())[2]


def own_share(limits: Sequence[Path] = _LIMITS) -> int:
    """How much this process may keep: its part of the memory that it may use, for one of a worker on each core."""
    may_use = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in limits:
        with contextlib.suppress(OSError, ValueError):  # not there, or "max"
            may_use.append(int(path.read_text()))
    own = resource.getrlimit(resource.RLIMIT_AS)[0]  # as Spark sets it for each of its workers
    shares = [int(min(may_use) * _SHARE_OF_MEMORY) // (os.cpu_count() or 1)]
    if own != resource.RLIM_INFINITY:
        shares.append(int(own * _SHARE_OF_MEMORY))
    return min(max(_LEAST, min(shares)), _MOST)


#: Of this process.
at_hand = AtHand()
