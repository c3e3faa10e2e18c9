"""Garbage collection: mark from kept generations, sweep the rest.

Contract: an entry goes when no kept generation's live set has it; a pack goes when no kept entry or generation names
it. Nothing goes that a living session wrote, pinned, or may have looked up (see `incoop.memo.trash`). Killed at any
point, a collection leaves a store that is right and that the next one finishes. One collection runs at a time.

Steps: (1) who lives, and since when; (2) read entries and generations; (3) choose generations; (4) drop the others;
(5) move unmarked entries out of sight and close the trash; (6) look again: what was committed or pinned meanwhile is
marked, and brought back; (7) drop trash that nobody can need; (8) delete unmarked packs and old temporary files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incoop.base.ids import split_ids
from incoop.base.stage_path import StagePath
from incoop.memo.census import (
    Census,
    Progress,
    id_heads,
    no_progress,
    packs_named,
    read_heads,
    scan_entries,
    take_census,
)
from incoop.memo.errors import CollectionRunning
from incoop.memo.files import CLOCK_SLACK, FolderFiles, now_at
from incoop.memo.generations import GenerationHead, encode_head, field_of
from incoop.memo.link import Link
from incoop.memo.retention import Candidate, Keep, choose
from incoop.memo.rosters import STAGE, Roster, stages_of, without_retired
from incoop.memo.session_record import SessionRecord
from incoop.memo.session_registry import living
from incoop.memo.store import MemoStore
from incoop.memo.trash import close_trash, drop_trash, restore, take_out, trash_numbers

#: Seconds after which the lock of a collection that died on another machine is taken over.
LOCK_SECONDS = 3600


@dataclass(slots=True)
class Collected:
    """What a collection did, or would do."""

    dry_run: bool
    generations_kept: int = 0
    generations_dropped: int = 0
    entries_kept: int = 0
    entries_dropped: int = 0
    #: Entries out of sight that running sessions may still reuse; a later collection frees them.
    entries_waiting: int = 0
    packs_kept: int = 0
    packs_dropped: int = 0
    bytes_kept: int = 0
    bytes_freed: int = 0
    temporary_files: int = 0
    #: Sessions that were running, as `host:pid`.
    sessions: list[str] = field(default_factory=list)


def collect(
    store: MemoStore, keep: Keep | None = None, *, dry_run: bool = False, progress: Progress = no_progress
) -> Collected:
    """Collect garbage; with `dry_run`, only say what would go."""
    collection = _Collection(store, keep or Keep(), dry_run, progress)
    link, key = store.session.link, store.keys.gc_lock
    if dry_run:
        return collection.run()
    holder = link.strict(lambda one: _take_lock(one, store))
    if holder != store.session.id:
        raise CollectionRunning(str(store.session.home), holder)
    try:
        return collection.run()
    finally:
        link.attempt("the collection's lock", lambda one: one.client.delete(key), None)


def _take_lock(link: Link, store: MemoStore) -> str:
    """Try to become the one collection; the session that is."""
    key, own = store.keys.gc_lock, store.session.id
    if link.client.set(key, own, nx=True, ex=LOCK_SECONDS):
        return own
    holder = (link.client.get(key) or b"").decode()
    if link.client.ttl(key) < 0:  # no collection takes the lock for good
        link.client.expire(key, LOCK_SECONDS)
    # On a shared server the holder may be on a machine whose locks are not seen here: then its time decides.
    if not store.session.private or holder in store.session.locked_sessions():
        return holder
    link.client.set(key, own, ex=LOCK_SECONDS)
    return own


class _Collection:
    def __init__(self, store: MemoStore, keep: Keep, dry_run: bool, progress: Progress) -> None:
        self.store, self.keep, self.dry_run, self.progress = store, keep, dry_run, progress
        self.link, self.keys, self.blobs = store.session.link, store.keys, store.blobs
        self.signer = store.session.signer
        self.report = Collected(dry_run)

    def run(self) -> Collected:
        began = now_at(self.blobs.files)
        # step (1)
        sessions = self._sessions()
        running = self._running(sessions)
        since = min((one.since for one in running), default=None)
        # Packs written since the collection began may belong to a session that came and went meanwhile.
        young = min([began, *(one.entered for one in running)]) - self._slack()
        self.report.sessions = [f"{one.host}:{one.pid}" for one in running]
        # step (2)
        census = self.link.strict(lambda link: take_census(link, self.keys, self.signer, self.progress))
        sizes = {pack.id: pack.size for pack in self.blobs.scan()}
        # step (3)
        held = _held(census, since)
        kept, live_mask = self._choose(census, sizes, sessions, held)
        keep_mask = live_mask | held
        names = {(head.job, head.number) for head in kept}
        dropped_heads = [head for head in census.heads if (head.job, head.number) not in names]
        doomed = [census.ids[i] for i in np.flatnonzero(~keep_mask)]
        damaged = {task: epoch for task, epoch in census.damaged.items() if since is None or epoch < since}
        self.report.generations_kept, self.report.generations_dropped = len(kept), len(dropped_heads)
        self.report.entries_kept, self.report.entries_dropped = len(census.ids) - len(doomed), len(doomed)
        marked = self._packs_of(kept) | _named(census, keep_mask)
        self.progress("generations", len(census.heads))
        if not self.dry_run:
            # step (4)
            self.link.strict(lambda link: self._drop_heads(link, dropped_heads, census))
            # step (5)
            seen = {**dict(zip(census.ids, census.epochs, strict=True)), **damaged}
            self.link.strict(lambda link: take_out(link, self.keys, [*doomed, *damaged], seen, to_trash=True))
            self.link.strict(lambda link: close_trash(link, self.keys))
            # step (6)
            marked |= self._look_again(census.heads, dropped_heads)
        elif since is not None:
            marked |= set(census.packs)
            self.report.entries_waiting += len(doomed)
        # step (7)
        marked |= self.link.strict(lambda link: self._empty_trash(link))
        # step (8)
        self._sweep(marked, young)
        return self.report

    def _slack(self) -> float:
        """Seconds by which the clock that stamps packs may differ from the one that stamps sessions."""
        files, home = self.blobs.files, self.store.session.home
        if isinstance(files, FolderFiles) and Path(files.where).stat().st_dev == home.stat().st_dev:
            return 0.0
        return CLOCK_SLACK

    def _sessions(self) -> list[SessionRecord]:
        locked = self.store.session.locked_sessions
        return self.link.strict(lambda link: living(link, self.keys, locked, tidy=not self.dry_run))

    def _running(self, sessions: Iterable[SessionRecord]) -> list[SessionRecord]:
        """Sessions that may be using anything. Our own asked for this, so it counts only while it runs a generation."""
        return [one for one in sessions if one.id != self.store.session.id or one.active]

    def _choose(
        self, census: Census, sizes: dict[bytes, int], sessions: Iterable[SessionRecord], held: npt.NDArray[np.bool_]
    ) -> tuple[list[GenerationHead], npt.NDArray[np.bool_]]:
        pins = {pin for one in sessions for pin in one.pins}
        by_name = {(head.job, head.number): head for head in census.heads}
        lives: dict[tuple[str, int], npt.NDArray[np.bool_]] = {}
        heads_of_ids = census.heads_of_ids()
        entry_sizes = np.array(census.sizes, dtype=np.int64)
        counted, counted_packs = held.copy(), _named(census, held)

        def live_of(name: tuple[str, int]) -> npt.NDArray[np.bool_]:
            if name not in lives:
                live = by_name[name].part(1, self.blobs) or b""
                lives[name] = np.isin(heads_of_ids, id_heads(live))
            return lives[name]

        def measure(one: Candidate) -> tuple[int, int]:
            name = (one.job, one.number)
            fresh = live_of(name) & ~counted
            packs = (_named(census, fresh) | self._packs_of([by_name[name]])) - counted_packs
            np.logical_or(counted, fresh, out=counted)
            counted_packs.update(packs)
            return int(entry_sizes[fresh].sum()) + sum(sizes.get(pack, 0) for pack in packs), int(fresh.sum())

        base = (int(entry_sizes[held].sum()) + sum(sizes.get(pack, 0) for pack in counted_packs), int(held.sum()))
        candidates = [Candidate(*name, head.when, name in pins) for name, head in by_name.items()]
        candidates = without_retired(candidates, self._rosters(census.heads))
        chosen = choose(candidates, self.keep, time.time(), measure, base)
        mask = np.zeros(len(census.ids), dtype=np.bool_)
        for one in chosen:
            mask |= live_of((one.job, one.number))
        return [by_name[(one.job, one.number)] for one in chosen], mask

    def _rosters(self, heads: Iterable[GenerationHead]) -> dict[str, Roster]:
        """By job, the last of its rosters that is whole."""
        found: dict[str, Roster] = {}
        for head in sorted(heads, key=lambda head: head.number):
            path = StagePath.of_key(head.job)
            if path.stage == STAGE and (stages := stages_of(head.part(0, self.blobs) or b"")) is not None:
                found[path.job] = Roster(stages, head.when)
        return found

    def _packs_of(self, heads: Iterable[GenerationHead]) -> set[bytes]:
        packs = set()
        for head in heads:
            if head.pack is not None:
                packs.add(head.pack)
            packs.update(split_ids(head.part(2, self.blobs) or b""))
        return packs

    def _drop_heads(self, link: Link, heads: Iterable[GenerationHead], census: Census) -> None:
        pipe = link.client.pipeline(transaction=True)
        for head in heads:
            pipe.hdel(self.keys.generations, field_of(head.job, head.number))
            pipe.zrem(self.keys.numbers_of(head.job), head.number)
        for name in census.damaged_generations:
            pipe.hdel(self.keys.generations, name)
            pipe.zrem(self.keys.numbers_of(name[8:].decode(errors="replace")), int.from_bytes(name[:8], "big"))
        pipe.execute()

    def _look_again(self, known: list[GenerationHead], dropped: list[GenerationHead]) -> set[bytes]:
        """Packs of what was committed or pinned since step (2); its entries are brought back into sight."""
        names = {(head.job, head.number) for head in known}

        def call(link: Link) -> set[bytes]:
            now, _ = read_heads(link, self.keys, self.signer)
            pins = {pin for one in self._sessions() for pin in one.pins}
            repinned = [head for head in dropped if (head.job, head.number) in pins]
            for head in repinned:
                pipe = link.client.pipeline(transaction=True)
                pipe.hset(self.keys.generations, field_of(head.job, head.number), encode_head(head, self.signer))
                pipe.zadd(self.keys.numbers_of(head.job), {str(head.number): head.number})
                pipe.execute()
            fresh = [head for head in now if (head.job, head.number) not in names] + repinned
            packs = self._packs_of(fresh)
            for head in fresh:
                live = head.part(1, self.blobs) or b""
                restore(link, self.keys, live)
                packs |= packs_named(link, self.keys, self.signer, split_ids(live))
            return packs

        return self.link.strict(call)

    def _empty_trash(self, link: Link) -> set[bytes]:
        """Drop what no living session can have seen; the packs of the rest."""
        since = min((one.since for one in self._running(self._sessions())), default=None)
        packs: set[bytes] = set()
        for number in trash_numbers(link, self.keys):
            if since is None or since > number:
                if not self.dry_run:
                    drop_trash(link, self.keys, number)
                continue
            for _, _, entries in scan_entries(link, self.keys.trash(number), self.signer):
                self.report.entries_waiting += len(entries)
                for entry in entries:
                    packs.update(entry.packs() if entry is not None else ())
        return packs

    def _sweep(self, marked: set[bytes], limit: float) -> None:
        """Delete packs that are not marked and were not written since `limit`."""
        for pack in self.blobs.scan():
            stays = pack.id in marked or pack.modified >= limit
            if not stays and not self.dry_run:
                stays = not self.blobs.delete(pack.id, unless_since=limit)
            if stays:
                self.report.packs_kept += 1
                self.report.bytes_kept += pack.size
            else:
                self.report.packs_dropped += 1
                self.report.bytes_freed += pack.size
            self.progress("packs", self.report.packs_kept + self.report.packs_dropped)
        for item in self.blobs.files.scan_temporary():
            if item.modified < limit:
                self.report.temporary_files += 1
                if not self.dry_run:
                    self.blobs.files.discard(item.name)


def _held(census: Census, since: int | None) -> npt.NDArray[np.bool_]:
    """Entries that living sessions wrote, or that are newer than the oldest of them."""
    if since is None:
        return np.zeros(len(census.ids), dtype=np.bool_)
    return np.array(census.epochs, dtype=np.int64) >= since


def _named(census: Census, mask: npt.NDArray[np.bool_]) -> set[bytes]:
    """Packs of the entries in the mask."""
    names = list(census.packs)
    return {names[number] for i in np.flatnonzero(mask) for number in census.packs_of[i]}
