"""The README's example runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_example_counts_words(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "example.py").write_text(example)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "hamlet.txt").write_text("to be or not to be\n")
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert {"to 2", "be 2", "or 1", "not 1"} < set(lines)
    assert "to None -> 2" in lines
    assert any(line.startswith("map chunks") for line in lines)
    assert (tmp_path / "out" / "_SUCCESS").exists()
