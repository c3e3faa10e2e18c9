"""Real daemons whose logs a real logrotate rotates, while an ingest follows them and is killed again and again."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.inchdfs import Dataset, DatasetStore
from tests.chunk.commands import run, start
from tests.ingest.daemons import Daemon, Logrotate, Nginx, Rsyslog, missing

LINES = 200_000
BURSTS = 16

#: Seconds between two rotations, and between two kills: an ingest starts in about one.
ROTATES, KILLS = 0.6, 1.7


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="logs-") as made:  # short: the name of a socket has 107 bytes
        yield Path(made)


class Followed:
    """`incoop ingest --follow`, which is killed and started again."""

    def __init__(self, daemon: Daemon) -> None:
        self._folder = daemon.folder
        self._words = ("ingest", f"{daemon.logs}/app.log*", "logs")
        self.kills = 0
        self.start()

    def start(self) -> None:
        self._process = start(*self._words, "--follow", "--batch", "1M|0.2s", cwd=self._folder)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()
        self.kills += 1
        self.start()

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        code, _, said = run(*self._words, "--last-line", cwd=self._folder)
        assert code == 0, said

    def lines(self) -> Counter[str]:
        return Counter(Dataset(DatasetStore(self._folder / "incoop-store"), "logs").records())


def followed(daemon: Daemon, copytruncate: bool) -> tuple[Counter[str], int]:
    """What arrives of the lines that a daemon is sent; and how many are in its files at the end."""
    rotated, stop = Logrotate(daemon, copytruncate), threading.Event()

    def send() -> None:
        with daemon.connected() as connection:
            for burst in range(BURSTS):
                daemon.send(connection, burst * LINES // BURSTS, (burst + 1) * LINES // BURSTS)
                time.sleep(0.2)
        stop.set()

    with daemon.running():
        ingest = Followed(daemon)
        sender = threading.Thread(target=send)
        sender.start()
        killed, rotations = time.monotonic(), 0
        while not stop.wait(ROTATES):
            rotated.rotate()
            rotations += 1
            if time.monotonic() - killed > KILLS:
                ingest.kill()
                killed = time.monotonic()
        sender.join()
        before = -1
        while (now := daemon.written()) != before:  # until the daemon has written all that it has
            before = now
            time.sleep(0.5)
        rotated.rotate()
    ingest.end()
    assert rotations >= 3 and ingest.kills >= 1
    return ingest.lines(), daemon.written()


@pytest.mark.long
@pytest.mark.parametrize("kind", [Rsyslog, Nginx])
def test_renamed_logs_arrive_line_by_line_exactly_once(kind: type[Daemon], folder: Path) -> None:
    if why := missing(kind.name, "logrotate"):
        pytest.skip(why)
    arrived, written = followed(kind(folder), copytruncate=False)
    assert written == LINES, "the daemon itself lost some"
    assert len(arrived) == LINES and set(arrived.values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize("kind", [Rsyslog, Nginx])
def test_of_copied_and_truncated_logs_no_line_arrives_twice_and_none_of_their_files_is_missing(
    kind: type[Daemon], folder: Path
) -> None:
    if why := missing(kind.name, "logrotate"):
        pytest.skip(why)
    arrived, written = followed(kind(folder), copytruncate=True)
    assert set(arrived.values()) == {1}
    assert written <= len(arrived) <= LINES
