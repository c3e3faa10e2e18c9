"""The memo store: entries in Redis, results in packs, both signed.

Contract: see `incoop.memo.store.MemoStore`. A name is loaded when it is first used, so a worker that
only reads and writes packs loads neither redis-py nor numpy.

    entry.py                      what an entry is
    store.py generations.py       what the engine calls
    blobs.py files.py frames.py fsspec_files.py cache.py cache_folder.py worker.py     packs
    store_session.py private_server.py locks.py session_record.py session_registry.py leftovers.py
                                  who is here, and was; the private Redis
    identity.py signed_files.py                                        what the folder is, signed
    link.py wire.py address.py redis_keys.py mending.py                the line to Redis, and what it holds set right
    collector.py retention.py rosters.py trash.py census.py verifier.py store_stats.py    maintenance

Imports base only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incoop.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from incoop.memo.blobs import BlobStore
    from incoop.memo.collector import Collected, collect
    from incoop.memo.entry import INLINE_BYTES, MemoEntry
    from incoop.memo.errors import (
        CollectionRunning,
        MemoError,
        MemoUnusable,
        NoRedisServer,
        PackUnreadable,
        PackWriteFailed,
        RedisDamaged,
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
    from incoop.memo.store import MemoStore
    from incoop.memo.store_stats import StoreStats, stats
    from incoop.memo.verifier import Verified, verify
    from incoop.memo.worker import WorkerConfig

_HOME_OF = {
    name: module
    for module, names in {
        "blobs": ("BlobStore",),
        "collector": ("Collected", "collect"),
        "entry": ("INLINE_BYTES", "MemoEntry"),
        "errors": (
            "CollectionRunning",
            "MemoError",
            "NoRedisServer",
            "PackUnreadable",
            "PackWriteFailed",
            "RedisDamaged",
            "RedisUnreachable",
            "ServerFailed",
            "StoreBusyElsewhere",
            "StoreElsewhere",
            "StoreMissing",
            "StoreTooNew",
            "MemoUnusable",
            "WrongSecret",
        ),
        "events": ("MemoEvent",),
        "generations": ("Generation",),
        "retention": ("Keep",),
        "store_stats": ("StoreStats", "stats"),
        "store": ("MemoStore",),
        "verifier": ("Verified", "verify"),
        "worker": ("WorkerConfig",),
    }.items()
    for name in names
}

__all__ = [
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
    "MemoUnusable",
    "NoRedisServer",
    "PackUnreadable",
    "PackWriteFailed",
    "RedisDamaged",
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
    "collect",
    "stats",
    "verify",
]

__getattr__ = lazy_names(__name__, _HOME_OF)
