"""How often Python looks for garbage while much is made that stays.

Contract: what a program has chosen itself stays as it is. No result depends on it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects that are made before garbage is looked for, and how often among older ones. After every 700, as Python does
#: by default, takes a tenth of the time of a short command, whose modules all stay, and a fifth of contracting lists.
_SELDOM = (50_000, 20, 50)


def collect_seldom() -> None:
    """From now on."""
    if 0 < gc.get_threshold()[0] < _SELDOM[0]:
        gc.set_threshold(*_SELDOM)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Inside."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        if gc.get_threshold() == _SELDOM:
            gc.set_threshold(*before)
