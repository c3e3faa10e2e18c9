"""One ingest a dataset: a lock that ends with its process, however that ends.

Contract: who has it is alone; nothing is left of it when it is given back, and what a killed process left is in
nobody's way.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from incoop.base.atomic import make_folder
from incoop.base.errors import IncoopError
from incoop.base.own_files import open_lock
from incoop.inchdfs.store.dataset_store import DatasetStore
from incoop.inchdfs.store.packs import using_store

#: No part of a dataset's name can be that: it has a `~`.
_FILE = "ingest~lock"


class IngestRuns(IncoopError):
    """Another process ingests into the same dataset."""

    def __init__(self, name: str, process: str) -> None:
        super().__init__(name, process)
        self.name, self.process = name, process

    def __str__(self) -> str:
        return (
            f"another ingest into {self.name} is running (process {self.process or 'unknown'}). Stop it first, name "
            "its sources and these in one call, or choose another dataset; nothing was taken."
        )


@contextmanager
def ingest_lock(store: DatasetStore, name: str) -> Iterator[None]:
    """Be the only ingest into a dataset, or raise IngestRuns."""
    path = store.folder_of(name) / _FILE
    with using_store(store.folder.parent):
        handle = None
        while handle is None:
            make_folder(path.parent)
            handle = _locked(path, name)
        os.truncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)
        with suppress(OSError):
            path.parent.rmdir()  # where nothing was taken


def _locked(path: Path, name: str) -> int | None:
    """Open and lock the file; None where its last owner removed it meanwhile, so that others lock another one."""
    try:
        handle = open_lock(path)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except BlockingIOError:
        process = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
        os.close(handle)
        raise IngestRuns(name, process if process.isdigit() else "") from None
    except FileNotFoundError:
        pass
    os.close(handle)
    return None
