"""The memo of a job with `memoize=False`: finds nothing, keeps nothing, on the same path as the real one."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from incoop.base.atomic import make_private_folder
from incoop.memo import BlobStore, Generation, MemoEntry, WorkerConfig


class NullMemo:
    """Packs of the run itself lie in a temporary folder inside the store, until the session closes."""

    def __init__(self, store: Path) -> None:
        make_private_folder(store)
        self._folder = tempfile.TemporaryDirectory(prefix=f"unmemoized-{os.getpid()}-", dir=store)
        self._worker = WorkerConfig(str(Path(self._folder.name).absolute()), secrets.token_bytes(32))
        self.blobs: BlobStore = self._worker.open()

    def worker_config(self) -> WorkerConfig:
        return self._worker

    def lookup(self, task_ids: Sequence[bytes], *, probe_packs: bool = False) -> list[MemoEntry | None]:
        return [None] * len(task_ids)

    def store(self, entries: Mapping[bytes, MemoEntry]) -> None:
        return None

    def begin_generation(self, job: str) -> int:
        return 0

    def abort_generation(self, job: str, generation: int) -> None:
        return None

    def last_generation(self, job: str) -> Generation | None:
        return None

    def commit_generation(self, job: str, generation: int, record: bytes, live: bytes | Iterable[bytes]) -> bool:
        return False

    @property
    def delivered(self) -> None:
        return None

    def losses(self) -> list[str]:
        return []

    def close(self) -> None:
        self._folder.cleanup()
