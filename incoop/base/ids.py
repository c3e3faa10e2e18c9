"""Ids: hashes of one length, so that lists of them are packed without lengths."""

from __future__ import annotations

#: Task ids, pack ids and block hashes are all this long.
ID_BYTES = 16


def split_ids(packed: bytes) -> tuple[bytes, ...]:
    """Ids of `ID_BYTES` each that lie side by side.

    Example:
        >>> len(split_ids(bytes(48)))
        3
    """
    if len(packed) % ID_BYTES:
        raise ValueError(f"packed ids must be a multiple of {ID_BYTES} bytes, got {len(packed)}")
    return tuple(packed[at : at + ID_BYTES] for at in range(0, len(packed), ID_BYTES))
