"""Run the real command: in a process of its own, or in this one."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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
    sys.argv = ["incoop", *map(str, words)]
    try:
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = before
    assert isinstance(code, int | None)
    return subprocess.CompletedProcess(words, code or 0, out.getvalue(), err.getvalue())
