"""What the tests of the fronts share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.conftest import base, place
from tests.fronts.streams import Streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Stores and folders of the end-to-end tests.
__all__ = ["base", "place", "streams"]


@pytest.fixture
def streams(tmp_path: Path, spark: SparkSession) -> Iterator[Streams]:
    made = Streams(tmp_path, spark)
    yield made
    made.session.close()
