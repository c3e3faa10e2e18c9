from __future__ import annotations

from pathlib import Path

import pytest

from incoop.inchdfs import DatasetStore


@pytest.fixture
def store(tmp_path: Path) -> DatasetStore:
    return DatasetStore(tmp_path / "store")
