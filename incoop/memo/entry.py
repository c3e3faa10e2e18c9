"""A memo entry and its bytes in Redis.

Contract: `decode_entries` gives an entry only when its keyed checksum over (task id + body) is right, so an entry that
was changed, cut, unsigned, or copied from another task id is a miss. No pickle: a fixed header and packed hashes.

Layout, little endian: MAC 16 | header | refs | inline. The number of refs is in the header.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from incoop.base.checksums import DIGEST_BYTES, Signer
from incoop.base.ids import ID_BYTES, split_ids

#: Version of this layout. An entry of another version is a miss, never a guess.
ENTRY_FORMAT = 3

#: A payload up to this many bytes is kept inside the entry: reading it costs no second round trip, and 100,000 of
#: them at the limit are still only 100 MB of Redis memory.
INLINE_BYTES = 1024

# MAC, format, flags, mark, (pad), refs, offset, length, epoch, pack, digest.
_HEADER = struct.Struct("<16sBBBxIQQQ16s16s")
_BODY = struct.Struct("<BBBxIQQQ16s16s")
# For reading, without the epoch.
_READ = struct.Struct("<16sBBBxIQQ8x16s16s")
_EPOCH = struct.Struct("<Q")
_EPOCH_AT = struct.calcsize("<16sBBBxIQQ")
_NO_ID = bytes(ID_BYTES)
_HAS_PACK = 1
_HAS_DIGEST = 2


@dataclass(frozen=True, slots=True)
class MemoEntry:
    """Everything the planner needs to reuse one task's result. Equal task ids have interchangeable entries."""

    #: Name of the pack that holds the result; None when the result is inline (or empty).
    pack: bytes | None = None
    #: The task's own region of the pack.
    offset: int = 0
    length: int = 0
    #: `block_hash` of the region: check it before decoding the region. Empty when there is no region.
    digest: bytes = b""
    #: The result itself, when it is small (`INLINE_BYTES`).
    inline: bytes = b""
    #: Packed ids (16 bytes each) of other packs whose blocks this result refers to; the collector keeps those too.
    refs: bytes = b""
    #: A small number that says something of the result to the stage whose it is.
    mark: int = 0

    def packs(self) -> tuple[bytes, ...]:
        """Every pack that this entry needs."""
        own = (self.pack,) if self.pack is not None else ()
        return own + split_ids(self.refs)


def encode_entries(items: Iterable[tuple[bytes, MemoEntry]], signer: Signer, epoch: int) -> list[bytes]:
    """The signed bytes of each (task id, entry). `epoch` says for the collector when they were written."""
    out = []
    pack_header, copy = _BODY.pack, signer.entry_state().copy
    for task_id, entry in items:
        pack, digest, refs = entry.pack, entry.digest, entry.refs
        if len(task_id) != ID_BYTES or len(refs) % ID_BYTES:
            raise ValueError(f"task id and refs are made of {ID_BYTES}-byte ids: {entry}")
        if (pack is not None and len(pack) != ID_BYTES) or len(digest) not in (0, DIGEST_BYTES):
            raise ValueError(f"pack and digest are {ID_BYTES} bytes: {entry}")
        flags = (_HAS_PACK if pack is not None else 0) | (_HAS_DIGEST if digest else 0)
        # fmt: off
        body = pack_header(
            ENTRY_FORMAT, flags, entry.mark, len(refs) // ID_BYTES, entry.offset, entry.length, epoch,
            pack or _NO_ID, digest or _NO_ID,
        )
        # fmt: on
        if refs or entry.inline:
            body += refs + entry.inline
        state = copy()
        state.update(task_id)
        state.update(body)
        out.append(state.digest() + body)
    return out


class _Draft:
    """Same slots as MemoEntry, but assignable: filled, then turned into a (frozen) MemoEntry.

    A frozen dataclass sets each field through object.__setattr__, which would double the cost of a lookup.
    """

    __slots__ = tuple(field.name for field in fields(MemoEntry))

    def __init__(self, pack: Any, offset: Any, length: Any, digest: Any, inline: Any, refs: Any, mark: Any) -> None:
        self.pack = pack
        self.offset = offset
        self.length = length
        self.digest = digest
        self.inline = inline
        self.refs = refs
        self.mark = mark


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's garbage collector from looking at a bulk of new objects without cycles again and again: that
    costs as much as decoding them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def decode_entries(
    task_ids: Sequence[bytes], raws: Sequence[bytes | None], signer: Signer, rejected: list[tuple[bytes, str]]
) -> list[MemoEntry | None]:
    """Verify and decode stored entries; what is absent is None, what is not trusted is None and in `rejected`.

    The hot loop of a lookup: about 2 microseconds for each entry, half of it the keyed checksum.
    """
    out: list[MemoEntry | None] = []
    add, unpack, header_bytes, draft = out.append, _READ.unpack_from, _READ.size, _Draft
    copy = signer.entry_state().copy
    for task_id, raw in zip(task_ids, raws, strict=True):
        if raw is None:
            add(None)
            continue
        if len(raw) < header_bytes:
            rejected.append((task_id, "truncated"))
            add(None)
            continue
        state = copy()
        state.update(task_id)
        state.update(raw[16:])
        mac, layout, flags, mark, refs, offset, length, pack, digest = unpack(raw)
        # A plain comparison: the caller cannot be timed by whoever wrote the entry, and misses are not answered.
        if state.digest() != mac:
            rejected.append((task_id, "keyed checksum does not match"))
            add(None)
            continue
        if layout != ENTRY_FORMAT:
            rejected.append((task_id, f"entry format {layout}"))
            add(None)
            continue
        if len(raw) == header_bytes:
            own_refs = inline = b""
        else:
            ends = header_bytes + refs * 16
            own_refs, inline = raw[header_bytes:ends], raw[ends:]
        # fmt: off
        entry: Any = draft(
            pack if flags & 1 else None, offset, length, digest if flags & 2 else b"", inline, own_refs, mark,
        )
        # fmt: on
        entry.__class__ = MemoEntry
        add(entry)
    return out


def epoch_of(raw: bytes) -> int:
    """When a stored entry was written, in the store's own sequence; -1 for what is no entry."""
    return int(_EPOCH.unpack_from(raw, _EPOCH_AT)[0]) if len(raw) >= _HEADER.size else -1
