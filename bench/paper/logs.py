"""Figure 11: log processing, an update after an append against plain PySpark on the longer log."""

from __future__ import annotations

from bench import changes
from bench.apps.app import App
from bench.paper.laboratory import Laboratory, sampled
from bench.paper.results import Sample


def measure(lab: Laboratory, app: App) -> tuple[list[Sample], list[str]]:
    """Each round: a first run; then for each append, both on the longer log, incoop from the first log's state."""
    given = lab.input(app)
    samples: list[Sample] = []
    for round_ in range(lab.rounds):
        given.write(given.base)
        with lab.memoized() as inc:
            lab.say(f"{app.name}: first run, round {round_ + 1} of {lab.rounds}")
            samples.append(sampled("first", round_, inc.run(app, given.path), given=len(given.base)))
            for change in lab.size.appends:
                lab.say(f"{app.name}: {change} % appended, round {round_ + 1} of {lab.rounds}")
                given.write(given.base)
                inc.run(app, given.path)
                longer = changes.append(given.base, change / 100, given.fresh_for(change, lab.size.appends))
                given.write(longer)
                samples.append(sampled("update", round_, inc.run(app, given.path), change, given=len(longer)))
                samples.append(sampled("plain", round_, lab.plain.run(app, given.path), change, given=len(longer)))
                if round_ == 0:
                    lab.check(app, inc, given, f"{change} % appended")
    return samples, []
