"""Places without Spark, and one browser for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.end_to_end.conftest import base
from tests.engine.running.conftest import own, workshop

from .browser import CHROMIUM, Browser, a_browser

__all__ = ["base", "own", "workshop"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: scripts/test_programs.sh installs it, as root on Debian or Ubuntu")
    with a_browser() as opened:
        yield opened
