"""What makes a folder a memo store: its id, its format, its secret, and where the rest of it is.

Contract: called with the folder's gate held. The id is the store's namespace in Redis and below a blob URL, so stores
that share a server or a bucket do not mix. A store of a newer format, one whose entries are in another Redis, or whose
packs are elsewhere, is refused before anything is touched.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from incoop.base.atomic import write_atomically
from incoop.memo.errors import StoreElsewhere, StoreTooNew
from incoop.memo.events import DidTightenSecret, EventLog

#: Version of the store's layout: file names, keys, generation records. Raised when an older incoop would misread it.
STORE_FORMAT = 1

PRIVATE = "a private server"
SHARED = "a Redis server given by address"


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """The contents of `memo/store.json`."""

    format: int
    id: str
    #: PRIVATE or SHARED: opening the other would see an empty memo and collect every pack.
    memo: str
    #: Where the packs are; None for the folder itself.
    blobs: str | None
    #: Whether Redis held this store at some time.
    met: bool = False

    @property
    def namespace(self) -> bytes:
        return b"incoop:%b:" % self.id.encode()


def recorded(home: Path) -> StoreIdentity | None:
    """The identity of an existing store; None when there is none."""
    try:
        text = (home / "store.json").read_text()
    except (FileNotFoundError, NotADirectoryError):
        return None
    found = json.loads(text)
    if found["format"] > STORE_FORMAT:
        raise StoreTooNew(str(home), found["format"], STORE_FORMAT)
    return StoreIdentity(**found)


def settle(home: Path, memo: str, blobs: str | None) -> StoreIdentity:
    """The folder's identity, made if it has none, and checked against what was asked for."""
    found = recorded(home)
    if found is None:
        found = StoreIdentity(STORE_FORMAT, secrets.token_hex(8), memo, blobs)
        write_atomically(home / "store.json", [json.dumps(asdict(found)).encode()], private=True)
        return found
    if found.memo != memo:
        raise StoreElsewhere(str(home), found.memo, memo)
    if blobs is not None and blobs != found.blobs:
        raise StoreElsewhere(str(home), f"packs at {found.blobs or 'the folder itself'}", f"packs at {blobs}")
    return found


def mark_met(home: Path, identity: StoreIdentity) -> None:
    """Remember that Redis holds this store, so that an empty Redis is noticed later."""
    if not identity.met:
        write_atomically(home / "store.json", [json.dumps(asdict(replace(identity, met=True))).encode()], private=True)


def own_secret(home: Path, events: EventLog) -> bytes:
    """The store's secret, made on first use; only its owner may read it."""
    path = home / "secret"
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        write_atomically(path, [secrets.token_hex(32).encode()], private=True)
    else:
        if mode & 0o077:
            path.chmod(0o600)
            events.emit(DidTightenSecret(str(path)))
    return path.read_bytes().strip()
