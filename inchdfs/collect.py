"""Remove what no version needs, and check what every version does.

Contract: a chunk that a manifest names is never removed; nothing is removed while a put is running.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inchdfs.errors import StoreDamaged
from inchdfs.packs import PackIndex, PackWriter, read_chunk, sortable
from inchdfs.store import DatasetStore, all_manifests

#: A pack is written anew without its dead chunks when less than this share of it is alive: each byte is copied at
#: most about twice over its life, and dead bytes never exceed the living.
_ALIVE_ENOUGH = 0.5


@dataclass(slots=True)
class Collected:
    """What a collection removed, or would remove."""

    temporary_files: int = 0
    #: Indexes of inputs of which no file exists any more.
    indexes: int = 0
    packs: int = 0
    rewritten_packs: int = 0
    bytes: int = 0


def collect(store: DatasetStore, dry_run: bool = False) -> Collected:
    """Remove interrupted puts and chunks that no version names."""
    done = Collected()
    if not store.folder.exists():
        return done
    with store.collecting():
        for path in (*store.temporary.glob("*"), *store.packs.glob(".*")):
            done.temporary_files += 1
            done.bytes += path.stat().st_size
            if not dry_run:
                path.unlink()
        index = store.index()
        _remove_indexes_of_vanished_inputs(store, done, dry_run)
        done.bytes += _remove_unnamed_packs(store, index, done, dry_run)
        live = _live(store)
        for number, name in enumerate(index.names):
            _collect_pack(store, index, number, name, live, done, dry_run)
    return done


def _remove_indexes_of_vanished_inputs(store: DatasetStore, done: Collected, dry_run: bool) -> None:
    for path, manifest in store.input_manifests().items():
        if not any(Path(entry.name).exists() for entry in manifest.files):
            done.bytes += path.stat().st_size
            done.indexes += 1
            if not dry_run:
                path.unlink()


def _live(store: DatasetStore) -> npt.NDArray[np.bytes_]:
    manifests = [manifest for _, manifest in all_manifests(store)] + list(store.input_manifests().values())
    ids = [sortable(manifest.rows["id"]) for manifest in manifests]
    return np.unique(np.concatenate(ids)) if ids else np.empty(0, "S16")


def _remove_unnamed_packs(store: DatasetStore, index: PackIndex, done: Collected, dry_run: bool) -> int:
    """A pack without an index is what a crash between the two left."""
    removed = 0
    for path in store.packs.glob("*.pack"):
        if path.stem not in set(index.names):
            removed += path.stat().st_size
            done.packs += 1
            if not dry_run:
                path.unlink()
    return removed


def _collect_pack(
    store: DatasetStore,
    index: PackIndex,
    number: int,
    name: str,
    live: npt.NDArray[np.bytes_],
    done: Collected,
    dry_run: bool,
) -> None:
    members = np.flatnonzero(index.pack_of == number)
    rows = index.rows[members]
    alive = np.isin(sortable(rows["id"]), live)
    total, living = int(rows["stored"].sum(dtype=np.int64)), int(rows["stored"][alive].sum(dtype=np.int64))
    if living >= total * _ALIVE_ENOUGH and living:
        return
    if living and not dry_run:
        compressed = bool((rows["stored"] != rows["length"]).any())
        with PackWriter(store.packs, store.temporary, compressed) as writer:
            for where in index.locations(members[alive]):
                writer.add(where.id, partial(read_chunk, where))
            writer.finish()
    if living:
        done.rewritten_packs += 1
    else:
        done.packs += 1
    done.bytes += total - living
    if not dry_run:
        # The index first: a pack without an index is garbage, an index without its pack is damage.
        (store.packs / f"{name}.index").unlink()
        (store.packs / f"{name}.pack").unlink()


@dataclass(slots=True)
class Verified:
    """What a full check found."""

    versions: int = 0
    chunks: int = 0
    bytes: int = 0
    #: Sentences, each naming a version and what it lost.
    damage: list[str] = field(default_factory=list)


def verify(store: DatasetStore, progress: Callable[[int], object] = lambda _: None) -> Verified:
    """Re-read every chunk that a version names."""
    found = Verified()
    if not store.folder.exists():
        return found
    index = store.index()
    good: set[bytes] = set()
    for name in store.names():
        for version in store.versions(name):
            found.versions += 1
            try:
                _verify_version(store, f"{name}@{version}", index, good, found, progress)
            except StoreDamaged as damage:
                found.damage.append(f"{name}@{version}: {damage.what}: {damage.why}")
    return found


def _verify_version(
    store: DatasetStore,
    name: str,
    index: PackIndex,
    good: set[bytes],
    found: Verified,
    progress: Callable[[int], object],
) -> None:
    for where in index.locate(store.manifest(name).rows["id"]):
        if where.id in good:
            continue
        read_chunk(where)
        good.add(where.id)
        found.chunks += 1
        found.bytes += where.length
        progress(where.length)
