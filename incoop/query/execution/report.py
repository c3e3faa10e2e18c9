"""What a query ran and what it reused, stage by stage. Prints as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incoop.engine.report import RunReport


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage."""

    #: The plan node that it is for, and where it was written.
    node: str
    role: str
    place: str
    run: RunReport

    def as_dict(self) -> dict[str, Any]:
        return {"node": self.node, "role": self.role, "place": self.place, **self.run.as_dict()}


@dataclass(frozen=True, slots=True)
class QueryReport:
    """All stages, in the order in which they ran."""

    query: str
    stages: tuple[StageReport, ...]
    warnings: dict[str, int]

    @property
    def fresh_bytes(self) -> int:
        """Bytes that were mapped, of files and of results of stages."""
        return sum(stage.run.fresh_bytes for stage in self.stages)

    @property
    def keys_reduced(self) -> int:
        return sum(stage.run.keys_reduced for stage in self.stages)

    @property
    def nothing_ran(self) -> bool:
        """Whether every stage was reused as it was."""
        return not any(each.executed for stage in self.stages for each in (stage.run.map, stage.run.reduce))

    def as_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "stages": [stage.as_dict() for stage in self.stages],
            "warnings": dict(self.warnings),
        }

    def __str__(self) -> str:
        head = f"{'stage':<32}{'mapped':>14}{'of bytes':>14}{'keys reduced':>14}{'seconds':>9}"
        lines = [f"{self.query}: {len(self.stages)} stages", head]
        for stage in self.stages:
            name = f"{stage.node} {stage.role}".strip()
            run = stage.run
            lines.append(
                f"{name[:31]:<32}{run.fresh_bytes:>14,}{run.input_bytes:>14,}{run.keys_reduced:>14,}"
                f"{run.seconds['total']:>9.2f}"
            )
        lines += [f"{count:,} {kind}" for kind, count in self.warnings.items()]
        return "\n".join(lines)
