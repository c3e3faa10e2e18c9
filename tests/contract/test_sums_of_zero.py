"""Keys whose values add up to zero: there while any child holds them, and gone with the last, up to the root."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incoop.contraction.columns.keys import hashes_of
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import COUNTS, INTEGERS, as_row
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.node import NodeTask, ShardContraction
from incoop.contraction.tree.node_of_shards import contract_node

from .test_contraction_laws import Memory, Version, store_run, total

#: Chunks below a node.
GROUP = 3
#: Keys that stay, so that few of them change.
MANY: dict[Any, Any] = dict.fromkeys(range(100, 140), 1)

Tree = tuple[dict[bytes, Any], list[NodeTask]]


def contract_tree(version: Version, memory: Memory, before: Tree | None) -> Tree:
    """A root over nodes of some chunks each, all contracted in one go; chunks are named by their values."""
    ids = [b"chunk" + repr(sorted(chunk.items())).encode() for chunk in version]
    rows: dict[bytes, Any] = dict(before[0]) if before else {}
    for id_, chunk in zip(ids, version, strict=True):
        if id_ not in rows:
            rows[id_] = store_run(Run.of_values(chunk), memory)
    groups = [tuple(ids[at : at + GROUP]) for at in range(0, len(ids), GROUP)]
    nodes = [(b"node" + b"".join(group), group) for group in groups]
    nodes.append((b"root" + b"".join(id_ for id_, _ in nodes), tuple(id_ for id_, _ in nodes)))
    old = before[1] if before else []
    tasks = [
        NodeTask(id_, children, old[at].id, old[at].children) if old else NodeTask(id_, children)
        for at, (id_, children) in enumerate(nodes)
    ]
    pack = PackBuilder()
    shard = ShardContraction(0, 1, rows, dict.fromkeys(rows, b""), Combiner.of(total), memory, pack)
    for task in tasks:
        if task.id != task.old_id:
            contract_node([shard], task)
    name = memory.keep(pack)
    for task in tasks:
        rows[task.id] = rows[task.id].copy()
        if bytes(rows[task.id]["pack"]) == bytes(16):
            rows[task.id]["pack"] = name
    return rows, tasks


chunks = st.dictionaries(st.integers(0, 5), st.integers(-2, 2), max_size=4)


@settings(max_examples=80)
@given(
    history=st.lists(st.lists(chunks.map(lambda few: {**MANY, **few}), min_size=6, max_size=6), min_size=2, max_size=4)
)
# Two children that cancel out; the key stays at zero, then goes from one child, then from the tree.
@example(
    history=[
        [{**MANY, 1: 2}, {**MANY, 1: -1}, MANY, MANY, MANY, MANY],
        [{**MANY, 1: 2}, {**MANY, 1: -2}, MANY, MANY, MANY, MANY],
        [MANY, {**MANY, 1: 0}, MANY, MANY, MANY, MANY],
        [MANY] * 6,
    ]
)
# One of two children loses a zero: the node keeps it, and so does the root, until the other loses it, too.
@example(
    history=[
        [{**MANY, 1: 0}, {**MANY, 1: 0}, MANY, MANY, MANY, MANY],
        [{**MANY, 1: 0}, MANY, MANY, MANY, MANY, MANY],
        [MANY] * 6,
    ]
)
def test_a_key_of_zero_is_there_while_a_chunk_below_holds_it(history: list[Version]) -> None:
    memory = Memory()
    before: Tree | None = None
    for version in history:
        before = contract_tree(version, memory, before)
        rows, tasks = before
        for at, task in enumerate(tasks):
            below = version if task is tasks[-1] else version[at * GROUP : (at + 1) * GROUP]
            expected = Combiner.of(total).combine([Run.of_values(chunk) for chunk in below])
            assert Part.load(rows[task.id], 0, memory).whole().to_bytes() == expected.to_bytes()


@pytest.mark.parametrize(("value", "kind"), [(1, COUNTS), (0, INTEGERS), (-1, INTEGERS)])
def test_a_part_with_a_value_that_is_not_above_zero_says_so(value: int, kind: int) -> None:
    memory = Memory()
    part = Part.load(store_run(Run.of_values(MANY), memory), 0, memory)
    row, _ = rewrite_part(part, np.sort(hashes_of([1])), Run.of_values({1: value}), 0, PackBuilder())
    assert int(as_row(row)["sums"]) == kind
