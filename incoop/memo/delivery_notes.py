"""What the last run of each job gave to its caller: one small file a job, in the store's own folder.

Contract: after `note` returns, `noted` gives that state in every session, also after a crash and whatever became of
Redis. So a run that finds another state in the job's newest generation knows that this is not what its caller has.
A note that is damaged or not signed is `UNCLEAR`, which equals no state.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from incoop.base.atomic import make_folder, sync, write_atomically
from incoop.base.checksums import DIGEST_BYTES, Signer
from incoop.base.own_files import NotOurs, clear_way, read_own
from incoop.memo.errors import MemoError

#: No state is empty.
UNCLEAR = b""

#: Tells a note from a generation, which the same key signs.
_PREFIX = b"delivered\0"


class NoteNotWritten(MemoError):
    """The store's folder does not take the note of what a run gives, so the next run could tell wrong changes."""

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(path, cause)
        self.path, self.cause = path, cause

    def __str__(self) -> str:
        return (
            f"cannot note in {self.path} what this run gives: {self.cause}. Free space there, or make it writable, and "
            "run the job again: what was computed is kept."
        )


class DeliveryNotes:
    """The notes of one store."""

    def __init__(self, home: Path, signer: Signer) -> None:
        self._folder, self._signer = home / "delivered", signer

    def noted(self, job: str) -> bytes | None:
        """The state that the job's last run gave; None where no run of it ended."""
        try:
            data = read_own(self._path(job))
        except FileNotFoundError:
            return None
        except (OSError, NotOurs):
            return UNCLEAR
        mac, state = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
        return state if self._signer.accepts_generation(self._body(job, state), mac) else UNCLEAR

    def note(self, job: str, state: bytes) -> None:
        """Make it the state that the job's last run gave."""
        path = self._path(job)
        try:
            make_folder(path.parent)
            clear_way(path)
            write_atomically(path, [self._signer.sign_generation(self._body(job, state)), state], private=True)
            with suppress(PermissionError):  # a folder that may not be opened
                sync(path.parent)
        except OSError as error:
            raise NoteNotWritten(str(path), f"{error}") from error

    def _path(self, job: str) -> Path:
        return self._folder / sha256(job.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _body(self, job: str, state: bytes) -> bytes:
        return _PREFIX + job.encode("utf-8", "surrogatepass") + b"\0" + state
