"""Everything a store holds, read once: the ground for collecting, counting and verifying.

Contract: reads only. Entries are verified by their keyed checksum; one that fails has no packs, and is listed as
damaged. Raises when Redis does not answer, because an unread store must not look like an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incoop.base.checksums import Signer
from incoop.base.ids import ID_BYTES
from incoop.memo.entry import MemoEntry, decode_entries, epoch_of
from incoop.memo.generations import GenerationHead, decode_head
from incoop.memo.link import Link
from incoop.memo.redis_keys import RedisKeys

#: Entries asked for in one step of a scan: a few milliseconds of the server's time.
SCAN_COUNT = 5000

Ids = npt.NDArray[np.uint64]
Progress = Callable[[str, int], None]


def no_progress(_what: str, _count: int) -> None:
    """For callers without a terminal."""


def id_heads(packed: bytes) -> Ids:
    """The first 8 bytes of each packed id, sorted. Ids are hashes, so two that share them keep one too many, never
    one too few."""
    return np.unique(np.frombuffer(packed, dtype="<u8")[::2])


@dataclass(slots=True)
class Census:
    """The store's entries as parallel lists, its packs numbered by first mention, its generations."""

    ids: list[bytes] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    #: Bytes in Redis: id and entry.
    sizes: list[int] = field(default_factory=list)
    #: For each entry, the numbers of the packs it needs.
    packs_of: list[tuple[int, ...]] = field(default_factory=list)
    packs: dict[bytes, int] = field(default_factory=dict)
    #: Entries that fail their check: id -> epoch as far as it can be read.
    damaged: dict[bytes, int] = field(default_factory=dict)
    heads: list[GenerationHead] = field(default_factory=list)
    damaged_generations: list[bytes] = field(default_factory=list)

    def number(self, pack: bytes) -> int:
        return self.packs.setdefault(pack, len(self.packs))

    def heads_of_ids(self) -> Ids:
        return np.frombuffer(b"".join(self.ids), dtype="<u8")[::2] if self.ids else np.zeros(0, dtype=np.uint64)


def scan_entries(
    link: Link, key: bytes, signer: Signer
) -> Iterator[tuple[list[bytes], list[bytes], list[MemoEntry | None]]]:
    """Pages of (ids, stored bytes, verified entries) of a hash of entries."""
    cursor = 0
    while True:
        cursor, page = link.client.hscan(key, cursor, count=SCAN_COUNT)
        if page:
            ids, raws = list(page.keys()), list(page.values())
            yield ids, raws, decode_entries(ids, raws, signer, [])
        if not cursor:
            return


def packs_named(link: Link, keys: RedisKeys, signer: Signer, ids: Sequence[bytes]) -> set[bytes]:
    """Packs that the (verified) entries of these tasks need."""
    packs: set[bytes] = set()

    def receive(start: int, values: list[bytes | None]) -> None:
        for entry in decode_entries(ids[start : start + len(values)], values, signer, []):
            packs.update(entry.packs() if entry is not None else ())

    link.wire.hmget(keys.entries, ids, receive)
    return packs


def read_heads(link: Link, keys: RedisKeys, signer: Signer) -> tuple[list[GenerationHead], list[bytes]]:
    """The generations, and the fields of those that fail their check."""
    good, damaged = [], []
    for name, raw in link.client.hgetall(keys.generations).items():
        head = decode_head(name, raw, signer)
        if head is None:
            damaged.append(name)
        else:
            good.append(head)
    return good, damaged


def take_census(link: Link, keys: RedisKeys, signer: Signer, progress: Progress = no_progress) -> Census:
    """Read all entries and generations."""
    census = Census()
    seen: set[bytes] = set()
    for ids, raws, entries in scan_entries(link, keys.entries, signer):
        for task, raw, entry in zip(ids, raws, entries, strict=True):
            # A scan may show an entry twice while the hash grows.
            if task in seen:
                continue
            seen.add(task)
            if entry is None or len(task) != ID_BYTES:
                census.damaged[task] = epoch_of(raw)
                continue
            census.ids.append(task)
            census.epochs.append(epoch_of(raw))
            census.sizes.append(len(raw) + ID_BYTES)
            census.packs_of.append(tuple(census.number(pack) for pack in entry.packs()))
        progress("entries", len(seen))
    census.heads, census.damaged_generations = read_heads(link, keys, signer)
    return census
