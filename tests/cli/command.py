"""Run the real command: in a process of its own, or in this one."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CALL = "import sys; from incoop.cli.main import main; sys.argv[0] = 'incoop'; main()"


def incoop(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """What `incoop WORDS…` prints and returns."""
    return subprocess.run(
        [sys.executable, "-c", CALL, *map(str, words)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def incoop_here(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same without a new process, which costs a second: for calls that end before anything runs."""
    from incoop.cli.main import main

    before, out, err = sys.argv, io.StringIO(), io.StringIO()
    hooks, handlers = (sys.unraisablehook, threading.excepthook), {each: signal.getsignal(each) for each in SIGNALS}
    sys.argv = ["incoop", *map(str, words)]
    try:
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = before
        sys.unraisablehook, threading.excepthook = hooks
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert isinstance(code, int | None)
    return subprocess.CompletedProcess(words, code or 0, out.getvalue(), err.getvalue())
