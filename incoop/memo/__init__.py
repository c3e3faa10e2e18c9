"""The memo store: entries in Redis, results in packs, both signed.

Contract: see `incoop.memo.store.MemoStore`. Loading this package loads redis-py, but neither Spark nor fsspec.

    entry.py checksum.py          what an entry is, and why it is trusted
    store.py generations.py       what the engine calls
    blobs.py files.py frames.py fsspec_files.py cache.py worker.py     packs
    session.py private_server.py locks.py sessions.py                  who is here, and the private Redis
    link.py wire.py address.py keys.py                                 the line to Redis
    collect.py retention.py trash.py census.py verify.py stats.py      maintenance
"""

from incoop.memo.blobs import BlobStore
from incoop.memo.checksum import block_hash, verify_block
from incoop.memo.collect import Collected, collect
from incoop.memo.entry import ID_BYTES, INLINE_BYTES, MemoEntry
from incoop.memo.errors import (
    CollectionRunning,
    MemoError,
    NoRedisServer,
    PackUnreadable,
    PackWriteFailed,
    RedisUnreachable,
    ServerFailed,
    StoreBusyElsewhere,
    StoreElsewhere,
    StoreMissing,
    StoreTooNew,
    WrongSecret,
)
from incoop.memo.events import MemoEvent
from incoop.memo.generations import Generation
from incoop.memo.retention import Keep
from incoop.memo.stats import StoreStats, stats
from incoop.memo.store import MemoStore
from incoop.memo.verify import Verified, verify
from incoop.memo.worker import WorkerConfig

__all__ = [
    "ID_BYTES",
    "INLINE_BYTES",
    "BlobStore",
    "Collected",
    "CollectionRunning",
    "Generation",
    "Keep",
    "MemoEntry",
    "MemoError",
    "MemoEvent",
    "MemoStore",
    "NoRedisServer",
    "PackUnreadable",
    "PackWriteFailed",
    "RedisUnreachable",
    "ServerFailed",
    "StoreBusyElsewhere",
    "StoreElsewhere",
    "StoreMissing",
    "StoreStats",
    "StoreTooNew",
    "Verified",
    "WorkerConfig",
    "WrongSecret",
    "block_hash",
    "collect",
    "stats",
    "verify",
    "verify_block",
]
