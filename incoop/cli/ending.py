"""Signals that end a command, at any moment of it: one sentence at most, and no traceback.

Contract: Ctrl-C raises KeyboardInterrupt in the main thread, SIGTERM and SIGHUP raise SystemExit, so that what is open
is closed on the way out.
- What comes shortly after is the same request, and does not disturb that. What comes later is another: who does not
  want to wait for what is being closed asks again.
- Where Python or a C library would pass over the exception, or print it (in `__del__`, in a callback of a weak
  reference, in an import of C code), it is raised a moment later.
- What breaks on the way out because something else was cut short is not shown; `-vv` shows it.
- Once the command `is_over`, nothing is raised: another request ends the process at once, with the command's exit code.
A signal that was ignored when the program started (nohup, a background job of a shell) stays ignored.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Seconds in which asking again means the same: a key that bounces, a terminal and a program that both pass it on. No
#: import is waited for longer; all of ours together take one.
_PATIENCE = 2.0

#: Seconds until what was passed over is raised again.
_MOMENT = 0.01


class Ending:
    """Raises what ends a command, once for each request."""

    def __init__(self) -> None:
        #: All that follows is Python's own end.
        self.is_over = False
        self.exit_code: Any = 0
        #: When a request came that has not been raised yet, and when the last one was raised.
        self._asked: float | None = None
        self._raised = -_PATIENCE
        self._last: BaseException | None = None
        self._number = 0

    def begin(self) -> None:
        """From now on, for the rest of the process."""
        self._unraisable, self._in_thread = sys.unraisablehook, threading.excepthook
        sys.unraisablehook, threading.excepthook = self._passed_over, self._thread_ended
        # Of what is to be done at the end, what was registered first is done last. Python gives signals back then.
        atexit.register(_ignore_signals)
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._raised < _PATIENCE:
            return
        if self.is_over:
            os._exit(self.exit_code if isinstance(self.exit_code, int) else 1)
        self._asked = self._asked or now
        if now - self._asked < _PATIENCE and _would_be_passed_over(frame):
            self._ask_again(number)
            return
        self._asked, self._raised, self._number = None, now, number
        self._last = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
        raise self._last

    def _ask_again(self, number: int) -> None:
        # No `threading.Thread`: the main thread may hold a lock of that module.
        _thread.start_new_thread(_signal_soon, (number,))

    def _passed_over(self, unraisable: sys.UnraisableHookArgs) -> None:
        passed = unraisable.exc_value
        if passed is not None and passed is self._last and not self.is_over:
            self._raised = -_PATIENCE
            self._ask_again(self._number)
        elif isinstance(passed, KeyboardInterrupt):  # by a handler of the program's, or of a command's own
            self._ask_again(signal.SIGINT)
        elif self._last is None:
            self._unraisable(unraisable)
        else:
            _hidden(unraisable.err_msg or "exception ignored", passed, unraisable.exc_traceback)

    def _thread_ended(self, ended: threading.ExceptHookArgs) -> None:
        if self._last is None:
            self._in_thread(ended)
        else:
            _hidden("a thread ended", ended.exc_value, ended.exc_traceback)


def _ignore_signals() -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _would_be_passed_over(frame: FrameType | None) -> bool:
    """Whether an exception would not come through: `__del__`; modules of C print it, and raise another one."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _signal_soon(number: int) -> None:
    time.sleep(_MOMENT)
    # To this thread: a signal also ends what it waits for in the system.
    signal.pthread_kill(_main_thread, number)


_main_thread = threading.main_thread().ident or 0


def _hidden(what: str, error: BaseException | None, trace: TracebackType | None) -> None:
    if error is not None:
        import logging

        logging.getLogger(__name__).debug("%s", what, exc_info=(type(error), error, trace))
