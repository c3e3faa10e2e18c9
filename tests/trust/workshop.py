"""A user's folder: a job file, modules beside it, an input; loaded, edited and run as a user does."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import incoop
from incoop.code.importer import ShippedModules
from incoop.fronts.common.job_file import load_job
from tests.end_to_end.places import Place

#: The reducer of a job whose mapper is what matters.
SUM = """
def total(key, values):
    yield key, sum(values)
"""


class Workshop:
    """Files of a user's, run in the session of a place."""

    def __init__(self, folder: Path, place: Place) -> None:
        self.folder, self.place = folder, place
        folder.mkdir()
        self._path, self._modules = list(sys.path), set(sys.modules)
        place.write([f"line {number} of the input" for number in range(40)])

    def write(self, **files: str) -> None:
        """Write modules, by name; `package__module` is a module in a package."""
        for name, text in files.items():
            path = self.folder.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.parent != self.folder and not (path.parent / "__init__.py").exists():
                (path.parent / "__init__.py").write_text("")
            path.write_text(textwrap.dedent(text))
            # Python would take a module of the same size, written in the same second, for the one it has compiled.
            Path(cache_from_source(str(path))).unlink(missing_ok=True)
        importlib.invalidate_caches()

    def forget(self) -> None:
        """As a program that starts anew: modules of the folder are not loaded, and found nowhere."""
        for name in set(sys.modules) - self._modules:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file.startswith(str(self.folder)):
                del sys.modules[name]
        sys.path[:] = self._path
        # A test that opens a shipment in this process would else leave its modules to all that are loaded later.
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, ShippedModules)]

    def load(self, file: str = "job.py") -> incoop.Job:
        """The job of a file, as a new program has it."""
        self.forget()
        return load_job(str(self.folder / file))

    def run(self, job: incoop.Job | None = None, **options: Any) -> dict[Any, Any]:
        """What the job gives, loaded anew unless given."""
        return dict(self.place.run(job or self.load(), **options).collect())

    def python(
        self, program: str, *arguments: object, cwd: Path | None = None, flags: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the user's, in a process and a folder of its own."""
        path = self.folder / "program.py"
        path.write_text(textwrap.dedent(program))
        return subprocess.run(
            [sys.executable, *flags, str(path), *map(str, arguments)],
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=240,
        )


def plain(job: incoop.Job, lines: list[str]) -> dict[Any, Any]:
    """What plain Python gives."""
    groups: dict[Any, list[Any]] = {}
    assert callable(job.mapper) and job.reducer is not None
    for line in lines:
        for key, value in job.mapper(None, line):
            groups.setdefault(key, []).append(value)
    return {key: value for each, values in groups.items() for key, value in job.reducer(each, values)}
