"""The names of everything that a store keeps in Redis.

Contract: every key begins with the store's namespace. `seq` counts sessions, generations and collections in one
order; that order is what lets the collector know what a running session may have seen.
"""

from __future__ import annotations


class RedisKeys:
    """Key names for one namespace."""

    __slots__ = ("entries", "gc_lock", "generations", "jobs", "last_gc", "meta", "namespace", "numbers", "seq",
                 "sessions", "trash_open", "trashes")  # fmt: skip

    def __init__(self, namespace: bytes) -> None:
        #: What every key begins with.
        self.namespace = namespace
        #: Hash: task id -> signed entry.
        self.entries = namespace + b"entries"
        #: Hash: format and key check.
        self.meta = namespace + b"meta"
        #: Counter: the order of sessions, generations and collections.
        self.seq = namespace + b"seq"
        #: Value of `seq` when the last collection had made its last entry unfindable.
        self.last_gc = namespace + b"last-gc"
        #: Hash: generation field -> signed generation.
        self.generations = namespace + b"generations"
        #: Hash: job -> number of its newest begun generation.
        self.numbers = namespace + b"numbers"
        #: Set of job names that committed.
        self.jobs = namespace + b"jobs"
        #: Hash: session -> its record.
        self.sessions = namespace + b"sessions"
        #: Hash: entries that the running collection takes out of sight.
        self.trash_open = namespace + b"trash:open"
        #: Sorted set: finished trash hashes by the `seq` at which they were closed.
        self.trashes = namespace + b"trashes"
        #: Held by the one collection that may run.
        self.gc_lock = namespace + b"gc"

    def numbers_of(self, job: str) -> bytes:
        """Sorted set: the job's committed generation numbers."""
        return self.namespace + b"job:" + job.encode("utf-8", "surrogatepass")

    def counters_of(self, job: str) -> bytes:
        """Hash: runs, hits and misses of the job."""
        return self.namespace + b"count:" + job.encode("utf-8", "surrogatepass")

    def alive(self, session: str) -> bytes:
        """Expires unless the session keeps it fresh."""
        return self.namespace + b"alive:" + session.encode()

    def trash(self, number: int) -> bytes:
        """Hash: entries that the collection with this `seq` took out of sight."""
        return self.namespace + b"trash:%d" % number
