"""Write what ran: an entry after the pack that it points to, the generation last.

Contract: a crash at any moment leaves entries that are whole, and the last generation that was committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from incoop.engine.events import DidStore, Events
from incoop.engine.record import Record
from incoop.memo import MemoEntry, MemoStore
from incoop.memo.null import NullMemo

Memo = MemoStore | NullMemo


@dataclass(slots=True)
class Keeper:
    """Keeps the results of one attempt at a run."""

    memo: Memo
    events: Events
    #: The run's number; 0 while it has none.
    generation: int = 0
    committed: bool = False

    def store(self, entries: Mapping[bytes, MemoEntry]) -> None:
        """Write entries whose packs are written."""
        if entries:
            self.memo.store(entries)
            self.events.tell(DidStore(tuple(entries)))

    def note(self, id_: bytes, content: bytes) -> None:
        """Write something small."""
        self.store({id_: MemoEntry(inline=content)})

    def rekey(self, ids: Mapping[bytes, bytes]) -> None:
        """Write entries that are known by one id under another one, too."""
        entries = self.memo.lookup(list(ids))
        self.store({new: entry for new, entry in zip(ids.values(), entries, strict=True) if entry is not None})

    def store_bytes(self) -> int | None:
        """Bytes of all packs; None where they cannot be listed."""
        try:
            return sum(pack.size for pack in self.memo.blobs.scan())
        except OSError:
            return None

    def commit(self, key: str, record: Record, live: bytes) -> bool:
        """End the generation; says whether it is recorded. `live` are the ids that must not be collected."""
        recorded = self.memo.commit_generation(key, self.generation, record.to_bytes(), live)
        self.committed = True
        return recorded
