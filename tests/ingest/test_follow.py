"""The loop that follows logs: what is taken when."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from incoop.inchdfs import DatasetStore
from incoop.inchdfs.ingest import follow
from incoop.inchdfs.ingest.follow import IngestOptions, IngestStatus, ingest


@pytest.mark.parametrize("up", [0.0, 1e6], ids=["a machine that began just now", "one that began long ago"])
def test_what_is_there_at_first_is_taken_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, up: float) -> None:
    began = time.monotonic()
    monkeypatch.setattr(follow, "time", SimpleNamespace(monotonic=lambda: up + time.monotonic() - began))
    monkeypatch.setattr(follow, "POLL_SECONDS", 0.01)
    log = tmp_path / "a.log"
    log.write_bytes(b"a line\n")
    lags: list[int] = []
    stop = threading.Event()

    def show(status: IngestStatus) -> None:
        lags.append(status.lag)
        if len(lags) == 3:
            with log.open("ab") as file:
                file.write(b"another\n")
        if len(lags) == 6:
            stop.set()

    options = IngestOptions(follow=True, batch_seconds=1000)
    ingest(DatasetStore(tmp_path / "store"), [str(log)], "logs", options, tell=print, show=show, stop=stop)
    # Taken before the second look; what came then waits for its time.
    assert lags[:3] == [7, 0, 0] and lags[3:6] == [8, 8, 8]
