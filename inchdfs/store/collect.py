"""Remove what no version needs, join what lies in many small pieces, and check what every version needs.

Contract: a chunk that a manifest names is never removed; nothing is removed while a put is running.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incoop.base.own_files import NotAFile, read_regular, remove
from incoop.inchdfs.errors import DatasetStoreTooNew, StoreDamaged
from incoop.inchdfs.store.dataset_store import DatasetStore, all_manifests
from incoop.inchdfs.store.pack_writer import PackWriter
from incoop.inchdfs.store.packs import Location, PackIndex, read_chunk, sortable
from incoop.inchdfs.store.stretch_file import stretch_path

#: A pack is written anew without its dead chunks when less than this share of it is alive: each byte is copied at
#: most about twice over its life, and dead bytes never exceed the living.
_ALIVE_ENOUGH = 0.5

#: Packs smaller than this are joined when there are so many of them, into packs of about so many bytes. An ingest makes
#: one with every batch; of bytes that come in packs of 100 KiB each is copied twice on the way to a large one.
_SMALL_PACK = 8 << 20
_JOINED_FROM = 16
_JOINED_PACK = 256 << 20


class _Fate(enum.Enum):
    """What a collection does with a pack."""

    STAYS = enum.auto()
    SMALL = enum.auto()
    REWRITTEN = enum.auto()


@dataclass(slots=True)
class CollectedChunks:
    """What a collection removed, or would remove."""

    temporary_files: int = 0
    #: Indexes of inputs of which no file exists any more.
    indexes: int = 0
    packs: int = 0
    rewritten_packs: int = 0
    bytes: int = 0


def collect(store: DatasetStore, dry_run: bool = False) -> CollectedChunks:
    """Remove interrupted puts and chunks that no version names."""
    done = CollectedChunks()
    if not store.folder.exists():
        return done
    with store.collecting():
        _remove_what_interrupted_writers_left(store, done, dry_run)
        index = store.index()
        _remove_indexes_of_vanished_inputs(store, done, dry_run)
        _remove_packs_without_index(store, done, dry_run)
        live = _live(store)
        small: dict[int, npt.NDArray[np.intp]] = {}
        for number in range(len(index.names)):
            fate, alive = _collect_pack(index, number, live, done)
            if fate is _Fate.SMALL:
                small[number] = alive
            elif fate is _Fate.REWRITTEN and not dry_run:
                _replace_packs(store, index, {number: alive})
        _join(store, index, small, done, dry_run)
    return done


def _join(
    store: DatasetStore, index: PackIndex, small: dict[int, npt.NDArray[np.intp]], done: CollectedChunks, dry_run: bool
) -> None:
    """Make few packs of many small ones: every look at the store reads the index of each."""
    while len(small) >= _JOINED_FROM:
        together: dict[int, npt.NDArray[np.intp]] = {}
        room = _JOINED_PACK
        while small and room > 0:
            number, alive = small.popitem()
            together[number] = alive
            room -= int(index.rows["stored"][alive].sum(dtype=np.int64))
        done.rewritten_packs += len(together)
        if not dry_run:
            _replace_packs(store, index, together)


def _remove_what_interrupted_writers_left(store: DatasetStore, done: CollectedChunks, dry_run: bool) -> None:
    for path in store.leftovers():
        done.temporary_files += 1
        done.bytes += path.lstat().st_size
        if not dry_run:
            remove(path)


def _remove_indexes_of_vanished_inputs(store: DatasetStore, done: CollectedChunks, dry_run: bool) -> None:
    for path, manifest in store.input_manifests().items():
        if not any(Path(entry.name).exists() for entry in manifest.files):
            done.bytes += path.lstat().st_size
            done.indexes += 1
            if not dry_run:
                remove(path)
                remove(stretch_path(path))
    for path in store.inputs.glob("*.columns"):  # of files whose columns are read by themselves
        if not any(Path(name).exists() for name in _indexed(path)):
            done.bytes += path.lstat().st_size
            done.indexes += 1
            if not dry_run:
                remove(path)


def _indexed(path: Path) -> list[str]:
    """The files that an index of columns names. It is a cache: one that cannot be read is as good as none."""
    with suppress(OSError, NotAFile, ValueError, RecursionError, LookupError, TypeError):
        return [str(row[0]) for row in json.loads(read_regular(path))["files"]]
    return []


def _live(store: DatasetStore) -> npt.NDArray[np.bytes_]:
    manifests = [manifest for _, manifest in all_manifests(store)] + list(store.input_manifests().values())
    ids = [sortable(manifest.rows["id"]) for manifest in manifests]
    return np.unique(np.concatenate(ids)) if ids else np.empty(0, "S16")


def _remove_packs_without_index(store: DatasetStore, done: CollectedChunks, dry_run: bool) -> None:
    """A pack without an index is what a crash between the two left; one with a damaged index is not touched."""
    for path in store.packs.glob("*.pack"):
        if not path.with_suffix(".index").exists():
            done.bytes += path.lstat().st_size
            done.packs += 1
            if not dry_run:
                remove(path)


def _collect_pack(
    index: PackIndex, number: int, live: npt.NDArray[np.bytes_], done: CollectedChunks
) -> tuple[_Fate, npt.NDArray[np.intp]]:
    """What becomes of a pack, and its chunks that are alive."""
    members = np.flatnonzero(index.pack_of == number)
    rows = index.rows[members]
    alive = np.isin(sortable(rows["id"]), live)
    total, living = int(rows["stored"].sum(dtype=np.int64)), int(rows["stored"][alive].sum(dtype=np.int64))
    if living >= total * _ALIVE_ENOUGH and living:
        return (_Fate.SMALL if living < _SMALL_PACK else _Fate.STAYS), members[alive]
    if living:
        done.rewritten_packs += 1
    else:
        done.packs += 1
    done.bytes += total - living
    return _Fate.REWRITTEN, members[alive]


def _replace_packs(store: DatasetStore, index: PackIndex, old: dict[int, npt.NDArray[np.intp]]) -> None:
    """Write the kept chunks of some packs to a new one, if there are any, and remove the packs."""
    kept = np.concatenate(list(old.values()))
    compressed = bool((index.rows["stored"][kept] != index.rows["length"][kept]).any())
    written: set[bytes] = set()
    with PackWriter(store.packs, store.temporary, compressed) as writer:
        for where in index.locations(kept):
            if where.id not in written:  # two puts at once may have stored it twice
                writer.add(where.id, read_chunk(where))
                written.add(where.id)
        writer.finish()
    for number in old:
        name = index.names[number]
        # The index first: a pack without an index is garbage, an index without its pack is damage.
        remove(store.packs / f"{name}.index")
        remove(store.packs / f"{name}.pack")


@dataclass(slots=True)
class VerifiedChunks:
    """What a full check found."""

    versions: int = 0
    #: Stored chunks that are what their ids promise, and their bytes.
    chunks: int = 0
    bytes: int = 0
    damaged_chunks: int = 0
    #: Sentences, each naming a version and what it lost.
    damage: list[str] = field(default_factory=list)


def verify(
    store: DatasetStore, progress: Callable[[int], object] = lambda _: None, drop: bool = False, repair: bool = False
) -> VerifiedChunks:
    """Re-read every stored chunk, and say which versions lost some.

    With `drop`, damaged chunks are removed from the store, so that the next put of their source writes them again. With
    `repair`, manifests that cannot be read are set aside, or signed again.
    """
    found = VerifiedChunks()
    if not store.folder.exists():
        return found
    if repair:
        found.damage += store.repair()
    index = store.index()
    sound = np.array([_is_sound(where, found, progress) for where in index.locations(np.arange(len(index.rows)))], bool)
    held = np.unique(sortable(index.rows["id"][sound]))
    for name in store.names():
        for version in store.versions(name):
            found.versions += 1
            try:
                ids = store.manifest(f"{name}@{version}").rows["id"]
                lost = int((~np.isin(sortable(ids), held)).sum())
                if lost:
                    found.damage.append(f"{name}@{version}: {lost} of {len(ids)} chunks are lost")
            except StoreDamaged as damage:
                found.damage.append(f"{name}@{version}: {damage.what}: {damage.why}")
            except DatasetStoreTooNew as damage:
                found.damage.append(f"{name}@{version}: {damage}")
    if drop and found.damaged_chunks:
        with store.collecting():
            for number in np.unique(index.pack_of[~sound]):
                kept = np.flatnonzero((index.pack_of == number) & sound)
                _replace_packs(store, index, {int(number): kept})
    return found


def _is_sound(where: Location, found: VerifiedChunks, progress: Callable[[int], object]) -> bool:
    try:
        if not Path(where.path).exists():  # looked at here, because reading would search for it in every other pack
            raise StoreDamaged(where.path, "the pack is gone")
        read_chunk(where)
    except StoreDamaged:
        found.damaged_chunks += 1
        return False
    found.chunks += 1
    found.bytes += where.length
    progress(where.length)
    return True
