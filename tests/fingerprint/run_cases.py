"""Fingerprint `f` of every case folder in a fresh interpreter; print one JSON object.

Usage: run_cases.py FOLDER [--backwards]. A folder holds one sub-folder a case, with `job.py` and its helpers.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from incoop.fingerprint import CannotFingerprint, fingerprint, parts


def one(folder: Path) -> dict[str, object]:
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    before = set(sys.modules)
    try:
        job = importlib.import_module("job")
        getattr(job, "warm", lambda: None)()
        for name in getattr(job, "FIRST", ()):  # fingerprinting others first must not matter
            fingerprint(getattr(job, name))
        return {
            "fingerprint": fingerprint(job.f).hex(),
            "parts": {name: value.hex() for name, value in parts(job.f).items()},
        }
    except CannotFingerprint as error:
        return {"fingerprint": f"error: {error}", "parts": {}}
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(folder)):
                del sys.modules[name]


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    folders = sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir())
    if "--backwards" in sys.argv:
        folders.reverse()
    print(json.dumps({folder.name: one(folder) for folder in folders}))
