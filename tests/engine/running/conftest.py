"""Places whose sessions have no Spark: whatever the test process has, they are on their own."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import incoop
from tests.end_to_end.conftest import base
from tests.end_to_end.places import CHUNKS, Place
from tests.trust.workshop import Workshop

__all__ = ["base", "own", "place", "workshop"]


def alone(session: incoop.Session) -> incoop.Session:
    """A session that does not see the Spark session of the tests, and has no business starting one."""

    def refuse() -> None:
        raise AssertionError("Spark was started")

    session._spark._found = lambda: session._spark._session  # type: ignore[method-assign]
    session._spark._start = refuse  # type: ignore[method-assign,assignment]
    return session


class OwnPlace(Place):
    """A place where small work is done in processes of our own."""

    def __init__(self, base: Path) -> None:
        super().__init__(base, None, CHUNKS)  # type: ignore[arg-type]

    @property
    def session(self) -> incoop.Session:
        if self._session is None:
            self._session = alone(incoop.connect(self.store, chunks=self.chunks))
        return self._session

    @contextlib.contextmanager
    def scratch(self) -> Iterator[incoop.Session]:
        folder = tempfile.mkdtemp(dir=self.folder)
        with incoop.connect(Path(folder) / "store", chunks=self.chunks) as session:
            yield alone(session)
        shutil.rmtree(folder)


@pytest.fixture
def own(base: Path) -> Iterator[OwnPlace]:
    with contextlib.closing(OwnPlace(base)) as place:
        yield place


@pytest.fixture
def place(own: OwnPlace) -> OwnPlace:
    return own


@pytest.fixture
def workshop(own: OwnPlace, tmp_path: Path) -> Iterator[Workshop]:
    made = Workshop(tmp_path / "work", own)
    yield made
    made.forget()
