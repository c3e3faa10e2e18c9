"""What content is known by cannot be made to collide: no id of content comes from xxhash."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incoop.base.content_ids import GrowingContent, content_id
from incoop.base.file_digests import FileDigests
from incoop.code.reads import Read, digest_of
from incoop.engine.stages.map_contract.text_leaves import cut_text
from incoop.inchdfs import ChunkSettings, DatasetStore, Lines, Splitter, index_input

ROOT = Path(__file__).parents[2]

#: Where 128 bits of xxh3 are taken, and why that does no harm.
ALLOWED = {
    "incoop/engine/stages/map_contract/plan.py": "the id of a task of one strong id: see run_ids",
    "incoop/fingerprint/ambient_python.py": "the time zone's table of hours, which nobody else chooses",
}


def test_no_id_of_content_is_made_by_xxhash() -> None:
    sources = [
        path for room in ("incoop", "inchdfs", "contraction", "scheduler") for path in (ROOT / room).rglob("*.py")
    ]
    found = {
        str(path.relative_to(ROOT)): len(re.findall(r"xxh3_128|xxh128", path.read_text()))
        for path in sources
        if "xxh3_128" in path.read_text() or "xxh128" in path.read_text()
    }
    assert found == dict.fromkeys(ALLOWED, 1)


def test_an_id_is_of_the_bytes_however_they_come() -> None:
    data = bytes(range(256)) * 300
    growing = GrowingContent()
    for at in range(0, len(data), 1000):
        growing.update(data[at : at + 1000])
    assert content_id(data) == content_id(memoryview(data)) == content_id(bytearray(data)) == growing.id()
    assert len(content_id(b"")) == 16 and content_id(b"") != content_id(b"\0")


def test_chunks_leaves_files_and_inputs_are_known_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(b"a line of some words, number %d\n" % number for number in range(4000))
    (tmp_path / "input").write_bytes(text)
    chunks = Splitter(ChunkSettings(average=16 << 10)).split_bytes(text)
    assert all(chunk.id == content_id(text[chunk.offset : chunk.end]) for chunk in chunks)
    leaves = cut_text(text, 512, Lines())
    assert leaves is not None
    starts = [0, *leaves.ends]
    assert all(id_ == content_id(text[starts[at] : starts[at + 1]]) for at, id_ in enumerate(leaves.cut.ids.tolist()))
    assert digest_of(Read("file", str(tmp_path / "input"))) == FileDigests().of(tmp_path / "input") == content_id(text)
    indexed = index_input(DatasetStore(tmp_path / "store"), tmp_path / "input")
    assert indexed.root == content_id(b"".join(bytes(id_) for id_ in indexed.rows["id"]))
