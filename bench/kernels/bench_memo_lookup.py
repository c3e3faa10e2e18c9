"""Asking the memo for many keys at once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from incoop.memo import MemoEntry, MemoStore

ENTRIES = 10_000


def test_memo_lookup(benchmark: Any, tmp_path: Path) -> None:
    rng = random.Random(7)
    entries = {
        rng.randbytes(16): MemoEntry(pack=rng.randbytes(16), offset=0, length=9, digest=rng.randbytes(16))
        for _ in range(ENTRIES)
    }
    asked = [*entries, *(rng.randbytes(16) for _ in range(ENTRIES))]
    with MemoStore.open(tmp_path / "store") as memo:
        memo.store(entries)
        found = benchmark(memo.lookup, asked)
    assert [entry.pack for entry in found[:ENTRIES]] == [entry.pack for entry in entries.values()]
    assert found[ENTRIES:] == [None] * ENTRIES
