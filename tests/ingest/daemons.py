"""A real rsyslog, a real nginx and a real logrotate, each with its own configuration in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])


def missing(*programs: str) -> str:
    """A sentence that says which programs are not installed; empty where all are."""
    lacking = [program for program in programs if shutil.which(program, path=PATH) is None]
    return f"{', '.join(lacking)} not installed: scripts/test_programs.sh installs them" if lacking else ""


def program(name: str) -> str:
    found = shutil.which(name, path=PATH)
    assert found is not None
    return found


class Daemon:
    """Something that writes the lines that it is sent to `log`."""

    #: The signal that makes it open its log anew.
    reopens = "HUP"
    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.log = self.logs / "app.log"
        self.socket = folder / "socket"
        self.pid = folder / "pid"

    def command(self) -> list[str]:
        raise NotImplementedError

    def send(self, connection: socket.socket, low: int, high: int) -> None:
        raise NotImplementedError

    @contextmanager
    def running(self) -> Iterator[None]:
        with (self.folder / "output").open("wb") as output:
            process = subprocess.Popen(self.command(), stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 120
            while not (self.socket.exists() and self.pid.exists()):
                assert process.poll() is None and time.monotonic() < until, (self.folder / "output").read_text()
                time.sleep(0.02)
            yield
        finally:
            process.terminate()
            process.wait(120)

    def connected(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(60)
        connection.connect(str(self.socket))
        return connection

    def written(self) -> int:
        """Lines in all files that there are."""
        counts = "for f in app.log*; do case $f in *.gz) zcat $f;; *) cat $f;; esac; done | wc -l"
        return int(subprocess.run(["sh", "-c", counts], cwd=self.logs, capture_output=True, check=True).stdout)


class Rsyslog(Daemon):
    name = "rsyslogd"

    def command(self) -> list[str]:
        config = self.folder / "rsyslog.conf"
        config.write_text(
            f"""
            global(workDirectory="{self.folder}" net.enableDNS="off")
            module(load="imptcp")
            input(type="imptcp" path="{self.socket}" unlink="on")
            template(name="line" type="string" string="%rawmsg-after-pri%\\n")
            action(type="omfile" file="{self.log}" template="line" fileCreateMode="0600")
            """
        )
        return [program(self.name), "-n", "-f", str(config), "-i", str(self.pid)]

    def send(self, connection: socket.socket, low: int, high: int) -> None:
        connection.sendall(
            b"".join(b"<13>line %07d of a program that says so\n" % number for number in range(low, high))
        )


class Nginx(Daemon):
    name = "nginx"
    reopens = "USR1"

    def command(self) -> list[str]:
        user = "user root;" if os.geteuid() == 0 else ""
        config = self.folder / "nginx.conf"
        places = "".join(
            f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config.write_text(
            f"""
            {user} daemon off; worker_processes 1; pid {self.pid}; error_log {self.folder}/error;
            events {{ }}
            http {{
                {places}
                log_format line '$request_uri of a client';
                access_log {self.log} line;
                server {{ listen unix:{self.socket}; keepalive_requests 10000000; location / {{ return 204; }} }}
            }}
            """
        )
        return [program(self.name), "-c", str(config), "-p", str(self.folder), "-e", str(self.folder / "error")]

    def send(self, connection: socket.socket, low: int, high: int) -> None:
        """Requests one behind the other, and so many answers."""
        done = threading.Event()
        answers = 0

        def read() -> None:
            nonlocal answers
            rest = b""
            while answers < high - low:
                rest += connection.recv(1 << 16)
                answers += rest.count(b"HTTP/1.1 204")
                rest = rest[rest.rfind(b"HTTP/1.1 204") + 12 :] if b"HTTP/1.1 204" in rest else rest
            done.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        asked = (b"GET /line/%07d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(low, high))
        connection.sendall(b"".join(asked))
        assert done.wait(60)


class Logrotate:
    """Rotates the log of a daemon when it is told to."""

    def __init__(self, daemon: Daemon, copytruncate: bool) -> None:
        self._folder = daemon.folder
        how = (
            "copytruncate"
            if copytruncate
            else f"create 0600\npostrotate\nkill -{daemon.reopens} $(cat {daemon.pid})\nendscript"
        )
        self._config = daemon.folder / "logrotate.conf"
        self._config.write_text(f"{daemon.log} {{\nrotate 100\nmissingok\ncompress\ndelaycompress\n{how}\n}}\n")
        self._config.chmod(0o600)

    def rotate(self) -> None:
        words = [program("logrotate"), "-f", "-s", str(self._folder / "state"), str(self._config)]
        subprocess.run(words, check=True, capture_output=True)
