"""Files and folders that are obeyed, so that they must be ours; and reading that never waits.

Contract: what is read here is a regular file, never reached through a link in its own place, and never waited for: a
pipe or a device there is an error at once. Where `own` is asked for, it belongs to this user, and nobody else may write
to it. A secret may not be read by others either, and cannot be guessed.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from incoop.base.atomic import written_aside
from incoop.base.errors import IncoopError

#: A secret has at least so many bytes, of at least so many kinds: guessing 16 random bytes is hopeless, and 16 random
#: bytes that are of fewer than 6 kinds come once in 2**60 times.
SECRET_BYTES = 16
_SECRET_KINDS = 6

#: Nothing small that is obeyed (a record, a note, a secret) is larger.
SMALL = 1 << 20

#: Nor any list that is read as a whole: a manifest of so many bytes names the chunks of terabytes. A file with a hole
#: takes no room, and would fill the memory.
LARGE = 1 << 30

_BECAUSE = "Whoever can change a store can make its user run what they like"
_FOLDER_REMEDY = "Use a store folder of your own: --store DIR."

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotOurs(IncoopError):
    """Something that would be obeyed belongs to another user, or others may change it."""

    def __init__(self, path: str, why: str, remedy: str, because: str = _BECAUSE) -> None:
        super().__init__(path, why, remedy, because)
        self.path, self.why, self.remedy, self.because = path, why, remedy, because

    def __str__(self) -> str:
        return f"{self.path} {self.why}. {self.because}, so it is not used, and nothing was done. {self.remedy}"


class NotAFile(OSError):
    """A link, pipe, device or folder where a file should be. An OSError: to a reader it is a file that fails."""


def real(path: Path) -> Path:
    """Where a path leads, links followed; a link that leads back to itself is what it is."""
    return Path(os.path.realpath(path))


def demand_own_folder(path: Path, remedy: str = _FOLDER_REMEDY, because: str = _BECAUSE) -> None:
    """Refuse a folder that is a link, another user's, or open to others' writing; one that is not there is fine."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise NotOurs(str(path), f"is a link to {_target(path)}", f"Give the folder itself. {remedy}", because)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    _demand_own(path, found, remedy, because)


def read_own(path: Path, limit: int = SMALL) -> bytes:
    """The content of a file that is obeyed. Raises NotOurs, or OSError where it is none."""
    handle = _opened(path, os.O_NOFOLLOW)
    try:
        _demand_own(path, os.fstat(handle), f"If you know how that came about: chown and chmod go-w {path}.")
        return _content(path, handle, limit)
    finally:
        os.close(handle)


def open_own(path: Path) -> int:
    """A descriptor to read a file of ours by; neither a link nor another's. Raises NotOurs, or OSError."""
    handle = _opened(path, os.O_NOFOLLOW)
    try:
        _demand_own(path, os.fstat(handle), f"Remove it: {path}.")
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_regular(path: Path, limit: int = LARGE) -> bytes:
    """The content of a regular file, whoever's it is; a link to one counts. Raises OSError."""
    handle = open_regular(path)
    try:
        return _content(path, handle, limit)
    finally:
        os.close(handle)


def open_regular(path: Path | str) -> int:
    """A descriptor to read a regular file by. Nothing else is waited for: not a pipe that nobody writes to."""
    return _opened(path, 0)


def open_for_reader(path: Path | str) -> int:
    """The same where others may have made the path: a link of another user's leads to files of that user's alone.

    Else whoever may write to a folder of logs gets a file of ours taken for one of theirs.
    """
    try:
        return _opened(path, os.O_NOFOLLOW)
    except NotAFile as error:
        if error.errno != errno.ELOOP:
            raise
    link = os.lstat(path)
    handle = open_regular(path)
    try:
        demand_own_link(path, link, os.fstat(handle))
        demand_own_link(path, os.lstat(path), os.fstat(handle))
    except BaseException:
        os.close(handle)
        raise
    return handle


def trusted_link(path: str) -> bool:
    """Whether what is written to a path goes where its owner wants: it is no link that another user made."""
    try:
        found = os.lstat(path)
    except OSError:
        return True
    return not stat.S_ISLNK(found.st_mode) or found.st_uid in (0, os.geteuid())


def demand_own_link(path: Path | str, link: os.stat_result, found: os.stat_result) -> None:
    """Raise NotAFile for a link of another user's to what is not that user's."""
    if stat.S_ISLNK(link.st_mode) and link.st_uid not in (0, os.geteuid(), found.st_uid):
        raise NotAFile(
            errno.EPERM, f"it is a link of another user's (number {link.st_uid}) to what is not theirs", str(path)
        )


def open_lock(path: Path) -> int:
    """A descriptor to lock a file of ours by, which is made if it is not there; what is no file there is removed."""
    clear_way(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def clear_way(path: Path) -> None:
    """Remove what is no file from the place of one of ours: a folder, a link, a pipe."""
    with suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(path)
        elif not stat.S_ISREG(mode):
            path.unlink()


def remove(path: Path) -> None:
    """Remove a file of ours, or whatever lies in its place; nothing is followed."""
    clear_way(path)
    path.unlink(missing_ok=True)


def own_secret(path: Path) -> bytes:
    """The secret in a file, made on first use. Refused unless it is ours, ours alone, and cannot be guessed."""
    remedy = (
        "Remove it, and all that was signed with it is computed again; or restore the one that was there, for its "
        "owner alone (chmod 600)."
    )
    try:
        handle = _opened(path, os.O_NOFOLLOW)
    except FileNotFoundError:
        with written_aside(path, [secrets.token_hex(32).encode()], private=True) as aside, suppress(FileExistsError):
            path.hardlink_to(aside)  # unlike a rename, this leaves the secret of a process that was faster
        handle = _opened(path, os.O_NOFOLLOW)
    except NotAFile as error:
        raise NotOurs(str(path), f"is no file of the store ({error.strerror})", remedy) from None
    try:
        found = os.fstat(handle)
        _demand_own(path, found, remedy)
        if found.st_mode & 0o077:
            raise NotOurs(str(path), "can be read by other users", remedy)
        secret = _content(path, handle, SMALL).strip()
    finally:
        os.close(handle)
    if why := guessable(secret):
        raise NotOurs(str(path), f"holds no secret: {why}", remedy)
    return secret


def guessable(secret: bytes) -> str:
    """Why a secret is none; empty for a good one.

    Example:
        >>> guessable(b"hunter2")
        'it has fewer than 16 bytes'
    """
    if len(secret) < SECRET_BYTES:
        return f"it has fewer than {SECRET_BYTES} bytes"
    return "it repeats a few bytes" if len(set(secret)) < _SECRET_KINDS else ""


def is_own_socket(path: Path) -> bool:
    """Whether a path is a socket that this user made."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()


def _demand_own(path: Path, found: os.stat_result, remedy: str, because: str = _BECAUSE) -> None:
    if found.st_uid != os.geteuid():
        raise NotOurs(str(path), f"belongs to another user (number {found.st_uid})", remedy, because)
    if found.st_mode & _OTHERS_WRITE:
        how = f"chmod go-w {path}, if those who could write there are trusted."
        raise NotOurs(str(path), "can be changed by other users", f"{how} {remedy}", because)


def _opened(path: Path | str, flags: int) -> int:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    except OSError as error:
        if error.errno == errno.ELOOP and flags & os.O_NOFOLLOW:
            raise NotAFile(errno.ELOOP, "it is a link", str(path)) from None
        if error.errno == errno.ENXIO:
            raise NotAFile(errno.ENXIO, "it is a socket or a device", str(path)) from None
        raise
    except ValueError:
        raise NotAFile(errno.EINVAL, "its name holds a NUL", str(path)) from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = "folder" if stat.S_ISDIR(mode) else "pipe" if stat.S_ISFIFO(mode) else "device"
        raise NotAFile(errno.EINVAL, f"it is a {kind}, not a file", str(path))
    return handle


def _content(path: Path, handle: int, limit: int) -> bytes:
    size = os.fstat(handle).st_size
    if size > limit:
        raise NotAFile(errno.EFBIG, f"it has {size} bytes, more than anything of its kind", str(path))
    with os.fdopen(os.dup(handle), "rb") as file:
        return file.read(size)


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return "something"
