"""What was measured, as plain values: every timed run is a sample, the samples of one experiment and app an entry.

Contract: results.json alone is enough to draw every plot and to write the page. An entry is whole: it is written when
its experiment ended, and replaces the one of an earlier run.
"""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: Results of another format are not read.
FORMAT = 1

_COLUMNS = (
    "experiment", "app", "size", "case", "change", "round", "seconds", "work", "input_bytes", "stored_bytes",
    "mapped", "chunks", "reduced_keys", "keys", "chunk_s", "map_s", "contract_s", "reduce_s",
)  # fmt: skip


class BadResults(Exception):
    """A results.json that cannot be used; says why and what to do."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed run."""

    #: Who ran what: "plain", "first", "update", "append", or what the experiment says.
    case: str
    round: int
    seconds: float
    #: Summed task time and the driver's processor time, in seconds.
    work: float | None = None
    #: How much of the input was changed, in percent; or what else the case varies.
    change: float | None = None
    input_bytes: int | None = None
    stored_bytes: int | None = None
    #: Of incoop's report: seconds by phase, tasks, keys.
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One experiment on one application."""

    experiment: str
    app: str
    size: str
    #: Rounds, each of which runs every case.
    repeats: int
    when: str
    commit: str
    machine: dict[str, Any]
    samples: list[Sample]
    #: What a reader must know: what was skipped, what was compared.
    notes: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.experiment}/{self.app}"


@dataclass(slots=True)
class Results:
    """All entries of one size."""

    size: str
    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        self.entries[entry.key] = entry

    def of(self, experiment: str) -> list[Entry]:
        return [entry for entry in self.entries.values() if entry.experiment == experiment]

    def save(self, folder: Path) -> None:
        """Write results.json and results.csv, each whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        whole = {"format": FORMAT, "size": self.size, "entries": [asdict(entry) for entry in self.entries.values()]}
        _write(folder / "results.json", json.dumps(whole, indent=1) + "\n")
        rows = [_row(entry, sample) for entry in self.entries.values() for sample in entry.samples]
        temporary = folder / "results.csv.new"
        with temporary.open("w", newline="") as file:
            writer = csv.DictWriter(file, _COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        temporary.replace(folder / "results.csv")


def load(folder: Path) -> Results | None:
    """The results in a folder; None where there are none."""
    path = folder / "results.json"
    if not path.exists():
        return None
    try:
        whole = json.loads(path.read_text())
        if whole["format"] != FORMAT:
            raise BadResults(f"{path} has format {whole['format']}, not {FORMAT}; measure again with --replace.")
        results = Results(whole["size"])
        for entry in whole["entries"]:
            samples = [Sample(**sample) for sample in entry.pop("samples")]
            results.add(Entry(**entry, samples=samples))
    except (ValueError, KeyError, TypeError) as error:
        raise BadResults(f"{path} is damaged ({error}); measure again with --replace.") from error
    return results


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text)
    temporary.replace(path)


def _row(entry: Entry, sample: Sample) -> dict[str, Any]:
    report = sample.report
    seconds = report.get("seconds", {})
    return {
        "experiment": entry.experiment,
        "app": entry.app,
        "size": entry.size,
        **{name: getattr(sample, name) for name in ("case", "change", "round", "input_bytes", "stored_bytes")},
        "seconds": round(sample.seconds, 4),
        "work": None if sample.work is None else round(sample.work, 4),
        "mapped": report.get("map", {}).get("executed"),
        "chunks": report.get("map", {}).get("tasks"),
        "reduced_keys": report.get("keys", {}).get("reduced"),
        "keys": report.get("keys", {}).get("total"),
        **{f"{phase}_s": seconds.get(phase) for phase in ("chunk", "map", "contract", "reduce")},
    }
