"""Real stores in folders that go away; no process may be left behind."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .places import Place, servers_below

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def base() -> Iterator[Path]:
    """A folder for everything; at the end no Redis server works below it, and no socket folder is left."""
    folder = Path(tempfile.mkdtemp(prefix="incoop-tests-"))
    with pytest.MonkeyPatch.context() as patch:
        (folder / "run").mkdir(mode=0o700)
        patch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        yield folder
    end = time.monotonic() + 60
    while (running := servers_below(folder)) and time.monotonic() < end:
        time.sleep(0.05)
    left = list((folder / "run").iterdir())
    shutil.rmtree(folder)
    assert running == [], f"servers left behind: {running}"
    assert left == [], f"socket folders left behind: {left}"


@pytest.fixture
def place(spark: SparkSession, base: Path) -> Iterator[Place]:
    """A store and an input folder, for one test."""
    with contextlib.closing(Place(base, spark)) as place:
        yield place
