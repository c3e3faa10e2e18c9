"""Deterministic data for benchmarks, and the ways in which inputs change."""

from __future__ import annotations

import functools
import random
from pathlib import Path

import numpy as np

from inchdfs import ChunkSettings, Splitter

#: Distinct words; the exponent gives a 1 MiB chunk about 20,000 of them, as English books have.
_VOCABULARY = 500_000
_EXPONENT = 1.15
_WORDS_IN_A_LINE = 12


def _vocabulary(rng: np.random.Generator) -> np.ndarray:
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    lengths = rng.integers(2, 9, _VOCABULARY)
    return np.array(["".join(rng.choice(letters, length)) + format(n, "x") for n, length in enumerate(lengths)], object)


def write_text(path: Path, size: int, seed: int = 2011) -> None:
    """A text of at least `size` bytes, whose words are as unevenly distributed as in real text."""
    rng = np.random.default_rng(seed)
    words = _vocabulary(np.random.default_rng(7))
    weights = np.arange(1, _VOCABULARY + 1, dtype=np.float64) ** -_EXPONENT
    cumulative = np.cumsum(weights) / weights.sum()
    written = 0
    with path.open("w") as file:
        while written < size:
            picked = words[np.searchsorted(cumulative, rng.random(_WORDS_IN_A_LINE * 50_000)).clip(0, _VOCABULARY - 1)]
            written += file.write("".join(" ".join(line) + "\n" for line in picked.reshape(-1, _WORDS_IN_A_LINE)))


def _line(rng: random.Random) -> bytes:
    return " ".join(f"word{rng.randrange(1000)}" for _ in range(_WORDS_IN_A_LINE)).encode() + b"\n"


def insert_record(content: bytes, seed: int) -> bytes:
    """One record inserted in the middle."""
    at = content.index(b"\n", len(content) // 2) + 1
    return content[:at] + _line(random.Random(seed)) + content[at:]


def replace_region(content: bytes, share: float, fresh: bytes) -> bytes:
    """One region of `share` of the content replaced by as much of `fresh`."""
    start = content.index(b"\n", len(content) // 3) + 1
    end = content.index(b"\n", start + int(len(content) * share)) + 1
    return content[:start] + fresh[: fresh.index(b"\n", end - start - 1) + 1] + content[end:]


def replace_chunks(content: bytes, share: float, fresh: bytes, seed: int) -> bytes:
    """`share` of the chunks, chosen at random, replaced by as much of `fresh`: the change of the Incoop paper."""
    rng = random.Random(seed)
    bounds = _boundaries(content)
    chosen = sorted(rng.sample(range(len(bounds) - 1), max(1, round((len(bounds) - 1) * share))))
    pieces, position = [], 0
    for start, end in ((bounds[number], bounds[number + 1]) for number in chosen):
        at = fresh.index(b"\n", rng.randrange(len(fresh) - 2 * (end - start))) + 1
        pieces += [content[position:start], fresh[at : fresh.index(b"\n", at + end - start - 1) + 1]]
        position = end
    return b"".join([*pieces, content[position:]])


@functools.lru_cache(maxsize=1)
def _boundaries(content: bytes) -> list[int]:
    """Where the chunks of a content begin, and its end."""
    chunks = Splitter(ChunkSettings.for_input(len(content))).split_bytes(content)
    return [0, *(chunk.end for chunk in chunks)]


def append(content: bytes, share: float, fresh: bytes) -> bytes:
    """`share` of the content added at its end."""
    return content + fresh[: fresh.index(b"\n", int(len(content) * share)) + 1]


def change_every(content: bytes, width: int, seed: int) -> bytes:
    """One record changed in every `width` bytes."""
    rng = random.Random(seed)
    pieces, position = [], 0
    for at in range(width // 2, len(content), width):
        start = content.find(b"\n", at) + 1
        end = content.find(b"\n", start) + 1
        if start <= position or end <= start:
            continue
        pieces += [content[position:start], _line(rng)]
        position = end
    return b"".join([*pieces, content[position:]])
