"""That something takes little time, on a machine that may be busy with other things."""

from __future__ import annotations

import time
from collections.abc import Callable

TURNS = 20


def some_turn_takes_less(seconds: float, call: Callable[[], object]) -> bool:
    """Whether one of a few turns does: others may have waited for a processor."""
    for _ in range(TURNS):
        began = time.perf_counter()
        call()
        if time.perf_counter() - began < seconds:
            return True
    return False
