"""What an mrjob job looks at besides its input: side files, and what its source says of folder and environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from mrjob.util import shlex_split

from incoop.fingerprint.files import dependency_digests
from incoop.fronts.common.command_files import CommandFiles, content_of, digest_of

_INPUT_FILE = re.compile(r"map[._]input[._]file|MAP_INPUT_FILE")
_INPUT_RANGE = re.compile(r"map[._]input[._](start|length)")

#: Words without which code of the user's hardly gets at its folder or its environment.
_LOOKS_AROUND = re.compile(
    r"environ|getenv|jobconf|cwd|subprocess|popen|system|open|path|read|load|stderr|import_module"
)

#: Words without which it hardly writes anything but what it gives.
_PRINTS = re.compile(r"\b(print|sys|logging|warnings)\b")


def side_files(cache: Path, job_file: str) -> tuple[tuple[str, str], ...]:
    """Name and content of every side file; the job file, which mrjob puts beside them, counts by what it does."""
    paths = sorted(path for path in cache.iterdir() if path.name != job_file)
    return tuple((path.name, _content(path)) for path in paths)


def _content(path: Path) -> str:
    return "".join(digest.hex() for _, digest in dependency_digests([path.resolve()]))


def named_files(job_file: Path, cache: Path) -> tuple[tuple[str, str], ...]:
    """Name and content of files that the job's own code names, or may load by a name that it computes.

    Modules that it imports count by what they do, so that they are not here unless their names are computed.
    """
    found = CommandFiles(cache, os.environ)
    found.command([sys.executable, str(job_file.absolute())])
    own = {job_file.resolve(), Path(sys.executable).resolve()}
    return tuple(
        (path.name, digest_of(path).hex())
        for path in found.files()
        if path not in own and (found.computes_names or path.suffix != ".py")
    )


def leads_to(described: Mapping[str, str], cache: Path, variables: Mapping[str, str]) -> tuple[tuple[str, bytes], ...]:
    """Names and digests of all files that a role's command and filter lead to."""
    words: list[str] = []
    if "pre_filter" in described:
        words += ["/bin/sh", "-c", described["pre_filter"]]
    if described["type"] == "command":
        words += shlex_split(described["command"])
    return tuple(content_of(words, cache, variables)) if words else ()


class Source:
    """The text of the job file and of the user's modules that it imported."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._texts = [_text(module) for module in modules]

    def looks_around(self) -> bool:
        """Whether the code may read its folder or environment."""
        return self._says(_LOOKS_AROUND)

    def prints(self) -> bool:
        """Whether the code may write where people read."""
        return self._says(_PRINTS)

    def names_input_file(self) -> bool:
        return self._says(_INPUT_FILE)

    def names_input_range(self) -> bool:
        return self._says(_INPUT_RANGE)

    def _says(self, pattern: re.Pattern[str]) -> bool:
        return any(text is None or pattern.search(text) for text in self._texts)


def _text(module: ModuleType) -> str | None:
    """A module's source; None when there is none to read."""
    file = getattr(module, "__file__", None)
    try:
        return Path(file).read_text(errors="replace") if file and file.endswith(".py") else None
    except OSError:
        return None
