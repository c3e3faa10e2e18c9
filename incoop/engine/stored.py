"""Stored runs as the engine finds them: through memo entries, and in the blob store."""

from __future__ import annotations

from typing import Any

from incoop.code import unwatched
from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.packs import BlockLost
from incoop.memo import BlobStore, MemoEntry, PackUnreadable


class BlobReader:
    """The blob store as the contraction reads it: what is gone is a lost block, to be computed again."""

    def __init__(self, blobs: BlobStore) -> None:
        self.blobs = blobs
        self._stamps: dict[bytes, object] = {}

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        try:
            with unwatched():
                return self.blobs.read(pack, offset, length)
        except PackUnreadable as error:
            raise BlockLost(pack, error.reason) from error

    def stamp(self, pack: bytes) -> object:
        """Equal as long as nobody wrote to the pack, by one look at it for a task; None where that cannot be told."""
        if pack not in self._stamps:
            with unwatched():
                self._stamps[pack] = self.blobs.stamp(pack)
        return self._stamps[pack]


def run_of_entry(entry: MemoEntry) -> RunRef:
    """Where the run is whose header an entry names."""
    assert entry.pack is not None
    return RunRef(entry.pack, entry.digest, entry.offset, entry.length, bool(entry.mark))


def entry_of_run(ref: RunRef, **fields: Any) -> MemoEntry:
    """An entry that names a stored run."""
    return MemoEntry(
        pack=ref.pack, offset=ref.offset, length=ref.length, digest=ref.digest, mark=int(ref.few), **fields
    )
