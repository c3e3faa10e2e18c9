"""What was measured on, and with which code."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("pyspark", "numpy", "redis", "duckdb", "pathway")


def machine_facts() -> dict[str, Any]:
    """Of the machine as it is now; its load says how quiet it was."""
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES if _version(name)},
        "load": round(os.getloadavg()[0], 1),
    }


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def commit() -> str:
    """The commit that is checked out, with a plus when files differ from it."""
    here = Path(__file__).parent
    try:
        name = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"], cwd=here, capture_output=True, text=True
        )
    except OSError:
        return "unknown"
    return name.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
