"""Packs: files of blocks and headers, each written once. How one is filled, and how it is read.

Contract: a pack's name is known only when it is written; what is inside refers to it as `OWN_PACK`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from incoop.base.checksums import block_hash
from incoop.base.errors import IncoopError
from incoop.contraction.parts.rows import OWN_PACK

Waiting = TypeVar("Waiting")

#: A pack is written when it has grown to this: large enough for few files, small enough for a worker's memory.
PACK_BYTES = 64 << 20


class Reader(Protocol):
    """Reads ranges of packs. Raises BlockLost."""

    def read(self, pack: bytes, offset: int, length: int) -> bytes: ...


class BlockLost(IncoopError):
    """A stored block or header is missing or is not what it was; its task has to run again."""

    def __init__(self, pack: bytes, why: str, also: tuple[bytes, ...] = ()) -> None:
        super().__init__(pack, why, also)
        self.pack, self.why = pack, why
        #: Other packs that were found lost on the way.
        self.also = also

    @classmethod
    def of_all(cls, losses: Sequence[BlockLost]) -> BlockLost:
        """Several losses as one, so that all are mended at once."""
        first = losses[0]
        return cls(first.pack, first.why, tuple({pack for each in losses for pack in (each.pack, *each.also)}))

    def __str__(self) -> str:
        return f"pack {self.pack.hex()}: {self.why}"


class PackBuilder:
    """Collects the bytes of one pack."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self._at: dict[int, int] = {}

    def add(self, data: bytes) -> int:
        """Append; return the offset."""
        offset = self.size
        if data:
            self._at[offset] = len(self.parts)
            self.parts.append(data)
            self.size += len(data)
        return offset

    def add_region(self, data: bytes) -> tuple[bytes, int, int]:
        """Append; return the hash that verifies it, the offset and the length."""
        return block_hash(data), self.add(data), len(data)

    def read(self, offset: int, length: int) -> bytes:
        """What was added from `offset` on; several that were added one behind the other may be read at once."""
        at = self._at[offset]
        found = [self.parts[at]]
        while (have := sum(map(len, found))) < length:
            found.append(self.parts[at + len(found)])
        assert have == length
        return found[0] if len(found) == 1 else b"".join(found)


class OpenPack(Generic[Waiting]):
    """A pack that is being filled, and what waits for its name; a full one is written, and the next one begun."""

    def __init__(self, write: Callable[[list[bytes]], bytes]) -> None:
        self._write = write
        self._waiting: list[Waiting] = []
        self.builder = PackBuilder()

    def added(self, item: Waiting) -> list[tuple[bytes, Waiting]]:
        """Let an item wait, whose bytes were added. If the pack is full now: its name, with each of the items."""
        self._waiting.append(item)
        return self.flush() if self.builder.size >= PACK_BYTES else []

    def flush(self) -> list[tuple[bytes, Waiting]]:
        """Write the pack; its name, with each of the items that waited for it."""
        waiting, name = self._waiting, self._write(self.builder.parts) if self._waiting else b""
        self._waiting, self.builder = [], PackBuilder()
        return [(name, item) for item in waiting]


class PendingReader:
    """Reads packs, and what was just added to the pack being built."""

    def __init__(self, stored: Reader, pending: PackBuilder) -> None:
        self._stored, self._pending = stored, pending

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        if pack == OWN_PACK:
            return self._pending.read(offset, length)
        return self._stored.read(pack, offset, length)

    def stamp(self, pack: bytes) -> object:
        return getattr(self._stored, "stamp", _no_stamp)(pack) if pack != OWN_PACK else None


def _no_stamp(_: bytes) -> object:
    return None
