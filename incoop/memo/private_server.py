"""The private redis-server of a store folder: started once, shared, stopped by the last session.

Contract: every function here is called with the folder's gate held. At most one server works on the data; a record
(`server.json`) says which, by process id and start time, for which folder and on which socket. Whatever a crash leaves
(a stale record, a stale socket, a server without a record, a server without a socket) leads to one good server again,
and the record in a copied folder, which names the server of the original, to a server of the copy's own. The record is
signed; what it names is looked at before it is obeyed: only a socket of ours is unlinked, only a folder that we made
for one is removed, only a process that works in this folder is ended.

Steps of `ensure_running`: (1) a recorded server that answers is used; (2) one that runs but does not answer is ended;
(3) the socket is chosen and recorded before the start, so a server is never without a record; (4) the server is
started in its own session, so Ctrl-C does not reach it; (5) data that cannot be loaded is set aside, once.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket as sockets
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import BusyLoadingError

from incoop.base.atomic import write_atomically
from incoop.base.checksums import Signer
from incoop.base.own_files import NotOurs, clear_way, demand_own_folder, is_own_socket, read_own
from incoop.memo.address import make_pool, unix_url
from incoop.memo.binary import find_server
from incoop.memo.errors import ServerFailed, StoreBusyElsewhere
from incoop.memo.process import end_process, is_running, start_time, wait_gone, works_in
from incoop.memo.signed_files import read_signed, write_signed

#: A unix socket's path has 108 bytes on Linux and 104 on macOS, with the final zero.
SOCKET_PATH_BYTES = 103

#: Seconds for a server to load its data. It reads about 100 MB of entries a second.
START_SECONDS = 120.0

#: Seconds for a server to answer or to end before it counts as hung.
HUNG_SECONDS = 5.0

#: What the log says when a failed start is the machine's fault: the data stays where it is.
_MACHINE = re.compile(
    "No space left|Permission denied|Read-only|Cannot allocate|[Oo]ut of memory|Too many open|Operation not permitted|"
    "Input/output error|Disk quota|Opening Unix socket"
)

#: What it says of data that cannot be loaded: of a log, a snapshot, or of Redis 7's list of their parts.
_DATA_FAILED = re.compile("append only|AOF|aof|RDB|rdb|loading DB|Unknown command|Short read|[Mm]anifest")

#: Endings of the files that a server loads.
_DATA = (".aof", ".rdb")


def is_damage(cause: str) -> bool:
    """Whether a server did not start because of its data, by what it said.

    Example:
        >>> is_damage("Found an empty AOF manifest"), is_damage("Can't open the AOF: No space left on device")
        (True, False)
    """
    return bool(_DATA_FAILED.search(cause)) and not _MACHINE.search(cause)


# appendfsync no: every acknowledged write is in the kernel's hands at once, so killing the server loses nothing. With
# "everysec" a write waits while an fsync runs, and a kill then loses up to two seconds. A power cut may lose the last
# half minute either way of what a memo is: results that can be computed again.
CONFIG = """\
port 0
daemonize yes
unixsocketperm 700
save ""
appendonly yes
appendfsync no
databases 1
loglevel notice
"""


class PrivateServer:
    """The server of one folder (`memo/server`)."""

    def __init__(
        self, home: Path, signer: Signer, on_set_aside: Callable[[str, str], None] = lambda _folder, _reason: None
    ) -> None:
        self.home = home
        self._signer = signer
        self._record = home / "server.json"
        self._on_set_aside = on_set_aside
        #: Process and start time of the server that this session was given.
        self._given: tuple[int, str] | None = None

    def ensure_running(self, others_live: bool = False) -> str:
        """The address of the folder's server, started if need be. `others_live`: other sessions hold this folder."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        demand_own_folder(self.home)
        record = self._read()
        if others_live and record.get("host", _host()) != _host():
            raise StoreBusyElsewhere(str(self.home), record["host"])
        if not self._is_ours(record):
            record = {}  # the server of a folder that this one is a copy of: left alone
        if record and record.get("host") == _host():
            if self._answers(record):  # step (1)
                self._note_given()
                return unix_url(record["socket"])
            self._end_recorded(record)  # step (2)
        self._tidy(record)
        socket = self._start(aside=True)
        self._note_given()
        return unix_url(socket)

    def _note_given(self) -> None:
        record = self._read()
        self._given = (record["pid"], record["started"]) if record.get("pid") and record.get("started") else None

    def end_given(self) -> None:
        """For a folder that is gone, or cannot be written to any more: end the server that this session was given."""
        if self._given is not None and not self.home.exists():
            end_process(*self._given, HUNG_SECONDS)
        elif self._given is not None:
            with contextlib.suppress(OSError):
                self.stop()

    def stop(self) -> None:
        """End the server and remove what it leaves; its data stays."""
        record = self._read()
        if record.get("host", _host()) != _host() or not self._is_ours(record):
            return
        if not record:
            self._end_recorded(record)
            return
        with contextlib.suppress(redis.RedisError, OSError):
            pool = make_pool(unix_url(record["socket"]), reply_seconds=HUNG_SECONDS)
            try:
                redis.Redis(connection_pool=pool).shutdown(nosave=True)
            finally:
                pool.disconnect()
        if (pid := record.get("pid")) and record.get("started"):
            wait_gone(pid, record["started"], HUNG_SECONDS)
        self._end_recorded(record)
        self._tidy(record)

    def pid(self) -> int | None:
        """Process id of the recorded server, if it runs."""
        record = self._read()
        pid = record.get("pid")
        return pid if pid and is_running(pid, record["started"]) else None

    def _answers(self, record: dict[str, Any]) -> bool:
        """Whether the recorded server runs, has our data, and answers; waits while it loads."""
        if not is_own_socket(Path(record["socket"])):
            return False
        end = time.monotonic() + START_SECONDS
        pool = make_pool(unix_url(record["socket"]), reply_seconds=HUNG_SECONDS)
        try:
            client = redis.Redis(connection_pool=pool)
            while True:
                try:
                    pid = _pid_when_loaded(client)
                    break
                except BusyLoadingError:
                    if time.monotonic() > end:
                        return False
                    time.sleep(0.05)
            (folder,) = client.config_get("dir").values()
            if os.fsdecode(folder or "") != str(self.home.resolve()):
                return False
            if pid != record.get("pid"):
                self._write({**record, "pid": pid, "started": start_time(pid)})
            return True
        except (redis.RedisError, OSError, ValueError):
            return False
        finally:
            pool.disconnect()

    def _is_ours(self, record: dict[str, Any]) -> bool:
        """Whether a record was written for this folder, or for one that had another name then."""
        home = record.get("home")
        return home is None or home == str(self.home.resolve()) or works_in(record.get("pid", 0), self.home)

    def _end_recorded(self, record: dict[str, Any]) -> None:
        """End a server that is ours but cannot be reached, by its record or by the pid file it wrote itself."""
        if (pid := record.get("pid")) and record.get("started") and works_in(pid, self.home, otherwise=True):
            end_process(pid, record["started"], HUNG_SECONDS)
        with contextlib.suppress(OSError, ValueError, NotOurs):
            pid = int(read_own(self.home / "redis.pid"))
            started = start_time(pid)
            if started is not None and works_in(pid, self.home):
                end_process(pid, started, HUNG_SECONDS)

    def _tidy(self, record: dict[str, Any]) -> None:
        socket = Path(record.get("socket") or self.home / "redis.sock")
        if is_own_socket(socket):
            socket.unlink(missing_ok=True)
        # That of a folder that had another name then is found by the record alone.
        recorded = [socket.parent] if socket.parent.name.startswith("incoop-") and _is_own_folder(socket.parent) else []
        for short in {*recorded, *self._short_folders()} - {self.home.resolve()}:
            if is_own_socket(short / "redis.sock"):
                (short / "redis.sock").unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                short.rmdir()
        for name in ("redis.pid", "server.json"):
            _remove(self.home / name)

    def _start(self, aside: bool) -> str:
        binary = find_server(self._written_by())
        self._set_aside_what_is_no_file()
        place = self._choose_socket()
        record = {
            "host": _host(),
            "home": str(self.home.resolve()),
            "version": list(binary.version),
            "binary": binary.path,
            **place,
        }
        self._write(record)  # step (3)
        try:
            pid = self._spawn(binary.path, place["socket"])
        except ServerFailed as failed:
            self._end_recorded(record)
            self._tidy(record)
            if not aside or not is_damage(failed.cause):
                raise
            self._set_aside(failed.cause)  # step (5)
            return self._start(aside=False)
        self._write({**record, "pid": pid, "started": start_time(pid)})
        write_signed(self.home / "written-by", {"version": list(binary.version)}, self._signer, durable=False)
        return place["socket"]

    def _spawn(self, binary: str, socket: str) -> int:
        """Start the daemon and wait until it answers; its process id."""
        log = self.home / "redis.log"
        clear_way(log)
        write_atomically(log, [], durable=False, private=True)
        paths: dict[str, Path | str] = {"dir": self.home.resolve(), "logfile": log.resolve(), "unixsocket": socket,
                 "pidfile": self.home.resolve() / "redis.pid"}  # fmt: skip
        config = CONFIG.encode() + b"".join(b"%b %b\n" % (key.encode(), _quoted(path)) for key, path in paths.items())
        try:
            # step (4): the server goes into the background by itself; `start_new_session` covers the moment before.
            begun = subprocess.run([binary, "-"], input=config, capture_output=True, timeout=START_SECONDS, umask=0o077,
                                   start_new_session=True, cwd="/", check=False)  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise ServerFailed(binary, str(self.home), str(error)) from None
        if begun.returncode:
            raise ServerFailed(binary, str(self.home), (begun.stdout + begun.stderr).decode(errors="replace").strip())
        end = time.monotonic() + START_SECONDS
        pool = make_pool(unix_url(socket), reply_seconds=HUNG_SECONDS)
        try:
            while time.monotonic() < end:
                try:
                    # Until ours listens, the path may be the socket of a server that another user planted.
                    if not is_own_socket(Path(socket)):
                        raise ConnectionError
                    return _pid_when_loaded(redis.Redis(connection_pool=pool))
                except BusyLoadingError:
                    time.sleep(0.05)
                except (redis.RedisError, OSError):
                    self._fail_if_gone(binary, log)
                    time.sleep(0.003)
        finally:
            pool.disconnect()
        raise ServerFailed(binary, str(self.home), f"no answer within {START_SECONDS:g} s")

    def _fail_if_gone(self, binary: str, log: Path) -> None:
        """Say why the daemon ended: its pid file names a process that is gone, or its log ends before there is one."""
        text = log.read_text(errors="replace")
        try:
            gone = start_time(int(read_own(self.home / "redis.pid"))) is None
        except (OSError, ValueError, NotOurs):
            gone = any(sign in text for sign in ("Failed", "Fatal", "FATAL", "Exiting"))
        if gone:
            lines = [line.partition("# ")[2] for line in text.splitlines() if "# " in line]
            raise ServerFailed(binary, str(self.home), " / ".join(lines[-4:]) or "it ended at once")

    def _socket_inside(self) -> Path | None:
        """The socket's path in the folder; None where that is too long for one."""
        inside = self.home.resolve() / "redis.sock"
        return inside if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES else None

    def _choose_socket(self) -> dict[str, str]:
        if (inside := self._socket_inside()) is not None:
            return {"socket": str(inside)}
        # The folder lies too deep: a private folder (mode 0700) with a short name, removed with the server.
        for root in _short_roots():
            if root and len(os.fsencode(root)) < SOCKET_PATH_BYTES - 40 and os.access(root, os.W_OK):
                return {"socket": str(Path(tempfile.mkdtemp(prefix=self._short_name(), dir=root)) / "redis.sock")}
        raise ServerFailed(
            "redis-server", str(self.home), "no short temporary folder for its socket; set TMPDIR to one"
        )

    def _short_name(self) -> str:
        """How the names of this folder's short folders begin, so that they are found again without a record."""
        return f"incoop-{sha256(os.fsencode(self.home.resolve())).hexdigest()[:12]}-"

    def _short_folders(self) -> list[Path]:
        """Folders that were made for a socket of this one."""
        if self._socket_inside() is not None:
            return []
        found = [path for root in _short_roots() for path in Path(root).glob(f"{self._short_name()}*")]
        return [path for path in found if _is_own_folder(path)]

    def _data(self) -> list[Path]:
        """What a server loads; with Redis 7 all of it lies in a folder."""
        top = [path for path in self.home.iterdir() if path.suffix in _DATA or path.name == "appendonlydir"]
        return [*top, *(inner for path in top if path.is_dir() and not path.is_symlink() for inner in path.iterdir())]

    def _set_aside_what_is_no_file(self) -> None:
        """A server would wait for a pipe, and follow a link."""
        for path in self._data():
            mode = path.lstat().st_mode
            if not stat.S_ISREG(mode) and not (stat.S_ISDIR(mode) and path.name == "appendonlydir"):
                self._set_aside(f"{path.name} is no file")
                return

    def _set_aside(self, reason: str) -> None:
        """Move data that no server can load out of the way; the memo is a cache, so an empty one is right."""
        aside = self.home / "set-aside"
        _remove(aside)
        aside.mkdir(mode=0o700)
        for path in self._data():
            if path.parent == self.home:
                path.rename(aside / path.name)
        self._on_set_aside(str(aside), reason)

    def _written_by(self) -> tuple[int, int]:
        match read_signed(self.home / "written-by", self._signer):
            case {"version": [int(major), int(minor)]}:
                return major, minor
        return (0, 0)

    def _read(self) -> dict[str, Any]:
        record = read_signed(self._record, self._signer)
        if record is not None and self._is_sane(record):
            return record
        # A folder of a crash before the record, or a record that is not ours: the socket has a known place.
        inside = self.home.resolve() / "redis.sock"
        found = [path for path in (inside, *(each / "redis.sock" for each in self._short_folders())) if path.exists()]
        home = str(self.home.resolve())
        return {"host": _host(), "home": home, "socket": str(found[0])} if found else {}

    def _is_sane(self, record: dict[str, Any]) -> bool:
        """Whether a record says what we write; one of a folder that this one is a copy of does, too."""
        pid = record.get("pid", 0)
        texts = (record.get("host"), record.get("socket"), record.get("home"), record.get("started") or "")
        return isinstance(pid, int) and all(isinstance(text, str) for text in texts)

    def _write(self, record: dict[str, Any]) -> None:
        write_signed(self._record, record, self._signer, durable=False)


def _short_roots() -> list[str]:
    """Where a short folder may lie: the same in every session of a user."""
    roots = [os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"]
    return list(dict.fromkeys(root for root in roots if root))


def _is_own_folder(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _remove(path: Path) -> None:
    """Remove whatever lies at a path of ours, without following it."""
    if _is_own_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _pid_when_loaded(client: redis.Redis) -> int:
    """The server's process id; BusyLoadingError while it loads its data."""
    client.ping()  # which is refused until then, where INFO is answered
    return int(client.info("server")["process_id"])


def _host() -> str:
    return sockets.gethostname()


def _quoted(path: Path | str) -> bytes:
    """A path as a double-quoted word of a Redis configuration, whatever bytes are in it."""
    return (
        b'"'
        + b"".join(b"\\x%02x" % byte if byte < 32 or byte in b'"\\' else bytes([byte]) for byte in os.fsencode(path))
        + b'"'
    )
