"""What a program asked for when it made its context, and the surroundings in which it did."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incoop.fronts.rdd.unstarted.broadcast import UnstartedBroadcast
from incoop.fronts.rdd.unstarted.settings import SparkSettings


@dataclass(slots=True)
class Asked:
    """What a program asked for when it made its context, and since."""

    settings: SparkSettings
    arguments: dict[str, Any]
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: str = field(default_factory=lambda: str(Path.cwd()))
    callsite: Any = None
    log_level: str | None = None
    broadcasts: list[UnstartedBroadcast] = field(default_factory=list)

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        """The environment and the folder that Spark would have been started in."""
        before, folder = dict(os.environ), _go_to(self.folder)
        _set_environment(self.environment)
        try:
            yield
        finally:
            # What Spark itself puts there stays.
            brought = {name: value for name, value in os.environ.items() if self.environment.get(name) != value}
            _set_environment({**before, **brought})
            if folder is not None:
                os.chdir(folder)


def _go_to(folder: str) -> str | None:
    """Where this process was; None where it stays, since one of the two was removed."""
    try:
        before = str(Path.cwd())
        os.chdir(folder)
    except OSError:
        return None
    return before


def _set_environment(wanted: dict[str, str]) -> None:
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
