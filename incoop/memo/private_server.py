"""The private redis-server of a store folder: started once, shared, stopped by the last session.

Contract: every function here is called with the folder's gate held. At most one server works on the data; a record
(`server.json`) says which, by process id and start time, for which folder and on which socket. Whatever a crash leaves
(a stale record, a stale socket, a server without a record, a server without a socket) leads to one good server again,
and the record in a copied folder, which names the server of the original, to a server of the copy's own.

Steps of `ensure_running`: (1) a recorded server that answers is used; (2) one that runs but does not answer is ended;
(3) the socket is chosen and recorded before the start, so a server is never without a record; (4) the server is
started in its own session, so Ctrl-C does not reach it; (5) data that cannot be loaded is set aside, once.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket as sockets
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import BusyLoadingError

from incoop.base.atomic import write_atomically
from incoop.memo.address import make_pool, unix_url
from incoop.memo.binary import find_server
from incoop.memo.errors import ServerFailed, StoreBusyElsewhere
from incoop.memo.process import end_process, is_running, start_time, wait_gone, works_in

#: A unix socket's path has 108 bytes on Linux and 104 on macOS, with the final zero.
SOCKET_PATH_BYTES = 103

#: Seconds for a server to load its data. It reads about 100 MB of entries a second.
START_SECONDS = 120.0

#: Seconds for a server to answer or to end before it counts as hung.
HUNG_SECONDS = 5.0

#: What the log says when the data, not the machine, is the reason for a failed start.
DAMAGE = (
    "Bad file format reading the append only file",
    "Unexpected end of file reading the append only file",
    "Unknown command",
    "Internal error in RDB",
    "Wrong signature trying to load DB",
    "RDB CRC error",
)

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

    def __init__(self, home: Path, on_set_aside: Callable[[str, str], None] = lambda _folder, _reason: None) -> None:
        self.home = home
        self._record = home / "server.json"
        self._on_set_aside = on_set_aside

    def ensure_running(self, others_live: bool = False) -> str:
        """The address of the folder's server, started if need be. `others_live`: other sessions hold this folder."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        record = self._read()
        if others_live and record.get("host", _host()) != _host():
            raise StoreBusyElsewhere(str(self.home), record["host"])
        if not self._is_ours(record):
            record = {}  # the server of a folder that this one is a copy of: left alone
        if record and record.get("host") == _host():
            if self._answers(record):  # step (1)
                return unix_url(record["socket"])
            self._end_recorded(record)  # step (2)
        self._tidy(record)
        return unix_url(self._start(aside=True))

    def stop(self) -> None:
        """End the server and remove what it leaves; its data stays."""
        record = self._read()
        if not record or record.get("host") != _host():
            return
        with contextlib.suppress(redis.RedisError, OSError):
            pool = make_pool(unix_url(record["socket"]), reply_seconds=HUNG_SECONDS)
            try:
                redis.Redis(connection_pool=pool).shutdown(nosave=True)
            finally:
                pool.disconnect()
        if (pid := record.get("pid")) and not wait_gone(pid, record["started"], HUNG_SECONDS):
            end_process(pid, record["started"], HUNG_SECONDS)
        self._end_recorded(record)
        self._tidy(record)

    def pid(self) -> int | None:
        """Process id of the recorded server, if it runs."""
        record = self._read()
        pid = record.get("pid")
        return pid if pid and is_running(pid, record["started"]) else None

    def _answers(self, record: dict[str, Any]) -> bool:
        """Whether the recorded server runs, has our data, and answers; waits while it loads."""
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
        if (pid := record.get("pid")) and record.get("started"):
            end_process(pid, record["started"], HUNG_SECONDS)
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.home / "redis.pid").read_text())
            started = start_time(pid)
            if started is not None and works_in(pid, self.home):
                end_process(pid, started, HUNG_SECONDS)

    def _tidy(self, record: dict[str, Any]) -> None:
        if record.get("socket"):
            Path(record["socket"]).unlink(missing_ok=True)
        if record.get("short_folder"):
            shutil.rmtree(record["short_folder"], ignore_errors=True)
        for name in ("redis.pid", "server.json"):
            (self.home / name).unlink(missing_ok=True)

    def _start(self, aside: bool) -> str:
        binary = find_server(self._written_by())
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
            if not aside or not any(sign in failed.cause for sign in DAMAGE):
                raise
            self._set_aside(failed.cause)  # step (5)
            return self._start(aside=False)
        self._write({**record, "pid": pid, "started": start_time(pid)})
        (self.home / "written-by").write_text(f"{binary.version[0]}.{binary.version[1]}")
        return place["socket"]

    def _spawn(self, binary: str, socket: str) -> int:
        """Start the daemon and wait until it answers; its process id."""
        log = self.home / "redis.log"
        log.write_bytes(b"")
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
            gone = start_time(int((self.home / "redis.pid").read_text())) is None
        except (OSError, ValueError):
            gone = "Failed" in text or "Fatal" in text
        if gone:
            lines = [line.partition("# ")[2] for line in text.splitlines() if "# " in line]
            raise ServerFailed(binary, str(self.home), " / ".join(lines[-4:]) or "it ended at once")

    def _choose_socket(self) -> dict[str, str]:
        inside = str(self.home.resolve() / "redis.sock")
        if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES:
            return {"socket": inside}
        # The folder lies too deep: a private folder (mode 0700) with a short name, removed with the server.
        roots = [os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"]
        for root in roots:
            if root and len(os.fsencode(root)) < SOCKET_PATH_BYTES - 40 and os.access(root, os.W_OK):
                short = tempfile.mkdtemp(prefix="incoop-", dir=root)
                return {"socket": str(Path(short) / "redis.sock"), "short_folder": short}
        raise ServerFailed(
            "redis-server", str(self.home), "no short temporary folder for its socket; set TMPDIR to one"
        )

    def _set_aside(self, reason: str) -> None:
        """Move data that no server can load out of the way; the memo is a cache, so an empty one is right."""
        aside = self.home / "set-aside"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(mode=0o700)
        for path in list(self.home.iterdir()):
            if path.suffix in (".aof", ".rdb") or path.name == "appendonlydir":
                path.rename(aside / path.name)
        self._on_set_aside(str(aside), reason)

    def _written_by(self) -> tuple[int, int]:
        try:
            major, minor = (self.home / "written-by").read_text().split(".")
            return int(major), int(minor)
        except (OSError, ValueError):
            return (0, 0)

    def _read(self) -> dict[str, Any]:
        try:
            record = json.loads(self._record.read_text())
        except (OSError, ValueError):
            # A folder of a crash before the record, or a damaged record: the socket has a known place.
            inside = self.home.resolve() / "redis.sock"
            return {"host": _host(), "socket": str(inside)} if inside.exists() else {}
        return record if isinstance(record, dict) and isinstance(record.get("socket"), str) else {}

    def _write(self, record: dict[str, Any]) -> None:
        write_atomically(self._record, [json.dumps(record).encode()], durable=False)


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
