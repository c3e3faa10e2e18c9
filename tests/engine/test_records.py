"""What a run leaves for the next comes back as it was, to every field."""

from __future__ import annotations

import numpy as np
import pytest

from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.rows import REF_ROW
from incoop.engine.record import KEPT_RUNS, RECORD_FORMAT, Origin, PastRun, Record, remembered
from incoop.engine.stages.map_contract.record import Level, RefusedCombiner, TreeRecord, Trial

FULL = Record(
    kind="map_contract 3",
    gives=b"g" * 16,
    parts={"function job:mapper": "ab", "package numpy": "cd"},
    reads=(("map", "file", "stop.txt"), ("contract", "variable", "HOME")),
    amended=("global job:STOP", "global job:TABLE"),
    places={"oak": [1, 2]},
    origin=Origin("job.py:count", ("one.txt", "two.txt"), "/home", "1h every 1m", "time_of"),
    body=b"\0body\xff",
    history=(PastRun(1, 1.5, 0.25, 1000, 1000, 400), PastRun(7, 2.5, 0.125, 1001, 1)),
)
BARE = Record("kind", b"", {}, (), (), None, None, b"")


@pytest.mark.parametrize("record", [FULL, BARE], ids=["full", "bare"])
def test_a_record_comes_back_equal(record: Record) -> None:
    assert Record.from_bytes(record.to_bytes()) == record


def test_a_record_of_another_format_is_ignored() -> None:
    data = bytearray(FULL.to_bytes())
    assert data[:4] == (3).to_bytes(4, "little"), "records of another layout have another number"
    for other in (RECORD_FORMAT - 1, RECORD_FORMAT + 1):
        data[:4] = other.to_bytes(4, "little")
        assert Record.from_bytes(bytes(data)) is None


def test_a_record_from_before_there_was_a_history_has_none() -> None:
    data = BARE.to_bytes()
    without = data.replace(b',"history":[]', b"")
    assert without != data
    without = without[:4] + (len(without) - 8).to_bytes(4, "little") + without[8:]
    assert Record.from_bytes(without) == BARE


def test_a_history_keeps_the_first_run_and_the_last_ones() -> None:
    history: tuple[PastRun, ...] = ()
    for number in range(1, 200):
        history = remembered(history, PastRun(number, 0.0, 1.0, 2, 3))
        assert len(history) == min(number, KEPT_RUNS) and history[0].generation == 1
        assert [run.generation for run in history[1:]] == list(range(1, number + 1))[1:][-(KEPT_RUNS - 1) :]


def ids(text: str) -> np.ndarray:
    return np.frombuffer(b"".join(letter.encode() * 16 for letter in text), "V16")


def refs(count: int) -> np.ndarray:
    return np.array([(b"p" * 16, bytes([at]) * 16, 1 << 40, at + 1, at % 2 == 0) for at in range(count)], REF_ROW)


LEVELS = [
    Level(ids("abcde"), refs(5)),
    Level(ids("xy"), refs(2), np.array([2, 5])),
    Level(ids("z"), refs(1), np.array([2])),
]

TREE = TreeRecord(
    levels=LEVELS,
    encoding=7,
    tree="the tree",
    reduce="the reducer",
    shards=64,
    output=RunRef(b"o" * 16, b"d" * 16, 1 << 35, 99),
    refused=RefusedCombiner("the combiner", "given", "emitted"),
    trial=Trial("the reducer", 1000, 3),
    narrow="narrow",
    map_counters={b"a" * 16: {"lines": 3}, b"b" * 16: {"words": 9, "lines": 1}},
    reduce_counters={"keys": 4},
)


def plain(record: TreeRecord) -> list[object]:
    """All fields, with arrays as lists."""
    levels = [(level.ids.tolist(), level.refs.tolist(), level.ends.tolist()) for level in record.levels]
    return [levels, *(getattr(record, name) for name in record.__slots__ if name != "levels")]


@pytest.mark.parametrize(
    "record",
    [TREE, TreeRecord([], 1, "", "", 1), TreeRecord([Level(ids(""), refs(0))], 1, "", "", 1)],
    ids=["full", "bare", "of an empty input"],
)
def test_a_tree_comes_back_equal(record: TreeRecord) -> None:
    again = TreeRecord.from_bytes(record.to_bytes())
    assert plain(again) == plain(record)
    assert [level.ends.dtype for level in again.levels] == [level.ends.dtype for level in record.levels]


def test_a_tree_of_which_nothing_was_learned_knows_nothing() -> None:
    bare = TreeRecord.from_bytes(TreeRecord([], 1, "", "", 1).to_bytes())
    assert (bare.output, bare.refused, bare.narrow, bare.map_counters, bare.reduce_counters) == (None, None, "", {}, {})
    assert bare.trial == Trial("", 0, 0)


def test_columns_that_are_views_are_kept_as_they_read() -> None:
    backwards = TreeRecord([Level(ids("abc")[::-1], refs(3)[::-1])], 1, "", "", 1)
    assert plain(TreeRecord.from_bytes(backwards.to_bytes())) == plain(backwards)


def test_chunks_alone_keep_what_their_ids_depend_on_and_nothing_of_the_nodes() -> None:
    alone = TREE.chunks_alone()
    assert plain(alone) == plain(TreeRecord(LEVELS[:1], 7, "the tree", "the reducer", 64))


def test_a_nodes_children_stand_between_the_end_of_the_node_before_and_its_own() -> None:
    level = Level(ids("xyz"), refs(3), np.array([2, 3, 7]))
    assert Level(ids("a"), refs(1)).ends.tolist() == []
    assert [level.children(node) for node in range(3)] == [slice(0, 2), slice(2, 3), slice(3, 7)]


def test_a_trial_adds_up() -> None:
    assert Trial("reducer").again(10).again(5) == Trial("reducer", 15, 2)
