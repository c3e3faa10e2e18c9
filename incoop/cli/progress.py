"""A progress line, or one that says how things stand, on a terminal, and none in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from incoop.base.shown import escaped

#: Nobody reads faster.
_TEN_A_SECOND = 0.1


class StatusLine:
    """One line on a terminal, overwritten, and gone when something else is said or at the end; nothing in a pipe."""

    def __init__(self, pause: float = 0.0) -> None:
        """`pause` is the least time in seconds from one text to the next; those between are left out."""
        self._on_terminal, self._pause = sys.stderr.isatty(), pause
        self._shown, self._next = "", 0.0

    def __enter__(self) -> StatusLine:
        return self

    def show(self, text: str) -> None:
        """Show a text in the place of the last one."""
        if self._on_terminal and text != self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pause
            click.echo(f"\r\x1b[K{escaped(text)}", nl=False, err=True)
            self._shown = text

    def clear(self) -> None:
        """Make room for somebody else to print."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._shown = ""

    def __exit__(self, *_: object) -> None:
        self.clear()


class ProgressLine:
    """A status line that counts."""

    def __enter__(self) -> Callable[[str, int], None]:
        self._line = StatusLine(_TEN_A_SECOND).__enter__()
        return lambda what, count: self._line.show(f"{count:,} {what}")

    def __exit__(self, *_: object) -> None:
        self._line.__exit__()


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
