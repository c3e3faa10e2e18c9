"""What a script does in turn, once it is translated: values, which nothing has run yet for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from incoop.fronts.pig.syntax.nodes import PigNode
from incoop.fronts.pig.translation.scope import LoadedPath, ScriptRelation
from incoop.query.plan.single import Store

#: Where scans find what they read, by their names.
Loads = Mapping[str, LoadedPath]


@dataclass(frozen=True)
class ScriptStep:
    """Something to do, and the statement that it comes from."""

    statement: PigNode


@dataclass(frozen=True)
class StoreStep(ScriptStep):
    """Write a relation; with other outputs, when the batch ends."""

    plan: Store
    folder: Path
    loads: Loads
    #: Small files beside the part files, by their names.
    beside: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class DumpStep(ScriptStep):
    """Print a relation; it ends a batch."""

    relation: ScriptRelation
    loads: Loads


@dataclass(frozen=True)
class ShowStep(ScriptStep):
    """Print a text that is known already: DESCRIBE."""

    text: str


@dataclass(frozen=True)
class ExplainStep(ScriptStep):
    """Print the plans of relations, or of what is stored so far."""

    relations: tuple[ScriptRelation, ...]
    loads: Loads
    out: Path | None = None


@dataclass(frozen=True)
class IllustrateStep(ScriptStep):
    """Print a few rows of relations, from what is loaded to the one that is asked for."""

    relations: tuple[ScriptRelation, ...]
    loads: Loads


@dataclass(frozen=True)
class ShellStep(ScriptStep):
    """`fs`, `sh`, `rm`, … in a folder; what was stored before is written by then."""

    command: str
    words: tuple[str, ...]
    folder: Path


@dataclass(frozen=True)
class BatchEnd(ScriptStep):
    """EXEC: what was stored so far is written."""
