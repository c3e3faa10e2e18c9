"""What the kernels share. They import nothing of `bench`, so that they run on older commits, too (bench/compare.py)."""

from __future__ import annotations

import random

import pytest

#: As in text: a few words are most of it, most words are rare.
_VOCABULARY = 60_000


@pytest.fixture(scope="session")
def text() -> bytes:
    """4 MiB of lines."""
    rng = random.Random(2011)
    words = [f"{rng.randrange(1 << 28):x}".encode() for _ in range(_VOCABULARY)]
    weights = [1 / (rank + 1) for rank in range(_VOCABULARY)]
    picked = rng.choices(words, weights, k=800_000)
    lines = (b" ".join(picked[at : at + 12]) + b"\n" for at in range(0, len(picked), 12))
    content = b"".join(lines)[: 4 << 20]
    return content[: content.rindex(b"\n") + 1]
