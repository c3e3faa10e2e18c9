"""The memo store against a bare redis-py pipeline, and packs with and without compression.

    python bench/bench_memo.py            prints the tables of docs/memo.md
    pytest bench/bench_memo.py --benchmark-enable

Contract: both sides move the same bytes in the same commands over the same unix socket, best of several interleaved
rounds; every answer is asserted. The store must reach 0.7 of the bare pipeline and 100,000 lookups in a second.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import redis

from incoop.base.checksums import block_hash
from incoop.memo import MemoEntry, MemoStore, WorkerConfig
from incoop.memo.entry import encode_entries
from incoop.memo.wire import FIELDS_PER_COMMAND

SCALES = (1_000, 10_000, 100_000)
ROUNDS = 15
#: The store's rate as a part of the bare pipeline's, at the largest scale.
AT_LEAST = 0.7


def entries(count: int) -> dict[bytes, MemoEntry]:
    """Entries like those of map tasks: a region of a pack, four block hashes, a host."""
    chance = random.Random(count)
    packs = [chance.randbytes(16) for _ in range(100)]
    return {
        chance.randbytes(16): MemoEntry(
            pack=chance.choice(packs), offset=64 * number, length=4096, digest=chance.randbytes(16))
        for number in range(count)
    }  # fmt: skip


class Bare:
    """redis-py as it comes: a pipeline of the same commands with the same bytes."""

    def __init__(self, url: str, key: bytes) -> None:
        self.client = redis.Redis.from_url(url)
        self.key = key

    def store(self, fields: list[bytes], values: list[bytes]) -> None:
        pipe = self.client.pipeline(transaction=False)
        for at in range(0, len(fields), FIELDS_PER_COMMAND):
            ends = at + FIELDS_PER_COMMAND
            pairs = [one for pair in zip(fields[at:ends], values[at:ends], strict=True) for one in pair]
            pipe.execute_command("HSET", self.key, *pairs)
        pipe.execute()

    def lookup(self, fields: list[bytes]) -> list[bytes]:
        pipe = self.client.pipeline(transaction=False)
        for at in range(0, len(fields), FIELDS_PER_COMMAND):
            pipe.execute_command("HMGET", self.key, *fields[at : at + FIELDS_PER_COMMAND])
        return [value for page in pipe.execute() for value in page]


class Took(NamedTuple):
    """Seconds by the clock, and seconds of this process's own work: the second hardly feels a busy machine."""

    clock: float
    work: float


def best(rounds: int, *calls: Callable[[], Any]) -> list[Took]:
    """The best times of each call, taken in turns so that a busy machine disturbs all alike."""
    times: list[list[Took]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, mine in zip(calls, times, strict=True):
            began, worked = time.perf_counter(), time.process_time()
            answer = call()
            mine.append(Took(time.perf_counter() - began, time.process_time() - worked))
            # Freeing the answer is not part of getting it.
            del answer
    return [Took(min(one.clock for one in mine), min(one.work for one in mine)) for mine in times]


def measure_rates(store: MemoStore, count: int) -> dict[str, Took]:
    """Times of store and bare pipeline for writing and looking up `count` entries."""
    items = entries(count)
    ids, wanted = list(items), list(items.values())
    raws = encode_entries(items.items(), store.session.signer, 1)
    bare = Bare(store.session.link.url, b"bench:bare")
    own_store, bare_store = best(ROUNDS, lambda: store.store(items), lambda: bare.store(ids, raws))
    assert bare.lookup(ids) == raws
    assert store.lookup(ids) == wanted
    own_lookup, bare_lookup = best(ROUNDS, lambda: store.lookup(ids), lambda: bare.lookup(ids))
    bare.client.delete(bare.key)
    bare.client.close()
    return {"store": own_store, "bare store": bare_store, "lookup": own_lookup, "bare lookup": bare_lookup}


def sample_run(words: int, seed: int = 1) -> list[bytes]:
    """Blocks as a word count leaves them: sorted key hashes, offsets, keys, counts; 64 shards of each."""
    chance = np.random.default_rng(seed)
    letters = np.frombuffer(b"etaoinshrdlucmfwypvbgkjqxz", dtype=np.uint8)
    lengths = chance.integers(3, 12, words)
    keys = letters[np.minimum(chance.geometric(0.12, lengths.sum()) - 1, 25)].tobytes()
    hashes = np.sort(chance.integers(0, 2**64 - 1, words, dtype=np.uint64))
    counts = np.minimum(chance.zipf(1.3, words), 1 << 40).astype("<i8")
    ends = np.concatenate([[0], np.cumsum(lengths)])
    blocks = []
    for part in np.array_split(np.arange(words), 64):
        first, last = int(part[0]), int(part[-1]) + 1
        offsets = (ends[first : last + 1] - ends[first]).astype("<u4")
        text = keys[int(ends[first]) : int(ends[last])]
        blocks.append(hashes[first:last].tobytes() + offsets.tobytes() + text + counts[first:last].tobytes())
    return blocks


def measure_compression(folder: Path, kind: str) -> dict[str, float]:
    """Stored bytes, and the rates of writing packs, reading them whole and reading single blocks."""
    runs = [sample_run(60_000, seed) for seed in range(6)]
    size = sum(len(block) for run in runs for block in run)
    blobs = WorkerConfig(str(folder / kind.replace(":", "-")), b"bench", kind).open()
    packs: list[bytes] = []

    def write() -> None:
        packs[:] = [blobs.write(run) for run in runs]

    def read() -> None:
        for pack, run in zip(packs, runs, strict=True):
            assert len(blobs.read(pack, 0, sum(map(len, run)))) == sum(map(len, run))

    places = []
    for number, run in enumerate(runs):
        offset = 0
        for block in run:
            places.append((number, offset, len(block), block_hash(block)))
            offset += len(block)
    random.Random(3).shuffle(places)

    def read_blocks() -> None:
        for number, offset, length, digest in places:
            assert blobs.read_region(packs[number], offset, length, digest) is not None

    (writing,) = best(3, write)
    reading, blocks = best(3, read, read_blocks)
    stored = sum(pack.size for pack in blobs.scan())
    return {"ratio": stored / size, "write": size / writing.clock / 1e6, "read": size / reading.clock / 1e6,
            "block": blocks.clock / len(places) * 1e6, "block bytes": size / len(places)}  # fmt: skip


def print_tables() -> None:
    with tempfile.TemporaryDirectory(prefix="incoop-bench-") as name:
        folder = Path(name)
        with MemoStore.open(folder / "store") as store:
            print("| entries | lookup | bare pipeline | ratio (of work) | store | bare pipeline | ratio (of work) |")
            print("|---|---|---|---|---|---|---|")
            for count in SCALES:
                found = measure_rates(store, count)
                cells = []
                for what in ("lookup", "store"):
                    own, bare = found[what], found[f"bare {what}"]
                    ratios = f"{bare.clock / own.clock:.2f} ({bare.work / own.work:.2f})"
                    cells += [f"{own.clock * 1e3:.1f} ms", f"{bare.clock * 1e3:.1f} ms", ratios]
                print(f"| {count:,} | {' | '.join(cells)} |")
        print()
        print("| compression | stored bytes | write packs | read packs | read and verify one block |")
        print("|---|---|---|---|---|")
        for kind in ("none", "zstd:1", "zstd:3"):
            one = measure_compression(folder, kind)
            print(f"| {kind} | {one['ratio']:.0%} | {one['write']:,.0f} MB/s | {one['read']:,.0f} MB/s | "
                  f"{one['block']:.0f} µs ({one['block bytes'] / 1024:.0f} KiB) |")  # fmt: skip
        print()
        print("| what | time |")
        print("|---|---|")
        for what, seconds in measure_life(folder / "life"):
            print(f"| {what} | {seconds * 1e3:.0f} ms |")


def measure_life(folder: Path) -> Iterator[tuple[str, float]]:
    """Opening, closing and committing at the scale of a terabyte input."""

    def timed(call: Callable[[], Any]) -> tuple[float, Any]:
        began = time.perf_counter()
        answer = call()
        return time.perf_counter() - began, answer

    with MemoStore.open(folder):
        pass
    seconds, store = timed(lambda: MemoStore.open(folder))
    yield "open a store, starting its server", seconds
    seconds, second = timed(lambda: MemoStore.open(folder))
    yield "open it beside a running session", seconds
    second.close()
    number = store.begin_generation("bench")
    record = os.urandom(16 * 1_000_000)
    seconds, done = timed(lambda: store.commit_generation("bench", number, record, record))
    assert done
    yield "commit a generation of 1,000,000 chunk ids and as many live tasks", seconds
    seconds, last = timed(lambda: store.last_generation("bench"))
    assert last.record == record
    yield "read its record back, verified", seconds
    seconds, _ = timed(store.close)
    yield "close the last session, stopping the server", seconds


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoStore]:
    with MemoStore.open(tmp_path / "store") as store:
        yield store


@pytest.mark.parametrize("count", SCALES)
def test_bulk_lookup(benchmark: Any, store: MemoStore, count: int) -> None:
    items = entries(count)
    store.store(items)
    assert benchmark(store.lookup, list(items)) == list(items.values())


@pytest.mark.parametrize("count", SCALES)
def test_bulk_store(benchmark: Any, store: MemoStore, count: int) -> None:
    items = entries(count)
    benchmark(store.store, items)
    assert store.lookup(list(items)) == list(items.values())


def test_the_store_keeps_up_with_a_bare_pipeline(store: MemoStore) -> None:
    found = measure_rates(store, SCALES[-1])
    assert found["lookup"].clock < 1.0
    assert found["bare lookup"].work / found["lookup"].work >= AT_LEAST
    assert found["bare store"].work / found["store"].work >= AT_LEAST


@pytest.mark.parametrize("kind", ["none", "zstd:1", "zstd:3"])
def test_packs(benchmark: Any, tmp_path: Path, kind: str) -> None:
    blobs = WorkerConfig(str(tmp_path), b"bench", kind).open()
    run = sample_run(60_000)
    pack = benchmark(blobs.write, run)
    assert blobs.read(pack, 0, blobs.size(pack)) == b"".join(run)


if __name__ == "__main__":
    sys.exit(print_tables())
