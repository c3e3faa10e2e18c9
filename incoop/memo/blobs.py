"""The blob store: results too large for Redis, in packs named by their keyed checksum.

Contract: a pack's name is the keyed hash of its bytes, so nobody without the secret can make a pack that a name
accepts; `check` verifies it. A range of a pack is verified by the hash that a trusted entry holds:
`read_region` does that and gives None (a miss, with an event) for whatever is missing, short or changed.
`read` and `read_many` give unverified bytes: pass them through `verify_block` before decoding.
"""

from __future__ import annotations

import contextlib
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from incoop.base.checksums import PackSigner, verify_block
from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp
from incoop.base.ids import ID_BYTES
from incoop.memo.cache import CachedFiles
from incoop.memo.errors import PackUnreadable, PackWriteFailed
from incoop.memo.events import DidRejectPack, EventLog
from incoop.memo.files import FolderFiles, PackFiles, Range
from incoop.memo.frames import FrameIndex, FrameWriter, read_frames, read_index

T = TypeVar("T")

#: Ending of a compressed pack's file name.
COMPRESSED = ".z"

#: Indexes of compressed packs kept in memory: about 16 bytes for each 64 KiB of pack.
INDEXES_KEPT = 256

#: Bytes for each step of checking a whole pack.
CHECK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack as the collector sees it."""

    id: bytes
    size: int
    modified: float


def parse_compression(text: str) -> int | None:
    """`none`, or `zstd:LEVEL`.

    Example:
        >>> parse_compression("zstd:3"), parse_compression("none")
        (3, None)
    """
    if text == "none":
        return None
    kind, _, level = text.partition(":")
    if kind != "zstd" or not (level or "1").isdigit() or not 1 <= int(level or "1") <= 19:
        raise BadCall(f"compression={text!r} is not known: use none, zstd:1 or zstd:3")
    return int(level or "1")


class BlobStore:
    """Packs by name, read in ranges."""

    def __init__(self, files: PackFiles, signer: PackSigner, *, compression: str = "none", events: EventLog) -> None:
        self.files = files
        self._signer = signer
        self._level = parse_compression(compression)
        self._events = events
        self._indexes: OrderedDict[bytes, FrameIndex] = OrderedDict()

    def write(self, parts: Iterable[bytes | bytearray | memoryview]) -> bytes:
        """Write the parts, one after the other, as a pack; its id. It exists whole, or not at all."""
        temporary = ""
        try:
            handle, temporary = self.files.create()
            with contextlib.ExitStack() as closing:
                closing.callback(_close, handle)
                pack = self._fill(handle, parts)
                handle.close()
            self.files.publish(temporary, self._name(pack, self._level is not None))
        except OSError as error:
            self._drop(temporary)
            raise PackWriteFailed(self.files.where, error.strerror or str(error)) from error
        except BaseException:
            self._drop(temporary)
            raise
        self._indexes.pop(pack, None)
        return pack

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        """The stored bytes of one range. Raises PackUnreadable."""
        return self.read_many(pack, [(offset, length)])[0]

    def read_many(self, pack: bytes, ranges: Sequence[Range]) -> list[bytes]:
        """The stored bytes of each range, in one opening of the pack. Raises PackUnreadable."""
        try:
            return self._read_many(pack, ranges)
        except PackUnreadable:
            # Perhaps only the local copy is damaged: drop it, and ask the origin.
            if not self.forget_cached(pack):
                raise
            return self._read_many(pack, ranges)

    def _read_many(self, pack: bytes, ranges: Sequence[Range]) -> list[bytes]:
        out = self._either(pack, lambda name, framed: self._ranges(pack, name, framed, ranges))
        for (_, length), data in zip(ranges, out, strict=True):
            if len(data) != length:
                raise PackUnreadable(pack.hex(), "truncated")
        return out

    def read_region(self, pack: bytes, offset: int, length: int, digest: bytes) -> bytes | None:
        """One range, verified against the hash from a trusted entry; None (and an event) when it is not that."""
        reason = "does not match its hash"
        for last_try in (False, True):
            try:
                data = self.read(pack, offset, length)
                if verify_block(data, digest):
                    return data
            except PackUnreadable as error:
                reason = error.reason
            # The local cache may be what is damaged: drop it, and ask the origin once.
            if last_try or not self.forget_cached(pack):
                break
        self._events.emit(DidRejectPack(pack.hex(), reason))
        return None

    def size(self, pack: bytes) -> int:
        """Uncompressed bytes of the pack. Raises PackUnreadable."""
        return self._either(
            pack, lambda name, framed: self._index(pack, name).size if framed else self.files.size(name)
        )

    def stamp(self, pack: bytes) -> Stamp | None:
        """What the file system says of the pack; None where it is not a file of this machine's, or is gone."""
        if not isinstance(files := self.files, FolderFiles):
            return None
        try:
            return self._either(pack, lambda name, _: files.stamp(name))
        except PackUnreadable:
            return None

    def check(self, pack: bytes) -> None:
        """Read the whole pack and verify its name. Raises PackUnreadable."""
        state = self._signer.pack_state()
        for data in self._pieces(pack):
            state.update(data)
        if state.digest() != pack:
            raise PackUnreadable(pack.hex(), "does not match its keyed checksum")

    def delete(self, pack: bytes, unless_since: float | None = None) -> bool:
        """Remove a pack, unless it was written again since that time; says whether it is gone."""
        self._indexes.pop(pack, None)
        gone = [self.files.delete(self._name(pack, framed), unless_since) for framed in (False, True)]
        return all(gone)

    def forget_cached(self, pack: bytes) -> bool:
        """Drop what a cache holds of a pack; says whether there is a cache."""
        self._indexes.pop(pack, None)
        if not isinstance(self.files, CachedFiles):
            return False
        for framed in (False, True):
            self.files.forget(self._name(pack, framed))
        return True

    def forget_all_cached(self) -> None:
        """Empty the cache, if there is one."""
        self._indexes.clear()
        if isinstance(self.files, CachedFiles):
            self.files.clear()

    @property
    def holder(self) -> str:
        """Who holds what is written here: a cache by its name, or this host."""
        return self.files.name if isinstance(self.files, CachedFiles) else socket.gethostname()

    def scan(self) -> Iterator[Pack]:
        """Every pack there is; files with other names are not ours and are left alone."""
        for item in self.files.scan():
            try:
                pack = bytes.fromhex(item.name.removesuffix(COMPRESSED))
            except ValueError:
                continue
            if len(pack) == ID_BYTES:
                yield Pack(pack, item.size, item.modified)

    def _fill(self, handle: BinaryIO, parts: Iterable[bytes | bytearray | memoryview]) -> bytes:
        state = self._signer.pack_state()
        frames = FrameWriter(handle, self._level) if self._level is not None else None
        put = frames.write if frames is not None else handle.write
        for part in parts:
            data = part if isinstance(part, bytes) else memoryview(part).cast("B")
            state.update(data)  # type: ignore[arg-type]  # hashlib takes any buffer
            put(data)
        if frames is not None:
            frames.finish()
        return state.digest()

    def _drop(self, temporary: str) -> None:
        if temporary:
            with contextlib.suppress(OSError):
                self.files.discard(temporary)

    def _pieces(self, pack: bytes) -> Iterator[bytes]:
        size = self.size(pack)
        for at in range(0, size, CHECK_BYTES):
            yield self.read(pack, at, min(CHECK_BYTES, size - at))

    def _either(self, pack: bytes, use: Callable[[str, bool], T]) -> T:
        """Use the pack in whichever form it is there, looking first for the form that this store writes."""
        first = self._level is not None
        for framed in (first, not first):
            try:
                return use(self._name(pack, framed), framed)
            except FileNotFoundError:
                self._indexes.pop(pack, None)
            except OSError as error:
                raise PackUnreadable(pack.hex(), error.strerror or str(error)) from error
        raise PackUnreadable(pack.hex(), "missing")

    def _ranges(self, pack: bytes, name: str, framed: bool, ranges: Sequence[Range]) -> list[bytes]:
        if not framed:
            return self.files.read(name, ranges)
        index = self._index(pack, name)
        inside = [(offset, max(0, min(length, index.size - offset))) for offset, length in ranges]
        return read_frames(pack.hex(), index, inside, lambda stored: self.files.read(name, stored))

    def _index(self, pack: bytes, name: str) -> FrameIndex:
        index = self._indexes.get(pack)
        if index is None:
            index = read_index(pack.hex(), self.files.size(name), lambda at, n: self.files.read(name, [(at, n)])[0])
            self._indexes[pack] = index
            if len(self._indexes) > INDEXES_KEPT:
                self._indexes.popitem(last=False)
        return index

    @staticmethod
    def _name(pack: bytes, framed: bool) -> str:
        return pack.hex() + (COMPRESSED if framed else "")


def _close(handle: BinaryIO) -> None:
    # On a full disk the last flush fails again; the file is closed all the same.
    with contextlib.suppress(OSError):
        handle.close()
