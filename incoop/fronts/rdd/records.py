"""Records of the user's files, as the blocks that are made of them give them."""

from __future__ import annotations

from typing import Any

from incoop.code import unwatched
from incoop.engine.output import Pair
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.records import REPLACE_AS_JAVA, RecordFormat
from incoop.inchdfs.store.packs import Location, read_chunk


def records_of_chunk(where: Location, records: RecordFormat, reader: BlobReader) -> list[Any]:
    """The records of a chunk of the user's own file."""
    with unwatched():
        content = read_chunk(where)
    return list(records.records(content))


def file_as_record(uri: str, where: Location | None, use_unicode: bool, reader: BlobReader) -> list[Pair]:
    """A file as `wholeTextFiles` gives it; an empty one is nowhere."""
    with unwatched():
        content = read_chunk(where) if where is not None else b""
    text = content.decode("utf-8", REPLACE_AS_JAVA)
    return [(None, (uri, text) if use_unicode else (uri.encode(), text.encode()))]
