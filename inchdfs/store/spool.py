"""Standard input as a file: what can be read only once is kept until it is stored."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incoop.base.errors import BadCall
from incoop.inchdfs.files.sources import InputFile, readable
from incoop.inchdfs.store.packs import using_store


@contextmanager
def spooled(folder: Path | None = None) -> Iterator[InputFile]:
    """Copy standard input to a temporary file, which is gone afterwards."""
    if sys.stdin is None:
        raise BadCall("standard input is closed; redirect something to it, or name a file.")
    with tempfile.NamedTemporaryFile(dir=folder, prefix="stdin-") as file:
        while True:
            with readable(Path("standard input")):
                piece = sys.stdin.buffer.read(1 << 20)
            if not piece:
                break
            with using_store(Path(file.name).parent):
                file.write(piece)
        with using_store(Path(file.name).parent):
            file.flush()
        yield InputFile(Path(file.name), "stdin")
