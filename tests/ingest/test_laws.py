"""Whatever happens to logs, in whatever order: every line once.

A plain model writes numbered lines to two logs, rotates, copies, truncates, compresses and removes them, while an
ingest looks, takes some, is killed and started again. What copytruncate itself loses (lines written between copy and
truncate) may be missing; nothing may be there twice.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from hypothesis import given
from hypothesis import strategies as st

from tests.chunk.samples import checked
from tests.ingest.shipper import Shipper

#: Where bringing things to disk, which every version does several times, takes no time.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

HEADER = b"#Fields: date time method uri status\n"


class World:
    """A folder of logs, one writer each, and an ingest."""

    def __init__(self, folder: Path, append: bool) -> None:
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.append = append
        self.writers: dict[str, BinaryIO] = {}
        #: Lines that must arrive, and those that may.
        self.must: Counter[bytes] = Counter()
        self.may: Counter[bytes] = Counter()
        self.copied: set[str] = set()
        self.number = 0
        self.half: dict[str, bytes] = {}
        self.ship = Shipper(folder / "store", self.logs)
        for log in ("a.log", "b.log"):
            self.reopen(log)

    def path(self, log: str, number: int, suffix: str = "") -> Path:
        return self.logs / (f"{log}.{number}{suffix}" if number else log)

    def reopen(self, log: str) -> None:
        """A new file begins with its own lines, after a header that is everybody's."""
        self.finish(log)
        if log in self.writers:
            self.writers[log].close()
        fresh = not self.path(log, 0).exists()
        self.writers[log] = self.path(log, 0).open("ab" if self.append else "r+b" if not fresh else "wb", buffering=0)
        if fresh:
            self.number += 1
            self.put(log, b"%sbegin %d\n" % (HEADER, self.number))
        elif not self.append:
            self.writers[log].seek(0, os.SEEK_END)

    def put(self, log: str, content: bytes) -> None:
        self.writers[log].write(content)
        kind = self.may if log in self.copied else self.must
        kind.update(content.splitlines())

    def write(self, log: str, count: int) -> None:
        self.finish(log)
        low, self.number = self.number + 1, self.number + count
        self.put(
            log, b"".join(b"%s %06d %s\n" % (log.encode(), n, b"x" * (n % 40)) for n in range(low, self.number + 1))
        )

    def begin_line(self, log: str) -> None:
        if log not in self.half:
            self.number += 1
            self.writers[log].write(b"half %d " % self.number)
            self.half[log] = b"half %d whole" % self.number

    def finish(self, log: str) -> None:
        if log in self.half:
            self.writers[log].write(b"whole\n")
            (self.may if log in self.copied else self.must).update([self.half.pop(log)])

    def shift(self, log: str) -> None:
        for number in range(8, 0, -1):
            for suffix in ("", ".gz"):
                if (path := self.path(log, number, suffix)).exists():
                    path.rename(self.path(log, number + 1, suffix))

    def rename(self, log: str) -> None:
        if self.path(log, 0).exists() and log not in self.copied:
            self.shift(log)
            self.path(log, 0).rename(self.path(log, 1))

    def copy(self, log: str) -> None:
        if self.path(log, 0).exists() and log not in self.copied and self.writes_to_live(log):
            self.finish(log)
            self.shift(log)
            shutil.copyfile(self.path(log, 0), self.path(log, 1))
            self.copied.add(log)

    def truncate(self, log: str) -> None:
        if log in self.copied:
            self.finish(log)
            self.copied.discard(log)
            os.truncate(self.path(log, 0), 0)

    def writes_to_live(self, log: str) -> bool:
        return os.path.samestat(os.fstat(self.writers[log].fileno()), self.path(log, 0).stat())

    def compress(self, log: str, number: int) -> None:
        """As logrotate does: the compressed file first, then the other goes. Its writer has let go of it."""
        path = self.path(log, number)
        if path.exists() and not os.path.samestat(os.fstat(self.writers[log].fileno()), path.stat()):
            self.path(log, number, ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            if self.number % 2:
                self.ship.poll()
            path.unlink()

    def step(self, what: str, log: str, count: int) -> None:
        if what == "poll":
            self.ship.poll(budget=1 + count * 40)
        elif what == "look":
            self.ship.look()
        elif what == "take":
            self.ship.take(budget=1 + count * 40)
        elif what == "kill":
            self.ship.kill()
        elif what == "write":
            self.write(log, count)
        elif what == "compress":
            self.compress(log, 1 + count % 3)
        else:
            getattr(self, what)(log)

    def check(self) -> None:
        for log in self.writers:
            self.finish(log)
            self.truncate(log)
            self.writers[log].close()
        for _ in range(3):
            self.ship.poll()
        arrived = Counter(self.ship.lines())
        assert not arrived - (self.must + self.may), "twice"
        assert not self.must - arrived, "lost"
        self.ship.check_cuts()
        self.ship.homes.close()


WRITERS = ("write", "write", "write", "begin_line", "finish", "rename", "reopen", "copy", "truncate", "compress")
OURS = ("poll", "poll", "look", "take", "kill")

STEPS = st.tuples(st.sampled_from([*WRITERS, *OURS]), st.sampled_from(["a.log", "b.log"]), st.integers(1, 30))


@checked
@given(st.lists(STEPS, max_size=40), st.booleans())
def test_every_line_arrives_once(steps: list[tuple[str, str, int]], append: bool) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        world = World(Path(folder), append)
        for step in steps:
            world.step(*step)
        world.check()
