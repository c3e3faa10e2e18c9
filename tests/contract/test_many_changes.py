"""Where much changed, a node is combined from scratch, with the same result as a key-by-key update."""

from __future__ import annotations

import pytest

from .test_contraction_laws import Memory, Version, contract_version, longest, total


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
