"""What installing incoop does to the environment that it is installed in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_python_imports_nothing_of_ours_when_it_starts(tmp_path: Path) -> None:
    """Streaming starts the user's Python for every chunk: what an installation adds to that is paid as often."""
    command = [sys.executable, "-c", "import sys; print(*sys.modules)"]
    started = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not [name for name in started.stdout.split() if "incoop" in name]
