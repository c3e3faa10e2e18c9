"""Records of the user's files, as the blocks that are made of them give them."""

from __future__ import annotations

from incoop.engine.blocks import ChunkBlock
from incoop.engine.output import Pair
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.records import REPLACE_AS_JAVA


def file_as_record(uri: str, chunk: ChunkBlock | None, use_unicode: bool, reader: BlobReader) -> list[Pair]:
    """A file as `wholeTextFiles` gives it; an empty one is nowhere."""
    content = chunk.content() if chunk is not None else b""
    text = content.decode("utf-8", REPLACE_AS_JAVA)
    return [(None, (uri, text) if use_unicode else (uri.encode(), text.encode()))]
