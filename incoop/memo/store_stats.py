"""Count what the store holds.

Contract: reads only. Entries and bytes are exact at some moment of the reading; hit rates are since the store began.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from incoop.base.stage_path import StagePath
from incoop.memo.link import Link
from incoop.memo.mending import number
from incoop.memo.session_registry import living
from incoop.memo.store import MemoStore
from incoop.memo.trash import trash_numbers


@dataclass(slots=True)
class JobStats:
    """One job's share of the store."""

    #: As people read it, and as the store knows it.
    job: str
    key: str
    generations: int = 0
    #: Number and time (seconds since the epoch) of the newest generation.
    last: int = 0
    when: float = 0.0
    #: Entries that the newest generation needs.
    live: int = 0
    runs: int = 0
    hits: int = 0
    misses: int = 0

    @property
    def hit_rate(self) -> float:
        """Part of the lookups that were answered."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


@dataclass(slots=True)
class StoreStats:
    """The whole store."""

    entries: int = 0
    entry_bytes: int = 0
    packs: int = 0
    pack_bytes: int = 0
    #: Entries out of sight that running sessions may still reuse.
    waiting: int = 0
    sessions: int = 0
    redis_bytes: int = 0
    jobs: list[JobStats] = field(default_factory=list)

    @property
    def hit_rate(self) -> float:
        hits = sum(job.hits for job in self.jobs)
        asked = hits + sum(job.misses for job in self.jobs)
        return hits / asked if asked else 0.0


def stats(store: MemoStore) -> StoreStats:
    """Count entries, packs, generations and hits."""
    report = store.session.link.strict(lambda link: _from_redis(link, store))
    for pack in store.blobs.scan():
        report.packs += 1
        report.pack_bytes += pack.size
    return report


def _from_redis(link: Link, store: MemoStore) -> StoreStats:
    from incoop.memo.census import read_heads

    keys, client = store.keys, link.client
    report = StoreStats(entries=client.hlen(keys.entries))
    for which in trash_numbers(link, keys):
        report.waiting += client.hlen(keys.trash(which))
    report.entry_bytes = _entry_bytes(link, keys.entries)
    report.sessions = len(living(link, keys, store.session.locked_sessions, tidy=False))
    report.redis_bytes = int(client.info("memory")["used_memory"])
    jobs: dict[str, JobStats] = {}
    for head in read_heads(link, keys, store.session.signer)[0]:
        job = jobs.setdefault(head.job, _named(head.job))
        job.generations += 1
        if head.number > job.last:
            job.last, job.when, job.live = head.number, head.when, head.live_count
    for name in client.smembers(keys.jobs):
        job = jobs.setdefault(name.decode(), _named(name.decode()))
        counted = client.hgetall(keys.counters_of(job.key))
        job.runs, job.hits, job.misses = (number(counted.get(key)) for key in (b"runs", b"hits", b"misses"))
    report.jobs = [jobs[name] for name in sorted(jobs)]
    return report


def _named(key: str) -> JobStats:
    return JobStats(str(StagePath.of_key(key)), key)


def _entry_bytes(link: Link, key: bytes) -> int:
    total = cursor = 0
    while True:
        cursor, page = link.client.hscan(key, cursor, count=5000)
        total += sum(len(task) + len(raw) for task, raw in page.items())
        if not cursor:
            return total
