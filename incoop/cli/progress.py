"""A progress line on a terminal, and none in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def byte_progress(total: int | None, what: str) -> Iterator[Callable[[int], object]]:
    """Give a function to call with each number of bytes dealt with."""
    with tqdm(
        total=total,
        desc=what,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        leave=False,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
    ) as bar:
        yield bar.update


def human(size: float) -> str:
    """Bytes for people.

    Example:
        >>> human(1536), human(12)
        ('1.5 KiB', '12 B')
    """
    if size < 1024:
        return f"{size:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} TiB"
