from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.shipper import Shipper


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def shipper(tmp_path: Path, logs: Path) -> Shipper:
    return Shipper(tmp_path / "store", logs)
