"""Run the real command in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

CALL = "import sys; from incoop.cli.main import main; sys.argv[0] = 'incoop'; main()"


def incoop(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What `incoop WORDS…` prints and returns."""
    return subprocess.run(
        [sys.executable, "-c", CALL, *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=240
    )
