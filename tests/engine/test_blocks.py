"""What a task reads is one thing to it, wherever the records come from."""

from __future__ import annotations

import ast
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import incoop
from incoop import inchdfs
from incoop.engine.blocks import ChunkBlock, PairBlock
from incoop.engine.output import OutputBlock
from incoop.engine.stored import BlobReader
from incoop.fronts.common.made_blocks import MadeBlock
from incoop.inchdfs import Lines

ENGINE = Path(incoop.__file__).parent / "engine"


def given(pairs: list[Any], reader: BlobReader) -> list[Any]:
    return pairs


def test_a_chunk_of_a_file_has_bytes_records_and_lines_that_can_be_named(tmp_path: Path) -> None:
    text = b"".join(b"line %d\n" % number for number in range(4000))
    path = tmp_path / "text"
    path.write_bytes(text)
    store = inchdfs.DatasetStore(tmp_path / "store")
    manifest = inchdfs.index_input(store, [str(path)], settings=inchdfs.ChunkSettings(average=256))
    blocks = [ChunkBlock(where) for where in inchdfs.locate(store, manifest)]
    assert b"".join(block.content() for block in blocks) == text
    assert [block.length for block in blocks] == [len(block.content()) for block in blocks]
    second = blocks[1]
    assert second.chunk() is second
    before = blocks[0].content().count(b"\n")
    assert second.records(Lines(), None)[0] == f"line {before}"  # type: ignore[arg-type]
    start, end = len(blocks[0].content()), len(blocks[0].content()) + second.length
    assert second.place() == f"{path}, bytes {start:,} to {end:,}"
    assert second.place_of(2) == f"{path}, line {before + 3}"


def test_a_made_block_holds_what_it_is_made_of_and_no_pack() -> None:
    block = MadeBlock(bytes(16), 7, 3, partial(given, [("a", 1)]))
    sent = pickle.loads(pickle.dumps(block))
    assert (sent.id, sent.length, sent.tail) == (bytes(16), 7, 3) and not isinstance(sent, OutputBlock)
    assert sent.records(Lines(), None) == [("a", 1)]
    assert sent.chunk() is None
    assert sent.place() == "chunk 0000000000000000"
    assert sent.place_of(4) == "chunk 0000000000000000, record 5"


def test_nothing_in_the_engine_asks_a_block_of_which_kind_it_is() -> None:
    kinds = {kind.__name__ for kind in (ChunkBlock, PairBlock, OutputBlock)} | {"Location"}
    for path in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
                assert not asked & kinds, f"{path}:{node.lineno}"
