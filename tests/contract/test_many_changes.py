"""Where much changed, a node is combined from scratch, with the same result as a key-by-key update."""

from __future__ import annotations

from typing import Any

import pytest

from incoop.contraction.columns.run import Run
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.part import Part
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.node import NodeTask, NotIntegers, ShardContraction
from incoop.contraction.tree.node_of_shards import contract_node

from .test_contraction_laws import Memory, Version, contract_version, longest, store_run, total


@pytest.mark.parametrize("function", [total, longest])
@pytest.mark.parametrize("replaced", [1, 3, 7], ids=["one child", "some children", "most children"])
def test_a_node_with_replaced_children_equals_one_from_scratch(function: object, replaced: int) -> None:
    version: Version = [{f"word{i}": 1 for i in range(start, start + 300)} for start in range(0, 800, 100)]
    memory = Memory()
    rows, node, _ = contract_version(version, function, memory, None)
    changed = [dict.fromkeys(chunk, 2) if at < replaced else chunk for at, chunk in enumerate(version)]
    updated, new, _ = contract_version(changed, function, memory, (rows, node))
    scratch, same, _ = contract_version(changed, function, Memory(), None)
    assert updated[new[0]]["content"] == scratch[same[0]]["content"]


def test_children_that_changed_back_take_the_old_node_over() -> None:
    version: Version = [{f"word{i}": 1 for i in range(100)} for _ in range(4)]
    memory = Memory()
    rows, node, _ = contract_version(version, longest, memory, None)
    # Other chunks with other ids, that come to the same values: the node is computed, and found to be what it was.
    split = [{f"word{i}": 1 for i in range(100)}, *version[1:], {}]
    updated, new, _ = contract_version(split, longest, memory, (rows, node))
    assert updated[new[0]]["content"] == rows[node[0]]["content"]


@pytest.mark.parametrize("function", [total, longest])
def test_a_node_of_many_children_equals_their_sums(function: object) -> None:
    """More than are added up at once; then one of them changes."""
    version: Version = [{f"word{i % 97}": i for i in range(start, start + 40)} for start in range(300)]
    memory = Memory()
    rows, node, _ = contract_version(version, function, memory, None)
    expected = Combiner.of(function).combine([Run.of_values(chunk) for chunk in version])  # type: ignore[arg-type]
    assert Part.load(rows[node[0]], 0, memory).whole().to_bytes() == expected.to_bytes()
    changed = [*version[:100], {"word3": 5, "a new word": 1}, *version[101:]]
    updated, new, _ = contract_version(changed, function, memory, (rows, node))
    scratch, same, _ = contract_version(changed, function, Memory(), None)
    assert updated[new[0]]["content"] == scratch[same[0]]["content"]


def test_a_wide_node_refuses_what_is_no_integer() -> None:
    memory = Memory()
    rows: dict[bytes, Any] = {
        id_: store_run(Run.of_values(chunk), memory) for id_, chunk in ((b"a", {"x": 1}), (b"b", {"x": 0.5}))
    }
    shard = ShardContraction(0, 1, rows, dict.fromkeys(rows, b""), Combiner.of(total), memory, PackBuilder(), wide=True)
    with pytest.raises(NotIntegers):
        contract_node([shard], NodeTask(b"node", (b"a", b"b")))
