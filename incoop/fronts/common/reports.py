"""One report for the several jobs of the engine that are one job to the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from incoop.engine.report import RunReport, StageCount
from incoop.engine.running.counters import added_counts


def added_up(job: str, reports: Sequence[RunReport], notes: Iterable[str] = ()) -> RunReport:
    """Counts, keys, seconds, bytes of packs and counters added up; the input and the generation are the first job's.

    Warnings stand once each, behind the notes.
    """
    whole = RunReport(job)
    counters: Counter[str] = Counter()
    for stage in ("map", "combine", "reduce"):
        counts: list[StageCount] = [getattr(report, stage) for report in reports]
        setattr(whole, stage, StageCount(sum(each.tasks for each in counts), sum(each.executed for each in counts)))
    for report in reports:
        whole.keys_total += report.keys_total
        whole.keys_reduced += report.keys_reduced
        counters.update(report.counters)
        for name, texts in report.samples.items():
            whole.samples[name] = added_counts([whole.samples.get(name, {}), texts])
        for stage in whole.seconds:
            whole.seconds[stage] += report.seconds[stage]
        for stage in whole.moved_bytes:
            whole.local_bytes[stage] += report.local_bytes[stage]
            whole.moved_bytes[stage] += report.moved_bytes[stage]
    if reports:
        whole.generation = reports[0].generation
        whole.input_bytes, whole.fresh_bytes = reports[0].input_bytes, reports[0].fresh_bytes
    whole.counters = dict(counters)
    whole.warnings = list(dict.fromkeys([*notes, *(warning for report in reports for warning in report.warnings)]))
    return whole
