"""Keyed and plain checksums: what makes a stored byte trusted.

Contract: an entry, a generation and a file that is obeyed are valid only under the store's secret, so write access to
Redis or to the blob folder does not let anyone place bytes that a run would unpickle. A block's hash is not keyed; it
is trusted because it stands in an entry that is. Packs are named under a key of their own, which workers have.
"""

from __future__ import annotations

import hmac
from hashlib import blake2b, sha256
from typing import Protocol

#: 128 bits: forging a keyed checksum is guessing one, and accidental collisions need about 2**64 values.
DIGEST_BYTES = 16


class Hash(Protocol):
    """The part of hashlib's objects that is used here."""

    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def copy(self) -> Hash: ...


def block_hash(data: bytes | bytearray | memoryview) -> bytes:
    """Content hash of a block: equal bytes, equal hash, in every store.

    SHA-256, cut short: with the instructions that processors have for it, it takes less than half of BLAKE2's time.

    Example:
        >>> block_hash(b"oak").hex()
        'df877645404747cb797334b8055b51fc'
    """
    return sha256(data).digest()[:DIGEST_BYTES]


def verify_block(data: bytes | bytearray | memoryview, expected: bytes) -> bool:
    """Say whether `data` is the block that a trusted entry names. Call it before decoding a block."""
    return hmac.compare_digest(block_hash(data), expected)


class GrowingBlock:
    """`verify_block` for a block that comes in pieces."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = sha256()

    def update(self, data: bytes) -> None:
        self._state.update(data)

    def matches(self, expected: bytes) -> bool:
        return hmac.compare_digest(self._state.digest()[:DIGEST_BYTES], expected)


class PackSigner:
    """What names packs, and nothing else: a key that workers may have, from which the store's secret cannot be told."""

    __slots__ = ("_pack", "key")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._pack: Hash = blake2b(key=key, digest_size=DIGEST_BYTES, person=b"incoop.pack")

    def pack_state(self) -> Hash:
        """The keyed state whose digest over a pack's bytes is the pack's name."""
        return self._pack.copy()


class Signer(PackSigner):
    """The store's secret, as one keyed hash for each kind of thing, so that no kind passes for another."""

    __slots__ = ("_entry", "_file", "_generation", "key_check")

    def __init__(self, secret: bytes) -> None:
        # blake2b takes keys up to 64 bytes; a user's secret may be a passphrase of any length.
        key = blake2b(secret, digest_size=32, person=b"incoop.key").digest()
        super().__init__(blake2b(key=key, digest_size=32, person=b"incoop.packs").digest())
        self._entry: Hash = blake2b(key=key, digest_size=DIGEST_BYTES, person=b"incoop.entry")
        self._file: Hash = blake2b(key=key, digest_size=DIGEST_BYTES, person=b"incoop.file")
        self._generation: Hash = blake2b(key=key, digest_size=DIGEST_BYTES, person=b"incoop.gen")
        #: Says which secret a store is signed with, and nothing else about it.
        self.key_check: bytes = blake2b(key=key, digest_size=DIGEST_BYTES, person=b"incoop.check").digest()

    def entry_state(self) -> Hash:
        """The keyed state that `incoop.memo.entry` copies once per entry."""
        return self._entry.copy()

    def sign_file(self, name: bytes, body: bytes) -> bytes:
        """The keyed checksum of a file that is obeyed; `name` says which, so that none stands in for another."""
        state = self._file.copy()
        state.update(len(name).to_bytes(4, "little"))
        state.update(name)
        state.update(body)
        return state.digest()

    def accepts_file(self, name: bytes, body: bytes, mac: bytes) -> bool:
        return hmac.compare_digest(self.sign_file(name, body), mac)

    def sign_generation(self, body: bytes) -> bytes:
        state = self._generation.copy()
        state.update(body)
        return state.digest()

    def accepts_generation(self, body: bytes, mac: bytes) -> bool:
        return hmac.compare_digest(self.sign_generation(body), mac)
