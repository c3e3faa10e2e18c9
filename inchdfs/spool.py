"""Standard input as a file: what can be read only once is kept until it is stored."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inchdfs.packs import on_full_disk
from inchdfs.sources import InputFile


@contextmanager
def spooled(folder: Path | None = None) -> Iterator[InputFile]:
    """Copy standard input to a temporary file, which is gone afterwards."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix="stdin-") as file, on_full_disk(Path(file.name).parent):
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        file.flush()
        yield InputFile(Path(file.name), "stdin")
