"""Which shard a hash belongs to, and which block of its part: leading bits of the hash, and the bits behind them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run


def shard_bounds(run: Run, shards: int) -> list[int]:
    """Where each shard begins in a run, and the run's end. Shards are equal ranges of the hash's leading bits."""
    starts = (
        (np.arange(shards, dtype=np.uint64)) * np.uint64((1 << 64) // shards) if shards > 1 else np.zeros(1, np.uint64)
    )
    return [*np.searchsorted(run.hashes, starts).tolist(), len(run)]


def shard_of(run: Run, shard: int, shards: int) -> Run:
    """The slice of a run that is one shard."""
    bounds = shard_bounds(run, shards)
    return run.slice(bounds[shard], bounds[shard + 1])


def block_numbers(hashes: Hashes, shard_bits: int, bits: int) -> npt.NDArray[np.int64]:
    """The block of its part that each hash belongs to, of 2**bits."""
    if bits == 0:
        return np.zeros(len(hashes), np.int64)
    return ((hashes << np.uint64(shard_bits)) >> np.uint64(64 - bits)).astype(np.int64)
