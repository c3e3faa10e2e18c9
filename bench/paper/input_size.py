"""Figure 7: time against input size, one chunk replaced."""

from __future__ import annotations

from bench import changes
from bench.apps.app import App
from bench.paper.laboratory import Laboratory, sampled
from bench.paper.results import Sample


def measure(lab: Laboratory, app: App) -> tuple[list[Sample], list[str]]:
    """Plain PySpark, a first run and an update for each size, by turns."""
    samples: list[Sample] = []
    for part in lab.size.parts:
        given = lab.input(app, part)
        size = len(given.base)
        for round_ in range(lab.rounds):
            lab.say(f"{app.name}: {size / 1e6:.1f} MB, round {round_ + 1} of {lab.rounds}")
            given.write(given.base)
            samples.append(sampled("plain", round_, lab.plain.run(app, given.path), part, given=size))
            with lab.memoized() as inc:
                samples.append(sampled("first", round_, inc.run(app, given.path), part, given=size))
                given.write(changes.replace_chunks(given.base, 0, given.fresh, round_))
                samples.append(sampled("update", round_, inc.run(app, given.path), part, given=size))
                if round_ == 0:
                    lab.check(app, inc, given, f"one chunk of {size / 1e6:.1f} MB")
    return samples, []
