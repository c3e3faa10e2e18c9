"""One report for the jobs that the steps of an mrjob job became."""

from __future__ import annotations

from collections.abc import Sequence

from incoop.engine.report import RunReport, StageCount


def total(name: str, reports: Sequence[RunReport], notes: Sequence[str]) -> RunReport:
    """Counts, keys and seconds added up; the input is that of the first job, and counters are mrjob's to show."""
    whole = RunReport(name)
    if reports:
        whole.generation = reports[0].generation
        whole.input_bytes, whole.fresh_bytes = reports[0].input_bytes, reports[0].fresh_bytes
    for stage in ("map", "combine", "reduce"):
        counts = [getattr(report, stage) for report in reports]
        setattr(whole, stage, StageCount(sum(c.tasks for c in counts), sum(c.executed for c in counts)))
    whole.keys_total = sum(report.keys_total for report in reports)
    whole.keys_reduced = sum(report.keys_reduced for report in reports)
    for stage in whole.seconds:
        whole.seconds[stage] = sum(report.seconds[stage] for report in reports)
    whole.warnings = list(dict.fromkeys([*notes, *(each for report in reports for each in report.warnings)]))
    return whole
