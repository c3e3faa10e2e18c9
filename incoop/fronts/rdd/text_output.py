"""`saveAsTextFile` without Spark: the files that Hadoop would have written, byte for byte.

Contract: a folder has `part-00000` … and `_SUCCESS`, each with Hadoop's checksums beside it, or it is not there. Where
it is not certain what Spark would do (a folder that exists, another file system, a text that cannot be written),
nothing is written, and Spark is asked.
"""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from incoop.fronts.rdd.hadoop_paths import local_path

#: Hadoop's checksum of a local file: this name, how many bytes have one, and CRC-32 of each such piece.
_CHECKSUMS = b"crc\0"
_PIECE = 512

#: Where Hadoop keeps parts until all are written.
_UNFINISHED = "_temporary"


def output_folder(path: Any, folder: str | None) -> Path | None:
    """The local folder that a program names, if Spark would make it; `folder` is where relative paths are from."""
    local = local_path(path, folder) if isinstance(path, str) else None
    if local is None or os.path.lexists(local):
        return None
    return Path(local)


def write_text(folder: Path, partitions: Sequence[Iterable[Any]]) -> bool:
    """Write a part file for each partition; whether that was possible."""
    try:
        parts = folder / _UNFINISHED / "0"
        parts.mkdir(parents=True)
        for number, records in enumerate(partitions):
            _write(parts, f"part-{number:05}", b"".join(map(_line, records)))
        for file in list(parts.iterdir()):
            file.rename(folder / file.name)
        shutil.rmtree(folder / _UNFINISHED)
        _write(folder, "_SUCCESS", b"")
    except (OSError, UnicodeError):
        shutil.rmtree(folder, ignore_errors=True)  # which was not there before
        return False
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return True


def _line(record: Any) -> bytes:
    """As PySpark makes text of a record, and Java of the bytes."""
    if isinstance(record, bytes):
        return record.decode("utf-8", "replace").encode() + b"\n"
    return (record if isinstance(record, str) else str(record)).encode() + b"\n"


def _write(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    pieces = range(0, len(content), _PIECE)
    sums = [zlib.crc32(content[start : start + _PIECE]) for start in pieces]
    (folder / f".{name}.crc").write_bytes(_CHECKSUMS + struct.pack(f">i{len(sums)}I", _PIECE, *sums))
