"""Schemas beside what a script stores.

Contract: a file whose content is right is left alone. A STORE that keeps no schema leaves none behind that an earlier
run of the script kept: whoever loads the folder would take it for that of the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from incoop.base.atomic import write_atomically
from incoop.base.own_files import clear_way, read_regular
from incoop.fronts.pig.formats.schema_file import HEADER_FILE, SCHEMA_FILE


def write_beside(folder: Path, files: Mapping[str, bytes]) -> None:
    """Bring a folder's schema up to date."""
    for name in (SCHEMA_FILE, HEADER_FILE):
        path, wanted = folder / name, files.get(name)
        if wanted is None:
            path.unlink(missing_ok=True)
        elif _content(path) != wanted:
            clear_way(path)
            write_atomically(path, [wanted], durable=False)


def _content(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except OSError:
        return None
