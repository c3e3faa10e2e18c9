"""Who is using the store, and what each may still need.

Contract: a session's record says since when (in the store's sequence) it may have looked things up, and which
generations it pins. Whether it lives is known from its locked file in the folder, which `kill -9` releases, and, on a
shared server, from a key that it keeps fresh: a session elsewhere counts as alive while either says so.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import replace

import redis

from incoop.memo.link import Link
from incoop.memo.mending import number
from incoop.memo.redis_keys import RedisKeys
from incoop.memo.session_record import SessionRecord, decode_session

#: Seconds for which a session on a shared server is believed to live after its last sign of life.
ALIVE_SECONDS = 60

#: Seconds between signs of life: two may be lost.
BEAT_SECONDS = 20.0


class Registration:
    """This session's record in Redis, and its changes."""

    def __init__(self, link: Link, keys: RedisKeys, session: str, entered: float) -> None:
        self._link, self._keys = link, keys
        self._lock = threading.Lock()
        # Position 0 protects everything until the real one is known.
        self.record = SessionRecord(session, socket.gethostname(), os.getpid(), 0, entered)

    def enter(self) -> None:
        """Register, then take a place in the sequence: in this order, so no collection can fall between."""

        def call(link: Link) -> int:
            pipe = link.client.pipeline(transaction=True)
            pipe.hset(self._keys.sessions, self.record.id, self.record.encode())
            pipe.incr(self._keys.seq)
            return number(b"%d" % pipe.execute()[1])

        since = self._link.strict(call)
        self.record = replace(self.record, since=since)
        self._link.strict(lambda link: self._save(link))

    def begin(self, job: str, number: int, seq: int, last: int | None) -> None:
        """A generation begins: pin what it may reuse; nothing older is needed by the job's earlier runs here."""
        with self._lock:
            record = self.record
            kept = tuple(pin for pin in record.pins if pin[0] != job)
            reused = ((job, last),) if last is not None else ()
            since = record.since if record.active else seq
            self.record = replace(record, since=since, pins=kept + reused, active=(*record.active, (job, number)))
        self._link.attempt("a session record", self._save, None)

    def end(self, job: str, number: int, *, pin: bool) -> None:
        """A generation was committed (its result stays readable: pinned) or given up."""
        with self._lock:
            record = self.record
            pins = (*record.pins, (job, number)) if pin else record.pins
            self.record = replace(record, pins=pins, active=tuple(one for one in record.active if one != (job, number)))
        self._link.attempt("a session record", self._save, None)

    def leave(self) -> None:
        def call(link: Link) -> None:
            pipe = link.client.pipeline(transaction=True)
            pipe.hdel(self._keys.sessions, self.record.id)
            pipe.delete(self._keys.alive(self.record.id))
            pipe.execute()

        self._link.attempt("a session record", call, None)

    def _save(self, link: Link) -> None:
        link.client.hset(self._keys.sessions, self.record.id, self.record.encode())


class Heartbeat:
    """Keeps a session's key fresh on a shared server, from a thread of its own."""

    def __init__(self, link: Link, key: bytes, seconds: float = BEAT_SECONDS) -> None:
        self._link, self._key, self._seconds = link, key, seconds
        self._stop = threading.Event()
        self.beat()
        self._thread = threading.Thread(target=self._run, name="incoop-memo-heartbeat", daemon=True)
        self._thread.start()

    def beat(self) -> None:
        # A lost server is noticed and told by the session's own calls.
        with contextlib.suppress(redis.RedisError, OSError):
            self._link.client.set(self._key, b"1", ex=ALIVE_SECONDS)

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            self.beat()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=2)


def living(link: Link, keys: RedisKeys, locked: Callable[[], list[str]], *, tidy: bool) -> list[SessionRecord]:
    """Records of the sessions that live; with `tidy`, the records of dead ones are removed. Raises when Redis fails."""
    stored = link.client.hgetall(keys.sessions)
    by_file = set(locked())
    names = [name.decode() for name in stored]
    beats = link.client.mget([keys.alive(name) for name in names]) if names else []
    out, dead = [], []
    for name, beat in zip(names, beats, strict=True):
        record = decode_session(stored[name.encode()])
        if beat is None and name not in by_file:
            dead.append(name)
        elif record is not None:
            out.append(record)
    if tidy and dead:
        link.client.hdel(keys.sessions, *dead)
    return out
