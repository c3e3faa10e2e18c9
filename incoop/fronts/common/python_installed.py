"""Modules that a program's own interpreter finds elsewhere: installed packages, and folders of editable installs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from incoop.base.content_ids import GrowingContent

#: Run by the interpreter in question, which need not be this one. It imports nothing of what it is asked for.
_ASK = """
import importlib.util, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        spec = None
    if spec is not None:
        found[name] = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or [])[:1]
print(json.dumps(found))
"""

#: Seconds for an answer; an interpreter starts in a tenth of one.
_PATIENCE = 30

_INSTALLED = ("site-packages", "dist-packages")


def installed_modules(
    interpreter: str, names: list[str], folder: Path, variables: Mapping[str, str]
) -> tuple[list[Path], dict[str, bytes]]:
    """Files of the user's own among these modules, and a digest of each installed package.

    A package counts by names, sizes and times of its files: installed again, it is another one.
    """
    program = shutil.which(interpreter, path=variables.get("PATH", os.defpath))
    if program is None:
        return [], {}
    try:
        asked = subprocess.run(
            [program, "-c", _ASK, *names],
            capture_output=True,
            cwd=folder,
            env=dict(variables),
            timeout=_PATIENCE,
            check=True,
        )
        places: dict[str, list[str]] = json.loads(asked.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return [], {}
    own: list[Path] = []
    installed: dict[str, bytes] = {}
    for name, found in sorted(places.items()):
        for place in map(Path, filter(None, found)):
            if any(part in _INSTALLED for part in place.parts):
                installed[f"package {name}"] = _tree_digest(place.parent if place.stem == "__init__" else place)
            elif place.is_file() and "lib-dynload" not in place.parts:
                own.append(place)
    return own, installed


def _tree_digest(place: Path) -> bytes:
    state = GrowingContent()
    for folder, folders, files in os.walk(place) if place.is_dir() else [(str(place.parent), [], [place.name])]:
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            path = Path(folder, name)
            found = path.stat()
            state.update(f"{path.relative_to(place.parent)} {found.st_size} {found.st_mtime_ns}\n".encode())
    return state.id()
