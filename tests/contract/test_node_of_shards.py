"""Shards of a node that are contracted together are those that are contracted one by one, and from scratch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incoop.contraction.columns.by_hash import rows_with
from incoop.contraction.columns.keys import hashes_of
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rows import SHARD_ROW
from incoop.contraction.parts.write import write_part
from incoop.contraction.tree import node_of_shards
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.node import NodeTask, ShardContraction
from incoop.contraction.tree.node_of_shards import contract_node

from .test_contraction_laws import Memory

SHARDS = 4
Pairs = Iterable[tuple[Any, Any]]


def largest(key: Any, values: Iterable[list[int]]) -> Pairs:
    yield key, heapq.nlargest(2, chain.from_iterable(values))


def highest(key: Any, values: Iterable[Any]) -> Pairs:
    yield key, max(values)


def only_some(key: Any, values: Iterable[int]) -> Pairs:
    """Drops keys, and gives others two values."""
    found = sorted(values)
    if found[-1] != 3:
        yield key, found[-1]
    if found[-1] == 2:
        yield key, found[-1]


Rows = dict[bytes, Any]


class Node:
    """One node over chunks, all shards of it; versions of it follow each other."""

    def __init__(self, combiner: Any, together: bool) -> None:
        self.combiner, self.together = combiner, together
        self.memory = Memory()
        self.rows: list[Rows] = [{} for _ in range(SHARDS)]
        self.old: tuple[bytes, tuple[bytes, ...]] | None = None
        self.calls = 0

    def contract(self, version: list[dict[Any, Any]]) -> list[bytes]:
        """The content of each shard."""
        ids = tuple(self._stored(chunk) for chunk in version)
        task = NodeTask(b"node" + b"".join(ids), ids, *(self.old or ()))
        pack, combiner = PackBuilder(), Combiner.of(self.combiner)
        shards = [
            ShardContraction(shard, SHARDS, rows, dict.fromkeys(rows, b""), combiner, self.memory, pack)
            for shard, rows in enumerate(self.rows)
        ]
        for some in [shards] if self.together else [[each] for each in shards]:
            contract_node(some, task)
        name = self.memory.keep(pack)
        for rows in self.rows:
            rows[task.id] = rows[task.id].copy()
            if bytes(rows[task.id]["pack"]) == bytes(16):
                rows[task.id]["pack"] = name
        self.old, self.calls = (task.id, ids), combiner.calls
        return [bytes(rows[task.id]["content"]) for rows in self.rows]

    def _stored(self, chunk: dict[Any, Any]) -> bytes:
        id_ = b"chunk" + repr(sorted(chunk.items(), key=repr)).encode()
        if id_ not in self.rows[0]:
            pack = PackBuilder()
            row = np.array([write_part(Run.of_values(chunk), 0, pack, whole=True)], SHARD_ROW)
            row["pack"] = self.memory.keep(pack)
            for rows in self.rows:
                rows[id_] = row[0]
        return id_


KEYS = [f"word{number}" for number in range(40)]
#: Keys that stay, so that few of them change.
STAYS = dict.fromkeys(range(60), 1)
lists = st.dictionaries(st.sampled_from(KEYS), st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=5)
numbers = st.dictionaries(st.sampled_from(KEYS), st.integers(0, 4) | st.just(2.5), max_size=5)
whole_numbers = st.dictionaries(st.sampled_from(KEYS), st.integers(0, 4), max_size=5)


@pytest.mark.parametrize("most", [node_of_shards._AT_ONCE, 8], ids=["all at once", "in portions"])
@pytest.mark.parametrize(
    ("combiner", "chunks", "stays"),
    [(largest, lists, {key: [1] for key in STAYS}), (highest, numbers, STAYS), (only_some, whole_numbers, STAYS)],
    ids=["lists", "numbers of two types", "keys that are dropped or have two values"],
)
def test_together_and_one_by_one_is_as_from_scratch(
    combiner: Any, chunks: st.SearchStrategy[dict[Any, Any]], stays: dict[Any, Any], most: int
) -> None:
    chunk = chunks.map(lambda few: {**stays, **few})

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.lists(chunk, min_size=3, max_size=4), min_size=2, max_size=3))
    def law(history: list[list[dict[Any, Any]]]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(node_of_shards, "_AT_ONCE", most)
            together, one_by_one = Node(combiner, together=True), Node(combiner, together=False)
            for version in history:
                found = together.contract(version)
                assert found == one_by_one.contract(version) == Node(combiner, together=True).contract(version)

    law()


def test_only_keys_that_changed_are_combined() -> None:
    node = Node(highest, together=True)
    chunks = [dict.fromkeys(KEYS, place) for place in range(4)]
    node.contract(chunks)
    assert node.calls == len(KEYS)
    node.contract([*chunks[:3], {**chunks[3], "word7": 9, "word8": 9}])
    assert node.calls == 2


@pytest.mark.parametrize("others", [{}, {7: None}, {7: "text", 2000: 0.5}], ids=["one type", "one is none", "three"])
def test_what_is_looked_up_is_what_all_blocks_have(others: dict[int, Any]) -> None:
    memory, pack = Memory(), PackBuilder()
    run = Run.of_values({**dict.fromkeys(range(3000), 1), **others})
    row = np.array([write_part(run, 0, pack, whole=True)], SHARD_ROW)
    row["pack"] = memory.keep(pack)
    for keys in (range(3000), [7, 8, 2000, 2001, 5000], [5000], []):
        part = Part.load(row[0], 0, memory)
        hashes = np.sort(hashes_of(list(keys))) if keys else np.empty(0, np.uint64)
        expected = run.take(rows_with(run, hashes))
        assert part.look_up(hashes).to_bytes() == expected.to_bytes()
        assert part.select(hashes).to_bytes() == expected.to_bytes()
