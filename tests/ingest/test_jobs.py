"""Jobs on a dataset that logs are taken into: as from scratch, at the cost of what came."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import incoop
from incoop.inchdfs import DatasetStore
from incoop.inchdfs.ingest.follow import IngestOptions, ingest
from tests.events import ran, reused, tasks


def statuses(_: object, line: str) -> list[tuple[str, int]]:
    return [(line.split()[-1], 1)]


def total(status: str, counts: list[int]) -> list[tuple[str, int]]:
    return [(status, sum(counts))]


def lines(low: int, high: int) -> bytes:
    return b"".join(b"GET /%d %d\n" % (n, 200 + n * 7919 % 300) for n in range(low, high))


def test_a_job_maps_what_came_and_nothing_else(tmp_path: Path) -> None:
    store, logs = tmp_path / "store", tmp_path / "logs"
    logs.mkdir()
    job = incoop.Job("statuses", statuses, total, total)

    def take() -> None:
        settings = incoop.inchdfs.ChunkSettings(average=16 << 10, chunker="fastcdc")
        ingest(DatasetStore(store), [str(logs)], "web", IngestOptions(settings=settings), tell=print)

    def expected() -> Counter[str]:
        return Counter(line.split()[-1] for file in logs.iterdir() for line in file.read_text().splitlines())

    (logs / "a.log").write_bytes(lines(0, 20_000))
    (logs / "b.log").write_bytes(lines(50_000, 60_000))
    take()
    with incoop.connect(store=store) as inc:
        first = inc.run(job, "inchdfs:/web")
        assert dict(first) == expected() and len(ran(first)) > 10
        with (logs / "a.log").open("ab") as file:
            file.write(lines(20_000, 20_100))
        (logs / "b.log").rename(logs / "b.log.1")
        (logs / "b.log").write_bytes(lines(70_000, 70_100))
        take()
        second = inc.run(job, "inchdfs:/web")
        assert dict(second) == expected()
        assert len(ran(second)) <= 3, "the last chunk of one log, perhaps one more, and a new log"
        assert reused(second) < tasks(first)
        assert second.report.fresh_bytes < 10_000
