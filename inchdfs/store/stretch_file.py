"""The stretches of an input's chunks on disk, beside its index: what lets the next look at it search only what changed.

Contract: a cache. A file that is damaged, of another format, not signed by this store or gone is an empty book: chunks
are then searched as a whole, and cut into leaves as a whole.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incoop.base.atomic import write_atomically
from incoop.base.checksums import Signer
from incoop.base.errors import IncoopError
from incoop.base.ids import split_ids
from incoop.base.own_files import clear_way, read_regular
from incoop.inchdfs.cutting.stretches import NEW, ROW, Recut, RecutPieces, Rows, StretchBook

_MAGIC = b"INCOOPS3"
#: Magic; a keyed checksum of all that follows; chunks, rows of stretches, pieces.
_HEAD = struct.Struct("<8s16sIII")
_SIGNED_FROM = 24

Pairs = npt.NDArray[np.int32]


def stretch_path(index: Path) -> Path:
    """Where the stretches are of the chunks that an index names."""
    return index.with_suffix(".stretches")


def load_stretches(path: Path, signer: Signer) -> StretchBook:
    """What is known."""
    try:
        data = read_regular(path)
    except (OSError, IncoopError):
        return StretchBook(path)
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        return StretchBook(path)
    _, digest, chunks, rows, pieces = _HEAD.unpack_from(data)
    if not signer.accepts_file(_named(path), data[_SIGNED_FROM:], digest):
        return StretchBook(path)
    at = _HEAD.size
    ids = split_ids(data[at : at + 16 * chunks])
    bases = split_ids(data[at + 16 * chunks : at + 32 * chunks])
    at += 32 * chunks
    ends, piece_ends = np.frombuffer(data, "<u4", 2 * chunks, at).reshape(2, chunks).tolist()
    every = np.frombuffer(data, ROW, rows, at + 8 * chunks)
    cut = np.frombuffer(data, "<i4", 2 * pieces, at + 8 * chunks + rows * ROW.itemsize).reshape(pieces, 2)
    book = StretchBook(path)
    low = first = 0
    for id_, base, high, last in zip(ids, bases, ends, piece_ends, strict=True):
        book.known[id_] = every[low:high]
        if last > first:
            book.recuts[id_] = Recut(base, _pieces(cut[first:last], every[low:high]))
        low, first = high, last
    return book


def _pieces(stored: Pairs, rows: Rows) -> RecutPieces:
    """Pieces of the chunk with these stretches, given their lengths and places; one that is new is one of them."""
    lengths, before = stored.T
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    stretches = np.cumsum(rows["length"], dtype=np.int64) - rows["length"]
    new = rows["id"][np.searchsorted(stretches, starts[before == NEW])]
    return RecutPieces(tuple(lengths.tolist()), tuple(before.tolist()), tuple(new.tolist()))


def _named(path: Path) -> bytes:
    return b"stretches\0" + path.name.encode("utf-8", "surrogateescape")


def save_stretches(book: StretchBook, chunks: Collection[bytes], signer: Signer) -> None:
    """Keep what is known of these chunks, if that is more than before and there is a place for it."""
    if not book.grew or book.path is None:
        return
    kept = [id_ for id_ in dict.fromkeys(chunks) if id_ in book.known]
    recuts = [book.recuts.get(id_) for id_ in kept]
    bases = [recut.base if recut is not None else bytes(16) for recut in recuts]
    pieces = [
        each
        for recut in recuts
        if recut is not None
        for each in zip(recut.pieces.lengths, recut.pieces.before, strict=True)
    ]
    ends = np.cumsum([len(book.known[id_]) for id_ in kept], dtype=np.int64)
    piece_ends = np.cumsum([len(recut.pieces.lengths) if recut is not None else 0 for recut in recuts], dtype=np.int64)
    rows = b"".join(np.ascontiguousarray(book.known[id_]).tobytes() for id_ in kept)
    body = b"".join(
        [
            struct.pack("<III", len(kept), len(rows) // ROW.itemsize, len(pieces)),
            *(*kept, *bases),
            *(ends.astype("<u4").tobytes(), piece_ends.astype("<u4").tobytes()),
            *(rows, np.array(pieces, "<i4").tobytes()),
        ]
    )
    clear_way(book.path)
    write_atomically(book.path, [_MAGIC, signer.sign_file(_named(book.path), body), body], durable=False)
    book.grew = False
