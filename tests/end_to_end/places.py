"""A store and an input in a folder of their own, with the hands to run jobs, edit and damage."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import incoop
from incoop import inchdfs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Chunks of about 256 bytes: an input of a few kilobytes has a deep tree.
CHUNKS = inchdfs.ChunkSettings(average=256)

Files = dict[str, list[str]]


def servers_below(folder: Path) -> list[int]:
    """Process ids of Redis servers that work in a folder below this one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name = (entry / "comm").read_text()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            a_server = ("redis" in name or "valkey" in name) and state not in "ZX"
            if a_server and folder in (entry / "cwd").readlink().parents:
                found.append(int(entry.name))
    return found


class Place:
    """Files to run on, and a store; opened when first asked for."""

    def __init__(self, base: Path, spark: SparkSession, chunks: inchdfs.ChunkSettings = CHUNKS) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=base))
        self.input = self.folder / "input"
        self.store = self.folder / "store"
        self.spark, self.chunks = spark, chunks
        self.input.mkdir()
        self._session: incoop.Session | None = None

    @property
    def session(self) -> incoop.Session:
        if self._session is None:
            self._session = incoop.connect(self.store, spark=self.spark, chunks=self.chunks)
        return self._session

    def close_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def close(self) -> None:
        self.close_session()
        shutil.rmtree(self.folder)

    def write(self, files: Files | list[str]) -> None:
        """Make the input folder hold these files and no others; one that stays the same is not touched."""
        wanted = {"input.txt": files} if isinstance(files, list) else files
        for path in self.input.iterdir():
            if path.name not in wanted:
                path.unlink()
        for name, lines in wanted.items():
            data = as_bytes(lines)
            path = self.input / name
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def run(self, job: incoop.Job, **options: Any) -> incoop.Result:
        """Run on the input folder."""
        return self.session.run(job, str(self.input), **options)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[incoop.Session]:
        """A session on an empty store."""
        folder = tempfile.mkdtemp(dir=self.folder)
        with incoop.connect(Path(folder) / "store", spark=self.spark, chunks=self.chunks) as session:
            yield session
        shutil.rmtree(folder)

    @property
    def packs(self) -> list[Path]:
        """Every pack file, in a fixed order."""
        return sorted(path for path in (self.store / "memo" / "packs").rglob("*") if path.is_file())

    def kill_server(self) -> None:
        """kill -9 the private Redis."""
        pid = self.session._memo.session._server.pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def forget_entries(self, share: float, rng: random.Random) -> None:
        """Drop some of the memo's entries in Redis, as if they had never been written."""
        memo = self.session._memo

        def drop(link: Any) -> None:
            ids = sorted(link.client.hkeys(memo.keys.entries))
            gone = [id_ for id_ in ids if rng.random() < share]
            if gone:
                link.client.hdel(memo.keys.entries, *gone)

        memo.session.link.strict(drop)

    def forget_generations(self) -> None:
        """Drop the records of all runs."""
        memo = self.session._memo
        memo.session.link.strict(lambda link: link.client.delete(memo.keys.generations))


def as_bytes(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def damage(path: Path, rng: random.Random) -> str:
    """Delete, cut or change one file; says what was done."""
    size = path.stat().st_size
    how = rng.choice(["delete", "truncate", "flip", "empty"])
    if how == "delete":
        path.unlink()
    elif how == "empty" or not size:
        os.truncate(path, 0)
    elif how == "truncate":
        os.truncate(path, rng.randrange(size))
    else:
        data = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(size)] ^= 1 << rng.randrange(8)
        path.chmod(0o600)
        path.write_bytes(data)
    return how
