"""The memo store, as the engine uses it.

Contract: `lookup` and `store` are one round trip however many ids they get, and never raise because of Redis: what
cannot be read or is not trusted is a miss, what cannot be written is dropped, and `events` says so. A generation is
committed atomically; reused entries are not written again, so an update costs what it changed.

Example:
    with MemoStore.open("incoop-store") as store:
        number = store.begin_generation("word count")
        (entry,) = store.lookup([task_id])
        if entry is None:
            pack = store.blobs.write([result := compute()])
            store.store({task_id: MemoEntry(pack, length=len(result), digest=block_hash(result))})
        store.commit_generation("word count", number, record=b"", live=[task_id])
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

from incoop.base.ids import ID_BYTES
from incoop.base.paths import local_path
from incoop.base.stage_path import StagePath
from incoop.memo.address import REPLY_SECONDS
from incoop.memo.blobs import BlobStore, parse_compression
from incoop.memo.delivery_notes import DeliveryNotes
from incoop.memo.entry import MemoEntry, collector_paused, decode_entries, encode_entries
from incoop.memo.errors import MemoUnusable, PackUnreadable, PackWriteFailed
from incoop.memo.events import DidDropWrite, DidRejectEntry, DidRejectGeneration, DidRejectPack, EventLog, Sink
from incoop.memo.generations import Generation, decode_head, encode_head, field_of, make_head, packed_ids
from incoop.memo.link import Link
from incoop.memo.mending import number
from incoop.memo.rosters import record_of, roster_path
from incoop.memo.session_registry import Heartbeat, Registration
from incoop.memo.store_session import StoreRequest, StoreSession
from incoop.memo.trash import restore
from incoop.memo.wire import FIELDS_PER_COMMAND
from incoop.memo.worker import CACHE_BYTES, WorkerConfig

#: Damaged records are passed over up to this many generations back; then the job starts afresh.
GENERATIONS_TRIED = 5


class MemoStore:
    """A session in a memo store. Use `MemoStore.open`, and `close` (or `with`)."""

    def __init__(self, session: StoreSession, worker: WorkerConfig, *, maintenance: bool) -> None:
        self.session = session
        self.events = session.events
        self.keys, self._link, self._signer = session.keys, session.link, session.signer
        self._worker = worker
        self.blobs: BlobStore = worker.open(
            events=self.events, cached=not maintenance
        )  # what is looked after is the store
        #: What the last run of each job gave.
        self.delivered = DeliveryNotes(session.home, session.signer)
        #: Lookups since the last commit.
        self.hits = self.misses = 0
        self._closed = False
        self.registration: Registration | None = None
        self._heartbeat: Heartbeat | None = None
        if not maintenance:
            self.registration = Registration(self._link, self.keys, session.id, session.entered)
            self.registration.enter()
            if not session.private:
                self._heartbeat = Heartbeat(self._link, self.keys.alive(session.id))
        atexit.register(self.close)

    @classmethod
    def open(
        cls,
        folder: str | PathLike[str],
        memo: str | None = None,
        *,
        secret: bytes | None = None,
        blobs: str | None = None,
        blob_options: Mapping[str, Any] | None = None,
        compression: str = "none",
        fsync: bool = False,
        cache: str | PathLike[str] | None = None,
        cache_bytes: int = CACHE_BYTES,
        create: bool = True,
        maintenance: bool = False,
        on_event: Sink | None = None,
        reply_seconds: float = REPLY_SECONDS,
        repair: bool = False,
    ) -> MemoStore:
        """Open (or make) the store in a folder.

        `memo` is the address of a Redis server; None starts a private one, shared by this machine's sessions.
        `secret` signs entries and packs; None uses the store's own secret file. `blobs` puts packs on another folder
        or fsspec filesystem. `cache` is a node-local folder in front of it. `maintenance` sessions do not reuse
        results, so the collector need not wait for them. `repair` begins anew where what the folder or Redis say of the
        store is damaged so that it would be refused.
        """
        parse_compression(compression)
        # Tasks open the packs from folders of their own.
        path = Path(local_path(folder)).absolute()
        if blobs is not None and "://" not in blobs:
            blobs = str(Path(local_path(blobs)).absolute())
        asked = StoreRequest(path, memo, secret, blobs, create, reply_seconds, repair)
        with _using(path):
            session = StoreSession(asked, EventLog(on_event))
        try:
            root = session.identity.blobs
            place = str(session.home / "packs") if root is None else f"{root.rstrip('/')}/{session.identity.id}"
            options = tuple((blob_options or {}).items())
            worker = WorkerConfig(
                place, session.signer.key, compression, fsync, str(cache) if cache else None, cache_bytes, options
            )
            with _using(path):
                return cls(session, worker, maintenance=maintenance)
        except BaseException:
            session.leave()
            raise

    def lookup(self, task_ids: Sequence[bytes], *, probe_packs: bool = False) -> list[MemoEntry | None]:
        """The entry of each task, or None. One round trip.

        `probe_packs` also asks once for each pack named whether it is there and long enough, so that a plan is not
        made on results that are gone; its bytes are still verified when they are read.
        """
        ids = _checked(task_ids)
        if not ids:
            return []
        rejected: list[tuple[bytes, str]] = []
        # Counted on the stored bytes: `count(None)` on entries would call every entry's __eq__.
        absent = len(ids)

        def call(link: Link) -> list[MemoEntry | None]:
            found: list[MemoEntry | None] = []
            nonlocal absent
            rejected.clear()
            absent = 0

            def receive(start: int, values: list[bytes | None]) -> None:
                nonlocal absent
                absent += values.count(None)
                found.extend(decode_entries(ids[start : start + len(values)], values, self._signer, rejected))

            link.wire.hmget(self.keys.entries, ids, receive)
            return found

        misses: list[MemoEntry | None] = [None] * len(ids)
        with collector_paused():
            found = self._link.attempt("a lookup", call, misses)
        for task_id, reason in rejected:
            self.events.emit(DidRejectEntry(task_id.hex(), reason))
        missed = absent + len(rejected) if found is not misses else len(ids)
        if probe_packs:
            found = self._without_lost_packs(found)
            missed = sum(entry is None for entry in found)
        self.hits += len(ids) - missed
        self.misses += missed
        return found

    def store(self, entries: Mapping[bytes, MemoEntry]) -> None:
        """Write entries whose packs are already written. One round trip."""
        ids = _checked(list(entries))
        if not ids:
            return
        values = list(entries.values())
        epoch = self.registration.record.since if self.registration is not None else 0

        def chunks() -> Iterator[tuple[list[bytes], list[bytes]]]:
            for at in range(0, len(ids), FIELDS_PER_COMMAND):
                ends = at + FIELDS_PER_COMMAND
                # zip, not a list of pairs: 100,000 new tuples would wake the garbage collector.
                chunk = zip(ids[at:ends], values[at:ends], strict=True)
                yield ids[at:ends], encode_entries(chunk, self._signer, epoch)

        self._link.attempt(f"{len(ids)} entries", lambda link: link.wire.hset(self.keys.entries, chunks()), None)

    def begin_generation(self, job: str) -> int:
        """Begin a run of the job: its number, which no other run gets. 0 when Redis is lost: nothing is recorded.

        Here as below, `job` is the key of a `StagePath`.
        """
        self._link.renew()

        def call(link: Link) -> tuple[int, int, list[bytes]]:
            pipe = link.client.pipeline(transaction=True)
            pipe.hincrby(self.keys.numbers, job, 1)
            pipe.incr(self.keys.seq)
            pipe.zrevrange(self.keys.numbers_of(job), 0, 0)
            begun, seq, last = pipe.execute()
            for counted in (b"%d" % begun, b"%d" % seq, *last):
                number(counted)  # or it is mended
            if last and int(last[0]) >= begun:  # Redis forgot the count, and a run that went on committed since
                begun = link.client.hincrby(self.keys.numbers, job, int(last[0]) - begun + 1)
            return begun, seq, last

        nothing: tuple[int, int, list[bytes]] = (0, 0, [])
        begun, seq, last = self._link.attempt("a generation", call, nothing)
        if begun and self.registration is not None:
            self.registration.begin(job, begun, seq, int(last[0]) if last else None)
        self.hits = self.misses = 0
        return begun

    def commit_generation(
        self,
        job: str,
        generation: int,
        record: bytes,
        live: bytes | Iterable[bytes],
        packs: bytes | Iterable[bytes] = b"",
    ) -> bool:
        """Make the run the job's newest generation, all or nothing; says whether it is recorded.

        `live` are the task ids that the result rests on, reused and new; `packs` are packs needed beyond those that
        the live entries name. Until this returns, the previous generation stands.
        """
        if not generation:
            return False
        ids, what = packed_ids(live), f"generation {generation} of {str(StagePath.of_key(job))!r}"
        try:
            head = make_head(job, generation, time.time(), (bytes(record), ids, packed_ids(packs)), self.blobs)
        except PackWriteFailed as error:
            self.events.emit(DidDropWrite(what, str(error)))
            return False
        value = encode_head(head, self._signer)

        def call(link: Link) -> tuple[int, bool]:
            pipe = link.client.pipeline(transaction=True)
            pipe.hset(self.keys.generations, field_of(job, generation), value)
            pipe.zadd(self.keys.numbers_of(job), {str(generation): generation})
            pipe.sadd(self.keys.jobs, job)
            for name, count in (("runs", 1), ("hits", self.hits), ("misses", self.misses)):
                pipe.hincrby(self.keys.counters_of(job), name, count)
            pipe.get(self.keys.last_gc)
            pipe.exists(self.keys.trash_open)
            *_, last, is_open = pipe.execute()
            return number(last), bool(is_open)

        collected, under_way = self._link.attempt(what, call, (-1, False))
        self.hits = self.misses = 0
        if self.registration is not None:
            if under_way or collected > self.registration.record.since:
                # A collection ran meanwhile, to its end or not, and may have taken entries out of sight that this
                # generation reuses.
                self._link.attempt("restored entries", lambda link: restore(link, self.keys, ids), None)
            self.registration.end(job, generation, pin=collected >= 0)
        return collected >= 0

    def abort_generation(self, job: str, generation: int) -> None:
        """Give the run up. What it stored stays until the next collection, for a retry to reuse."""
        if generation and self.registration is not None:
            self.registration.end(job, generation, pin=False)

    def last_generation(self, job: str) -> Generation | None:
        """The job's newest generation whose record is whole; None when there is none."""

        def call(link: Link) -> list[tuple[bytes, bytes | None]]:
            found = link.client.zrevrange(self.keys.numbers_of(job), 0, GENERATIONS_TRIED - 1)
            fields = [field_of(job, number(each)) for each in found]
            values = link.client.hmget(self.keys.generations, fields) if fields else []
            return list(zip(fields, values, strict=True))

        none: list[tuple[bytes, bytes | None]] = []
        for field, value in self._link.attempt("the last generation", call, none):
            head = decode_head(field, value, self._signer)
            record = head.part(0, self.blobs) if head is not None else None
            if head is not None and record is not None:
                return Generation(job, head.number, record, head.when, head.live_count)
            refused = int.from_bytes(field[:8], "big")
            self.events.emit(DidRejectGeneration(job, refused, "its keyed checksum or its record is damaged"))
        return None

    def note_stages(self, job: str, stages: Iterable[str]) -> None:
        """These are all the stages that a job has now: a collection drops what others left before."""
        key, record = roster_path(job).key, record_of(stages)
        last = self.last_generation(key)
        if last is None or last.record != record:
            self.commit_generation(key, self.begin_generation(key), record, b"")

    def losses(self) -> list[str]:
        """What was lost, refused or not trusted since this was asked last; but for packs, which the engine reports."""
        return [str(event) for event in self.events.untold() if not isinstance(event, DidRejectPack)]

    def worker_config(self) -> WorkerConfig:
        """What a worker on an executor needs to open the blob store."""
        return self._worker

    def close(self) -> None:
        """Leave the store; the last session stops the private server. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self.session.ours:
            if self._heartbeat is not None:
                self._heartbeat.stop()
            if self.registration is not None:
                self.registration.leave()
        self.session.leave()

    def __enter__(self) -> MemoStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _without_lost_packs(self, found: list[MemoEntry | None]) -> list[MemoEntry | None]:
        sizes: dict[bytes, int] = {}
        for pack in dict.fromkeys(pack for entry in found if entry is not None for pack in entry.packs()):
            try:
                sizes[pack] = self.blobs.size(pack)
            except PackUnreadable as error:
                sizes[pack] = -1
                self.events.emit(DidRejectPack(pack.hex(), error.reason))

        def usable(entry: MemoEntry) -> bool:
            if any(sizes[pack] < 0 for pack in entry.packs()):
                return False
            return entry.pack is None or entry.offset + entry.length <= sizes[entry.pack]

        return [entry if entry is not None and usable(entry) else None for entry in found]


@contextmanager
def _using(folder: Path) -> Iterator[None]:
    """Turn what the operating system refuses into an error that names the store and says what to do."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null character in a path
        why = getattr(error, "strerror", None) or str(error)
        raise MemoUnusable(str(folder), why) from error


def _checked(task_ids: Sequence[bytes]) -> list[bytes]:
    """The ids as a list; a wrong length would shift every later id on the wire."""
    ids = task_ids if isinstance(task_ids, list) else list(task_ids)
    if not {*map(len, ids)} <= {ID_BYTES}:
        raise ValueError(f"task ids are {ID_BYTES} bytes")
    return ids
