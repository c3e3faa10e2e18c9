"""Signals that end a program, as one exception, raised only where that leaves nothing behind.

Contract: Ctrl-C, SIGTERM and SIGHUP are noted at any time, and raise `Stopped` inside `allowed`: at once, and whenever
it is entered from then on, since Python passes over what is raised while it collects garbage. Outside, where things are
opened and tidied up, nothing is raised. A signal that was ignored when the program started (nohup, a background job of
a shell) stays ignored.
"""

from __future__ import annotations

import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """The program was asked to end; no error, so that nobody takes it for one of a user's function."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """As the shell tells it: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
        return 128 + self.number


class StopSignals:
    """Notes signals while it is entered."""

    def __init__(self) -> None:
        self._asked: int | None = None
        self._allowed = False

    def __enter__(self) -> Self:
        self._before = {
            number: signal.signal(number, self._note)
            for number in _SIGNALS
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        self._woken, self._waking = socket.socketpair()
        for each in (self._woken, self._waking):
            each.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        self._woken.close()
        self._waking.close()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def allowed(self, allowed: bool = True) -> Iterator[None]:
        """Signals end what is done here; with False they do not, also inside something that they end."""
        before, self._allowed = self._allowed, allowed
        try:
            self._raise_if_asked()
            yield
        finally:
            self._allowed = before
        self._raise_if_asked()

    def sleep(self, seconds: float) -> None:
        """Sleep, unless a signal comes or came: one that comes just before `time.sleep` begins would not end that."""
        with self.allowed():
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                if select.select([self._woken], [], [], left)[0]:
                    self._woken.recv(4096)

    def _note(self, number: int, _: FrameType | None) -> None:
        self._asked = self._asked or number
        self._raise_if_asked()

    def _raise_if_asked(self) -> None:
        if self._asked is not None and self._allowed:
            self._allowed = False  # what tidies up on the way is left alone
            raise Stopped(self._asked)
