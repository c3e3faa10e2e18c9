"""Stores in every setting, on real servers; nothing may be left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import IN_MEMORY

pytest.register_assert_rewrite(f"{__package__}.contract", f"{__package__}.places")


def servers_below(folder: Path) -> list[int]:
    """Process ids of Redis servers that work in a folder below this one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name = (entry / "comm").read_text()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            a_server = ("redis" in name or "valkey" in name) and state not in "ZX"
            if a_server and folder in (entry / "cwd").readlink().parents:
                found.append(int(entry.name))
    return found


@pytest.fixture(scope="session")
def stores() -> Iterator[Path]:
    """A folder for all stores."""
    home = Path(tempfile.mkdtemp(prefix="im", dir=IN_MEMORY)).resolve()
    yield home
    shutil.rmtree(home)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_behind(stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Short sockets go to a folder of our own; at the end no server runs and that folder is empty."""
    short = Path(tempfile.mkdtemp(prefix="im", dir="/tmp"))
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(short)
    yield
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before
    left = list(short.iterdir())
    end = time.monotonic() + 60
    homes = (stores, tmp_path_factory.getbasetemp())
    while (running := [pid for home in homes for pid in servers_below(home)]) and time.monotonic() < end:
        time.sleep(0.05)
    shutil.rmtree(short)
    assert running == [], f"servers left behind: {running}"
    assert left == [], f"temporary folders left behind: {left}"


@pytest.fixture
def folder(stores: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=stores)) / "store"
