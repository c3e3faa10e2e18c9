"""The real `incoop` command in processes of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

INCOOP = [sys.executable, "-c", "from incoop.cli.main import main; main()"]


def start(*arguments: object, cwd: Path | None = None, **options) -> subprocess.Popen[bytes]:  # type: ignore[no-untyped-def]
    """Start the command; standard output and standard error are pipes unless told otherwise."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*INCOOP, *map(str, arguments)], cwd=cwd, **(pipes | options))


def run(*arguments: object, cwd: Path | None = None, stdin: bytes | None = None) -> tuple[int, bytes, str]:
    """Run the command to its end: exit code, standard output, standard error. A traceback is never right."""
    process = start(*arguments, cwd=cwd, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
    out, err = process.communicate(stdin)
    said = err.decode("utf-8", "backslashreplace")
    assert "Traceback" not in said, said
    return process.returncode, out, said
