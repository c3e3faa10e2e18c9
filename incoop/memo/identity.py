"""What makes a folder a memo store: its id, its format, its secret, and where the rest of it is.

Contract: called with the folder's gate held. The id is the store's namespace in Redis and below a blob URL, so stores
that share a server or a bucket do not mix. A store of a newer format, one whose entries are in another Redis, or whose
packs are elsewhere, is refused before anything is touched. `store.json` is signed: one that is not, by this store's
secret, is not obeyed, and the memo begins anew.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from incoop.base.checksums import Signer
from incoop.base.errors import BadCall
from incoop.base.own_files import guessable, own_secret
from incoop.memo.errors import StoreElsewhere, StoreTooNew, WrongSecret
from incoop.memo.events import DidBeginAnew, EventLog
from incoop.memo.signed_files import read_signed, unsigned_fields, write_signed

#: Version of the store's layout: file names, keys, generation records. Raised when an older incoop would misread it.
#: 2: `store.json` is signed, and ids of content cannot be made to collide.
STORE_FORMAT = 2

PRIVATE = "a private server"
SHARED = "a Redis server given by address"

_RECORD = "store.json"
_ID = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class StoreIdentity:
    """The contents of `memo/store.json`."""

    format: int
    id: str
    #: PRIVATE or SHARED: opening the other would see an empty memo and collect every pack.
    memo: str
    #: Where the packs are; None for the folder itself.
    blobs: str | None
    #: Says which secret signs the store, so that a wrong one is told from a damaged record.
    key: str = ""
    #: Whether the caller gave that secret; else it lies beside this record.
    given: bool = False
    #: Whether Redis held this store at some time.
    met: bool = False

    @property
    def namespace(self) -> bytes:
        return b"incoop:%b:" % self.id.encode()


def is_there(home: Path) -> bool:
    """Whether the folder was a store before."""
    try:
        (home / _RECORD).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def settle(
    home: Path, memo: str, blobs: str | None, signer: Signer, *, given: bool, events: EventLog, repair: bool = False
) -> StoreIdentity:
    """The folder's identity, made if it has none, and checked against what was asked for.

    `given`: the secret is the caller's, who may have given a wrong one. `repair` begins anew where a record is refused.
    """
    path = home / _RECORD
    fields = read_signed(path, signer)
    found = _identity(fields) if fields is not None else None
    if found is None and is_there(home):
        said = unsigned_fields(path) or {}
        if not repair:
            refuse_if_too_new(home, said)
            if given and said.get("key", signer.key_check.hex()) != signer.key_check.hex():
                raise WrongSecret(str(home.parent))
        events.emit(DidBeginAnew(str(path)))
    if found is None:
        found = StoreIdentity(STORE_FORMAT, secrets.token_hex(8), memo, blobs, signer.key_check.hex(), given)
        write_signed(path, asdict(found), signer)
        return found
    if found.memo != memo:
        raise StoreElsewhere(str(home), found.memo, memo)
    if blobs is not None and blobs != found.blobs:
        raise StoreElsewhere(str(home), f"packs at {found.blobs or 'the folder itself'}", f"packs at {blobs}")
    return found


def mark_met(home: Path, identity: StoreIdentity, signer: Signer) -> None:
    """Remember that Redis holds this store, so that an empty Redis is noticed later."""
    if not identity.met:
        write_signed(home / _RECORD, asdict(replace(identity, met=True)), signer)


def secret_of(home: Path, given: bytes | None, *, repair: bool = False) -> bytes:
    """The secret that signs the store: the caller's, or its own, which is made on first use."""
    if given is not None:
        if why := guessable(given):
            raise BadCall(f"secret= cannot sign a store: {why}. Use secrets.token_bytes(32), and keep it.")
        return given
    said = unsigned_fields(home / _RECORD) or {}
    if said.get("given") is True and not repair:
        raise WrongSecret(str(home.parent))
    return own_secret(home / "secret")


def refuse_if_too_new(home: Path, said: dict[str, Any]) -> None:
    """Raise for a record of a later release."""
    layout = said.get("format")
    if isinstance(layout, int) and not isinstance(layout, bool) and layout > STORE_FORMAT:
        raise StoreTooNew(str(home), layout, STORE_FORMAT)


def _identity(fields: dict[str, Any]) -> StoreIdentity | None:
    try:
        found = StoreIdentity(**fields)
    except TypeError:
        return None
    return found if found.format == STORE_FORMAT and _ID.fullmatch(found.id) else None
