"""A progress line, or one that says how things stand, on a terminal, and none in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from incoop.base.shown import escaped


class StatusLine:
    """One line on a terminal, overwritten, and gone at the end; nothing in a pipe."""

    def __enter__(self) -> StatusLine:
        self._shown, self._next = sys.stderr.isatty(), 0.0
        return self

    def show(self, text: str) -> None:
        """Show a text in the place of the last one, ten times a second at most."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.1
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)

    def interrupt(self, speak: Callable[[], object]) -> None:
        """Let somebody else print."""
        self._clear()
        speak()

    def _clear(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)

    def __exit__(self, *_: object) -> None:
        self._clear()


class ProgressLine:
    """A status line that counts."""

    def __enter__(self) -> Callable[[str, int], None]:
        self._line = StatusLine().__enter__()
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


class StatusLine:
    """One line on a terminal that stays until something else is said; nothing in a pipe."""

    def __init__(self) -> None:
        self._on_terminal, self._shown = sys.stderr.isatty(), ""

    def show(self, text: str) -> None:
        if self._on_terminal and text != self._shown:
            click.echo(f"\r\x1b[K{escaped(text)}", nl=False, err=True)
            self._shown = text

    def clear(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._shown = ""
