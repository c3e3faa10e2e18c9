"""Stores and sessions as in the end-to-end tests, and folders of a user's own files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import base, place
from tests.end_to_end.places import Place

from .workshop import Workshop

__all__ = ["base", "place", "workshop"]


@pytest.fixture
def workshop(place: Place, tmp_path: Path) -> Iterator[Workshop]:
    """A folder with a job file and modules beside it, and a store."""
    made = Workshop(tmp_path / "work", place)
    yield made
    made.forget()
