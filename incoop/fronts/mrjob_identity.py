"""What an mrjob job looks at besides its input: side files, and what its source says of folder and environment."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from incoop.fingerprint.files import dependency_digests

_INPUT_FILE = re.compile(r"map[._]input[._]file|MAP_INPUT_FILE")
_INPUT_RANGE = re.compile(r"map[._]input[._](start|length)")

#: Words without which code of the user's hardly gets at its folder or its environment.
_LOOKS_AROUND = re.compile(
    r"environ|getenv|jobconf|cwd|subprocess|popen|system|open|path|read|load|stderr|import_module"
)


def side_files(cache: Path, job_file: str) -> tuple[tuple[str, str], ...]:
    """Name and content of every side file; the job file, which mrjob puts beside them, counts by what it does."""
    paths = sorted(path for path in cache.iterdir() if path.name != job_file)
    return tuple((path.name, _content(path)) for path in paths)


def _content(path: Path) -> str:
    return "".join(digest.hex() for _, digest in dependency_digests([path.resolve()]))


class Source:
    """The text of the job file and of the user's modules that it imported."""

    def __init__(self, modules: Iterable[ModuleType]) -> None:
        self._texts = [_text(module) for module in modules]

    def looks_around(self) -> bool:
        """Whether the code may read its folder or environment."""
        return self._says(_LOOKS_AROUND)

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
