"""Each pair of sources, fingerprinted in four fresh interpreters with four hash seeds in four places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from incoop.fingerprint import changed_parts

from . import cases_code, cases_values

RUNNER = Path(__file__).with_name("run_cases.py")
SAME = cases_code.SAME | cases_values.SAME
DIFFERENT = cases_code.DIFFERENT | cases_values.DIFFERENT
TABLE = [(name, pair, True) for name, pair in SAME.items()] + [(name, pair, False) for name, pair in DIFFERENT.items()]


def _write(folder: Path, source: str) -> None:
    folder.mkdir(parents=True)
    name = "job.py"
    texts: dict[str, list[str]] = {name: []}
    for line in source.splitlines():
        if line.startswith("# file: "):
            name = line.removeprefix("# file: ")
            texts[name] = []
        else:
            texts[name].append(line)
    for name, lines in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n")


def _run(folder: Path, side: int, seed: int, *options: str) -> dict[str, dict[str, object]]:
    for number, (_, pair, _) in enumerate(TABLE):
        _write(folder / f"{number:03}", pair[side])
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-W", "error", str(RUNNER), str(folder), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, dict[str, object]]]:
    root = tmp_path_factory.mktemp("cases")
    return [
        _run(root / "a", 0, 1),
        _run(root / "b" / "elsewhere", 0, 2, "--backwards"),
        _run(root / "c", 1, 3),
        _run(root / "d" / "e" / "f", 1, 4, "--backwards"),
    ]


@pytest.mark.parametrize(
    ("number", "same"), [pytest.param(n, same, id=name) for n, (name, _, same) in enumerate(TABLE)]
)
def test_same_or_different(results: list[dict[str, dict[str, object]]], number: int, same: bool) -> None:
    old, old_again, new, new_again = (result[f"{number:03}"] for result in results)
    assert not str(old["fingerprint"]).startswith("error")
    assert old == old_again, "stable across processes, seeds, folders and order"
    assert new == new_again
    assert (old["fingerprint"] == new["fingerprint"]) is same
    if not same:
        assert changed_parts(old["parts"], new["parts"])  # type: ignore[arg-type]


def test_the_table_is_large_and_has_no_name_twice() -> None:
    assert len(TABLE) >= 100
    assert not SAME.keys() & DIFFERENT.keys()
    assert len(SAME) == len(cases_code.SAME) + len(cases_values.SAME)
    assert len(DIFFERENT) == len(cases_code.DIFFERENT) + len(cases_values.DIFFERENT)
