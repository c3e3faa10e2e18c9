"""The chunks of one version of a dataset, file by file, and how they are kept on disk.

Contract: `from_bytes(to_bytes())` is the identity; a manifest that is cut short, altered, of a later format, or signed
for another place is refused with an error, never half read. Who may write to the store, but does not know its secret,
can make no manifest that is obeyed, nor put one in the place of another.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incoop.base.checksums import DIGEST_BYTES, Signer, block_hash
from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp
from incoop.inchdfs.cutting import records as formats
from incoop.inchdfs.cutting.chunk_table import ROW, Rows, root_hash
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.settings import ChunkSettings
from incoop.inchdfs.cutting.stretches import StretchBook
from incoop.inchdfs.errors import DatasetStoreTooNew, StoreDamaged

#: Bumped whenever cuts or this layout change: stored chunks and memos of another format are not comparable.
#: 2: stamps hold the device, and say whether they are trusted. 3: signed. Earlier ones are not read any more.
FORMAT_VERSION = 3

_MAGIC = b"INCOOPMF"
_HEAD = struct.Struct("<8sIIQ")  # magic, format, header bytes, rows; a checksum of everything else, and its signature
_CHECKSUM_SIZE = 16
_BUILT_IN = {
    f.__name__: f for f in (formats.Lines, formats.FixedLength, formats.Delimited, formats.WholeFile, formats.Csv)
}


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a version: its rows are the next `chunks` of the manifest."""

    name: str
    size: int
    chunks: int
    #: What the file system said of the file when it was read; None for one that was put.
    stamp: Stamp | None = None
    #: The bytes are in packs; else in the file that `name` is the path of.
    kept: bool = True
    #: While its stamp does not move, the file need not be read.
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """Ordered chunks of all files of one version."""

    settings: ChunkSettings
    #: Names the record format: what cut these chunks.
    records_tag: str
    files: tuple[FileEntry, ...]
    rows: Rows = field(compare=False)
    #: Facts about the version: when it was made, what it was appended to.
    notes: dict[str, Any] = field(default_factory=dict)
    #: What is known of its chunks' stretches; kept elsewhere (stretch_file.py).
    stretches: StretchBook = field(default_factory=StretchBook, compare=False, repr=False)

    @property
    def size(self) -> int:
        return int(self.rows["length"].sum(dtype=np.int64))

    @property
    def root(self) -> bytes:
        return root_hash(self.rows)

    def by_file(self) -> Iterator[tuple[FileEntry, Rows]]:
        """Each file with its own rows."""
        first = 0
        for entry in self.files:
            yield entry, self.rows[first : first + entry.chunks]
            first += entry.chunks

    def to_bytes(self, signer: Signer, name: str) -> bytes:
        """The bytes of the manifest, signed for the place of that name."""
        header = json.dumps(
            {
                "settings": dataclasses.asdict(self.settings),
                "records": self.records_tag,
                "files": [
                    [f.name, f.size, f.chunks, dataclasses.astuple(f.stamp) if f.stamp else None, f.kept, f.trusted]
                    for f in self.files
                ],
                "notes": self.notes,
            },
            separators=(",", ":"),
        ).encode()
        head = _HEAD.pack(_MAGIC, FORMAT_VERSION, len(header), len(self.rows))
        body = header + np.ascontiguousarray(self.rows).tobytes()
        checksum = block_hash(head + body)
        return b"".join([head, checksum, signer.sign_file(_named(name), checksum), body])

    @classmethod
    def from_bytes(cls, data: bytes, where: str, signer: Signer | None, name: str) -> Manifest:
        """Read a manifest; `where` is named when it cannot be read. Without a signer, whoever wrote it."""
        signed = _HEAD.size + _CHECKSUM_SIZE
        start = signed + DIGEST_BYTES
        if len(data) < start or not data.startswith(_MAGIC):
            raise StoreDamaged(where, "not a manifest")
        head, checksum, body = data[: _HEAD.size], data[_HEAD.size : signed], data[start:]
        _, version, header_size, row_count = _HEAD.unpack(head)
        if version > FORMAT_VERSION:
            raise DatasetStoreTooNew(where, version, FORMAT_VERSION)
        if version < FORMAT_VERSION:
            raise StoreDamaged(where, f"format {version}, of an earlier build, is not read any more")
        if block_hash(head + body) != checksum:
            raise StoreDamaged(where, "the manifest is cut short or altered")
        if signer is not None and not signer.accepts_file(_named(name), checksum, data[signed:start]):
            raise StoreDamaged(where, "the manifest is not signed by this store")
        try:
            header = json.loads(body[:header_size])
            return cls(
                settings=ChunkSettings(**header["settings"]),
                records_tag=header["records"],
                files=tuple(_entry(*fields) for fields in header["files"]),
                rows=np.frombuffer(body, dtype=ROW, count=row_count, offset=header_size),
                notes=header["notes"],
            )
        except (ValueError, TypeError, KeyError) as error:
            raise StoreDamaged(where, f"the manifest says what none does ({type(error).__name__})") from error


def _named(name: str) -> bytes:
    return b"manifest\0" + name.encode("utf-8", "surrogateescape")


def _entry(name: str, size: int, chunks: int, stamp: list[int] | None, kept: bool, trusted: bool) -> FileEntry:
    return FileEntry(name, size, chunks, Stamp(*stamp) if stamp else None, kept, trusted)


def tag_of(records: RecordFormat) -> str:
    """A text that names a record format and its parameters, the same in every process.

    Example:
        >>> tag_of(formats.FixedLength(8))
        '{"FixedLength": {"length": 8}}'
    """
    kind = type(records)
    if kind is _BUILT_IN.get(kind.__name__):
        fields = dataclasses.asdict(records)  # type: ignore[call-overload]
        return json.dumps({kind.__name__: {k: v.hex() if isinstance(v, bytes) else v for k, v in fields.items()}})
    return f"{kind.__module__}.{kind.__qualname__} {records!r}"


def is_built_in(tag: str) -> bool:
    """Whether a tag says all of a format."""
    return tag.startswith("{")


def records_of(tag: str) -> RecordFormat:
    """The built-in format that a tag names."""
    if not is_built_in(tag):
        raise BadCall(f"this data was stored with the record format {tag}; pass it again with records=….")
    ((name, fields),) = json.loads(tag).items()
    if name == "Delimited":
        fields["delimiter"] = bytes.fromhex(fields["delimiter"])
    built: RecordFormat = _BUILT_IN[name](**fields)
    return built
