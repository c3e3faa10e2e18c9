"""The id of content: equal bytes, equal id, and nobody can make other bytes with the same one.

Contract: the only place that chooses the hash of what a user's data is known by: chunks, leaves, lists of their ids,
files and values that functions read, code. BLAKE3, cut to 128 bits: finding two contents with one id takes 2**64 of its
calls. Not keyed: the ids of one content agree between stores, sessions, the driver and workers. Decision 12 has the
price.

xxh3 stays where equal hashes of unequal content do no harm: hashes of keys (which are compared themselves), heads and
tails of chunks, shapes, names. And for the id of a task of one strong id under a fixed print: `plan.run_ids` says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blake3 import blake3

from incoop.base.ids import ID_BYTES

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def content_id(data: ReadableBuffer) -> bytes:
    """The id of some bytes.

    Example:
        >>> content_id(b"oak").hex()
        '806af556c08c94f2ec65db6ab1152820'
    """
    return blake3(data).digest(ID_BYTES)


class GrowingContent:
    """The id of content that comes in pieces."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state = blake3()

    def update(self, piece: ReadableBuffer) -> None:
        self._state.update(piece)

    def id(self) -> bytes:
        return self._state.digest(ID_BYTES)
