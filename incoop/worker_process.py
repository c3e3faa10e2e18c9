"""What a Python worker of Spark does between two tasks, made short."""

from __future__ import annotations

import gc
import sys

_modules_when_frozen = 0


def settle() -> None:
    """Take what is loaded out of the garbage collector's sight; call it at the end of a task.

    A worker collects all garbage after every task, which takes 30 ms for the modules of numpy and the user's program:
    none of it is garbage. Objects of the task that are still referred to stay, too, once for every import.
    """
    global _modules_when_frozen
    if len(sys.modules) != _modules_when_frozen:
        gc.freeze()
        _modules_when_frozen = len(sys.modules)
