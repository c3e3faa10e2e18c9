"""What the ids of content cost: leaves have 512 bytes, chunks up to 1 MiB."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b, sha256
from typing import Any

import pytest
import xxhash
from blake3 import blake3

from incoop.base.content_ids import content_id

_KEY = bytes(range(32))

HASHES: dict[str, Callable[[memoryview], bytes]] = {
    "content_id": content_id,
    "xxh3_128": xxhash.xxh3_128_digest,
    "blake3": lambda data: blake3(data).digest(16),
    "blake3 keyed": lambda data: blake3(data, key=_KEY).digest(16),
    "sha256": lambda data: sha256(data).digest()[:16],
    "blake2b": lambda data: blake2b(data, digest_size=16).digest(),
}


@pytest.mark.parametrize("size", [512, 8 << 10, 64 << 10, 1 << 20])
@pytest.mark.parametrize("name", HASHES)
def test_content_id(benchmark: Any, text: bytes, name: str, size: int) -> None:
    """A megabyte in pieces of this size."""
    whole = memoryview((text * (1 + (1 << 20) // len(text)))[: 1 << 20])
    pieces, one = [whole[at : at + size] for at in range(0, len(whole), size)], HASHES[name]
    ids = benchmark(lambda: [one(piece) for piece in pieces])
    assert len(set(ids)) == len(set(map(bytes, pieces)))
