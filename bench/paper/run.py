"""Run experiments one after the other; what was measured is kept after each."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import data
from bench.apps import APPS
from bench.paper.experiments import EXPERIMENTS, Experiment
from bench.paper.laboratory import Laboratory, own_parts, spark_session
from bench.paper.machine import commit, machine_facts, now
from bench.paper.results import Entry, Results
from bench.paper.sizes import Size

Say = Callable[[str], None]


def planned(experiments: Sequence[str], apps: Sequence[str]) -> list[tuple[Experiment, str]]:
    """What to measure, in order; without names, everything."""
    return [
        (experiment, app)
        for experiment in EXPERIMENTS.values()
        for app in experiment.apps
        if (not experiments or experiment.name in experiments) and (not apps or app in apps)
    ]


def run(
    plan: list[tuple[Experiment, str]],
    size: Size,
    rounds: int,
    output: Path,
    results: Results,
    say: Say,
    work: Path | None = None,
    text: Path | None = None,
) -> None:
    """Measure, and write results.json after every entry, so that nothing is lost when the next one fails."""
    content = data.real_text(text) if text is not None else None
    for app in {app for _, app in plan if content is not None and app in APPS and APPS[app].kind == "text"}:
        own_parts(content or b"", size.input_bytes[app])  # hours later would be late
    folder = Path(tempfile.mkdtemp(prefix="incoop-evaluation-", dir=work))
    total = sum(experiment.weight for experiment, _ in plan)
    done = 0.0
    try:
        with spark_session(folder) as spark:
            lab = Laboratory(size, folder, rounds, spark, say, content)
            started = time.monotonic()
            for number, (experiment, app) in enumerate(plan, 1):
                left = f", about {_minutes((time.monotonic() - started) / done * (total - done))} left" if done else ""
                say(f"[{number} of {len(plan)}] {experiment.name} ({experiment.shows}): {app}{left}")
                facts = machine_facts()
                samples, notes = experiment.measure(lab, APPS.get(app))
                if text is not None and app in APPS and APPS[app].kind == "text":
                    notes.append(f"{experiment.name}, {app}: the text is {text.name}.")
                results.add(Entry(experiment.name, app, size.name, rounds, now(), commit(), facts, samples, notes))
                results.save(output)
                for note in notes:
                    say(note)
                done += experiment.weight
                lab.forget_inputs()
            say(f"measured in {_minutes(time.monotonic() - started)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
