"""Finding the chunks of a text."""

from __future__ import annotations

from typing import Any

import pytest

from incoop.base.content_ids import content_id
from incoop.inchdfs import ChunkSettings, Splitter


@pytest.mark.parametrize("chunker", ["rabin", "fastcdc"])
def test_chunk_search(benchmark: Any, text: bytes, chunker: str) -> None:
    splitter = Splitter(ChunkSettings(average=64 << 10, chunker=chunker))
    chunks = benchmark(splitter.split_bytes, text)
    assert [chunk.id for chunk in chunks] == [content_id(text[each.offset : each.end]) for each in chunks]
    assert chunks[-1].end == len(text)
