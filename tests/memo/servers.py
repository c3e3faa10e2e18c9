"""Real Redis servers for the tests: on a unix socket, on a port with a password, with TLS."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import socket
import subprocess
import time
from functools import lru_cache
from pathlib import Path

import redis

from incoop.memo.binary import find_server

#: Ports that systems give to nobody who does not ask for them by number, so that none is taken before a server is
#: there, or while it is killed and started again. Test processes beside each other begin at different ones.
_PORTS = range(10_000, 32_000)
_turn = itertools.count(os.getpid() * 97)


def free_port() -> int:
    for turn in itertools.islice(_turn, len(_PORTS)):
        port = _PORTS[turn % len(_PORTS)]
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


class RealServer:
    """A server of the test's own, which can be killed and started again on its data."""

    def __init__(self, folder: Path, kind: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.kind = folder, kind
        self._process: subprocess.Popen[bytes] | None = None
        common = ["--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", "no", "--daemonize", "no"]
        if kind == "unix":
            # Tests' own folders can be deep; a socket's path cannot.
            self._short = Path(os.environ["XDG_RUNTIME_DIR"]) / f"test-{os.getpid()}-{id(self):x}.sock"
            self.url = f"unix://{self._short}"
            self._options = [*common, "--port", "0", "--unixsocket", str(self._short)]
        else:
            port = free_port()
            bind = ["--bind", "127.0.0.1"]
            if kind == "password":
                self.url = f"redis://:correct%20horse@127.0.0.1:{port}/0"
                self._options = [*common, *bind, "--port", str(port), "--requirepass", "correct horse"]
            else:
                # One set for all tests of a run, beside their folders.
                tls = make_certificates(folder.parents[1] / "certificates")
                self.url = f"rediss://incoop:stapled@127.0.0.1:{port}/0?ssl_ca_certs={tls['ca']}"
                # fmt: off
                self._options = [
                    *common, *bind, "--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no",
                    "--tls-cert-file", tls["cert"], "--tls-key-file", tls["key"], "--tls-ca-cert-file", tls["ca"],
                    # Not "off": Redis 7.0 replays transactions of its own log as the default user.
                    "--user", "default", "on", ">other", "~*", "&*", "+@all",
                    "--user", "incoop", "on", ">stapled", "~*", "&*", "+@all",
                ]
                # fmt: on
        self.start()

    def start(self) -> None:
        log = (self.folder / "server.log").open("ab")
        self._process = subprocess.Popen([find_server().path, *self._options], stdout=log, stderr=log)
        log.close()
        end = time.monotonic() + 120
        while True:
            try:
                with contextlib.closing(self.client()) as client:
                    client.ping()
                return
            except (redis.RedisError, OSError):
                assert self._process.poll() is None, (self.folder / "server.log").read_text()[-2000:]
                assert time.monotonic() < end, "the test's server does not answer"
                time.sleep(0.01)

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.kill()
        if self.kind == "unix":
            self._short.unlink(missing_ok=True)


def supports_tls() -> bool:
    """Whether the server found has TLS (and openssl can make a certificate)."""
    if shutil.which("openssl") is None:
        return False
    # Without a certificate it ends at once, and says whether it missed the certificate or did not know the option.
    command = [find_server().path, "--port", "0", "--tls-port", "1", "--save", ""]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd="/")
    return "tls-cert-file" in answer.stdout


@lru_cache
def make_certificates(folder: Path) -> dict[str, str]:
    """A certificate authority and a server certificate for 127.0.0.1, valid for this test."""
    folder.mkdir(exist_ok=True)
    key_kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    ca, ca_key, cert, key, ask = (folder / name for name in ("ca.pem", "ca.key", "cert.pem", "key.pem", "ask.csr"))

    def openssl(*words: object) -> None:
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)

    openssl("req", "-x509", *key_kind, "-days", "1", "-subj", "/CN=incoop test CA",
            "-keyout", ca_key, "-out", ca)  # fmt: skip
    openssl("req", *key_kind, "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", ask)
    names = folder / "names.cnf"
    names.write_text("subjectAltName=IP:127.0.0.1")
    openssl("x509", "-req", "-in", ask, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "1", "-out", cert,
            "-extfile", names)  # fmt: skip
    return {"ca": str(ca), "cert": str(cert), "key": str(key)}
