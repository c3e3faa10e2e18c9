"""What a worker keeps of what it decoded: it is read once, and read again as soon as its pack may be another."""

from __future__ import annotations

import os
import random
import resource
from pathlib import Path

import numpy as np
import pytest

from incoop.base.checksums import block_hash
from incoop.contraction.columns.run import Run
from incoop.contraction.parts import part as part_module
from incoop.contraction.parts.at_hand import AtHand, own_share
from incoop.contraction.parts.headers import RunRef, read_run, write_header
from incoop.contraction.parts.packs import BlockLost, PackBuilder
from incoop.contraction.parts.rows import SHARD_ROW
from incoop.contraction.parts.write import write_part


class Files:
    """Packs in memory that can be written to; what was read of them."""

    def __init__(self) -> None:
        self.held: dict[bytes, bytes] = {}
        self.stamps: dict[bytes, object] = {}
        self.reads: list[int] = []

    def put(self, pack: bytes, data: bytes) -> None:
        self.held[pack], self.stamps[pack] = data, object()

    def read(self, pack: bytes, offset: int, length: int) -> bytes:
        self.reads.append(length)
        return self.held[pack][offset : offset + length]

    def stamp(self, pack: bytes) -> object:
        return self.stamps[pack]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> AtHand:
    made = AtHand(64 << 20)
    monkeypatch.setattr(part_module, "at_hand", made)
    return made


def stored(files: Files, keys: int = 20_000, seed: int = 1) -> tuple[Run, RunRef]:
    rng = random.Random(seed)
    run = Run.of_values({f"key {seed} {number}": rng.randrange(1000) for number in range(keys)})
    pack = PackBuilder()
    rows = np.array([write_part(run, 0, pack, whole=True)], SHARD_ROW)
    header = write_header(rows, [b""], pack)
    name = block_hash(b"".join(pack.parts))
    files.put(name, b"".join(pack.parts))
    return run, RunRef(name, *header)


def read(files: Files, ref: RunRef) -> tuple[bytes, int]:
    """All blocks of a run, and how many bytes were read for them."""
    part = read_run(ref, files)
    files.reads = []
    return part.whole().to_bytes(), sum(files.reads)


def test_blocks_are_read_once_and_found_again_by_other_tasks(kept: AtHand) -> None:
    files = Files()
    run, ref = stored(files)
    whole, first = read(files, ref)
    assert whole == run.to_bytes() and first > 50_000 and len(kept) == 16
    assert read(files, ref) == (whole, 0)
    part = read_run(ref, files)
    files.reads = []
    assert part.select(run.hashes[1000:1010]).to_bytes() == run.slice(1000, 1010).to_bytes()
    assert files.reads == []


def test_a_pack_that_was_written_to_is_read_again_and_its_damage_found_out(kept: AtHand) -> None:
    files = Files()
    _, ref = stored(files)
    whole, first = read(files, ref)
    files.put(ref.pack, files.held[ref.pack])  # as it was, as far as anyone can tell
    assert read(files, ref) == (whole, first)
    part = read_run(ref, files)
    files.put(ref.pack, bytes(len(files.held[ref.pack])))
    with pytest.raises(BlockLost):
        part.whole()


def test_without_a_stamp_nothing_is_kept(kept: AtHand) -> None:
    files = Files()
    _, ref = stored(files)
    files.stamps[ref.pack] = None
    assert read(files, ref) == read(files, ref)
    assert len(kept) == 0


def test_no_more_is_kept_than_may_be_and_some_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files()
    runs = [stored(files, 20_000, seed) for seed in range(6)]
    all_of_them = AtHand(1 << 30)
    monkeypatch.setattr(part_module, "at_hand", all_of_them)
    every = [read(files, ref) for _, ref in runs]
    most = all_of_them.nbytes * 3 // 4
    fewer = AtHand(most)
    monkeypatch.setattr(part_module, "at_hand", fewer)
    for _ in range(3):
        again = [read(files, ref) for _, ref in runs]
        assert [whole for whole, _ in again] == [whole for whole, _ in every]
        assert fewer.nbytes <= most
    saved = 1 - sum(size for _, size in again) / sum(size for _, size in every)
    assert saved > 0.25, "read in the same order again and again, some of it is there"


def test_what_is_too_large_to_share_the_room_is_not_kept() -> None:
    run = Run.of_values({f"key {number}": number for number in range(5000)})
    small = AtHand(4 * run.nbytes)
    small.keep(b"d" * 16, "stamp", run)
    assert len(small) == 0 and small.get(b"d" * 16, "stamp") is None
    large = AtHand(16 * run.nbytes)
    large.keep(b"d" * 16, "stamp", run)
    large.keep(b"d" * 16, "another", run)
    assert large.get(b"d" * 16, "stamp") is None and large.get(b"d" * 16, "another") is run
    assert len(large) == 1 and run.nbytes < large.nbytes < 2 * run.nbytes


def test_a_container_and_a_limited_worker_keep_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    v2, v1 = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    v2.write_text("max\n")
    free = own_share([v2, v1])
    assert 16 << 20 <= free <= 256 << 20
    v1.write_text(f"{1 << 30}\n")
    assert own_share([v2, v1]) == 32 << 20
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (384 << 20, limit))
    assert own_share([v2, v1]) == 24 << 20
    v1.write_text(f"{64 << 20}\n")
    assert own_share([v2, v1]) == 16 << 20
