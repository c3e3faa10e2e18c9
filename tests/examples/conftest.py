"""Places whose sessions have no Spark."""

from __future__ import annotations

from tests.end_to_end.conftest import base
from tests.engine.running.conftest import own

__all__ = ["base", "own"]
