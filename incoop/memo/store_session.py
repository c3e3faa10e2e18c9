"""Entering and leaving a store folder: the files, the server, the line to Redis.

Contract: `enter` either gives a working line or raises, leaving no server and no session behind. `leave` stops the
private server when no other session of this machine is in the folder. Both pass the folder's gate, so that two
sessions never start two servers, and the last one out never stops a server that another has just been given.

Steps of `enter`: (1) refuse wrong addresses, unreachable servers, missing binaries and folders that are not ours before
anything is created; (2) settle the folder's secret and identity; (3) lock a session file, and clear away what killed
sessions left; (4) start or adopt the private server; (5) check that Redis holds a store of this format.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from incoop.base.atomic import make_private_folder
from incoop.base.checksums import Signer
from incoop.base.own_files import demand_own_folder, real
from incoop.memo.address import check_address, probe, shown
from incoop.memo.binary import find_server
from incoop.memo.errors import StoreMissing, StoreTooNew
from incoop.memo.events import DidFindEmptyMemo, DidMendRedis, DidRestartServer, DidSetAsideMemo, EventLog
from incoop.memo.identity import PRIVATE, SHARED, STORE_FORMAT, is_there, mark_met, secret_of, settle
from incoop.memo.leftovers import clear_leftovers
from incoop.memo.link import Link
from incoop.memo.locks import SessionFile, alive, gate
from incoop.memo.private_server import PrivateServer
from incoop.memo.redis_keys import RedisKeys

#: The memo's own folder inside a store folder, which also holds datasets.
HOME = "memo"


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """What the caller of `open` wants."""

    folder: Path
    memo: str | None
    secret: bytes | None
    blobs: str | None
    create: bool
    reply_seconds: float
    #: Whether what is damaged beyond use is dropped, and the memo begun anew.
    repair: bool = False


class StoreSession:
    """One process's presence in a store folder."""

    def __init__(self, asked: StoreRequest, events: EventLog) -> None:
        self.home = asked.folder / HOME
        self.events = events
        self.private = asked.memo is None
        self._check_first(asked)  # step (1)
        self._make_home(asked.folder)
        with gate(self.home / "gate"):
            given = asked.secret is not None
            self.signer = Signer(secret_of(self.home, asked.secret, repair=asked.repair))  # step (2)
            self.identity = settle(self.home, PRIVATE if self.private else SHARED, asked.blobs, self.signer,
                                   given=given, events=events, repair=asked.repair)  # fmt: skip
            self._server = PrivateServer(
                self.home / "server", self.signer, lambda at, why: events.emit(DidSetAsideMemo(at, why))
            )
            self.keys = RedisKeys(self.identity.namespace)
            self.id = secrets.token_hex(8)
            note = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
            self._file = SessionFile(self.home / "sessions" / self.id, note)  # step (3)
            try:
                others = self._others()
                if not others:
                    clear_leftovers(asked.folder, self.home, here_alone=self.private)
                url = asked.memo or self._server.ensure_running(others)  # step (4)
            except BaseException:
                self._leave_gated()
                raise
        # The gate is open again: repairing a broken line goes through it.
        revive = self._revive if self.private else None
        self.link = Link(url, events, self.keys, revive=revive, reply_seconds=asked.reply_seconds)
        try:
            self._check_redis(asked.repair)  # step (5)
        except BaseException:
            self.leave()
            raise

    @property
    def entered(self) -> float:
        """When this session entered, by the clock of the store's filesystem."""
        return self._file.entered

    @property
    def ours(self) -> bool:
        """False in a child made by fork: the session is its parent's."""
        return self._file.ours

    def locked_sessions(self) -> list[str]:
        """Sessions whose files are locked, on this machine (and on others where the filesystem passes locks on)."""
        with gate(self.home / "gate"):
            return alive(self.home / "sessions")

    def leave(self) -> None:
        """Go; the last one stops the private server."""
        self.link.disconnect()
        if not self.ours:
            return
        try:
            with gate(self.home / "gate"):
                self._leave_gated()
        except OSError:  # the folder was removed, or cannot be written to any more
            self._file.leave()
            if self.private:
                self._server.end_given()

    def _check_first(self, asked: StoreRequest) -> None:
        demand_own_folder(real(asked.folder))
        demand_own_folder(self.home)
        found = is_there(self.home)
        if not found and not asked.create:
            raise StoreMissing(str(asked.folder))
        if asked.memo is not None:
            check_address(asked.memo)
            probe(asked.memo, reply_seconds=asked.reply_seconds)
        elif not found:
            find_server()

    def _make_home(self, folder: Path) -> None:
        make_private_folder(self.home)
        # Once more: another user may have been faster.
        demand_own_folder(real(folder))
        demand_own_folder(self.home)
        if self.home.stat().st_mode & 0o077:
            self.home.chmod(0o700)
        for name in ("sessions", "packs", "server", "delivered"):
            demand_own_folder(self.home / name)
        (self.home / "sessions").mkdir(mode=0o700, exist_ok=True)

    def _others(self) -> bool:
        return any(name != self.id for name in alive(self.home / "sessions"))

    def _leave_gated(self) -> None:
        self._file.leave()
        if self.private and not alive(self.home / "sessions"):
            self._server.stop()

    def _revive(self, cause: str) -> str:
        with gate(self.home / "gate"):
            before = self._server.pid()
            url = self._server.ensure_running(self._others())
            if self._server.pid() != before:
                self.events.emit(DidRestartServer(cause))
            return url

    def _check_redis(self, repair: bool) -> None:
        def call(link: Link) -> tuple[bool, bytes]:
            pipe = link.client.pipeline(transaction=True)
            pipe.hsetnx(self.keys.meta, "format", STORE_FORMAT)
            # Not compared: the store's own record says which secret is right, and what another signed is not used.
            pipe.hset(self.keys.meta, "key", self.signer.key_check)
            pipe.hget(self.keys.meta, "format")
            fresh, _, layout = pipe.execute()
            return bool(fresh), layout

        fresh, layout = self.link.strict(call)
        if not layout.isdigit() or (repair and int(layout) != STORE_FORMAT):
            self.link.strict(lambda link: link.client.hset(self.keys.meta, "format", STORE_FORMAT))
            self.events.emit(DidMendRedis(("meta format",)))
        elif int(layout[:19]) > STORE_FORMAT:
            raise StoreTooNew(shown(self.link.url), int(layout[:19]), STORE_FORMAT)
        if fresh and self.identity.met:
            self.events.emit(DidFindEmptyMemo(shown(self.link.url)))
        mark_met(self.home, self.identity, self.signer)
