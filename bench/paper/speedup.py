"""Figures 5, 6 and 10: work and time of an update against plain PySpark, of the first run, and the space it takes."""

from __future__ import annotations

from bench import changes
from bench.apps.app import App
from bench.paper.laboratory import Laboratory, sampled
from bench.paper.results import Sample

#: Runs of an unchanged input in a round: they take milliseconds.
_UNCHANGED = 3


def measure(lab: Laboratory, app: App) -> tuple[list[Sample], list[str]]:
    """Each round: plain PySpark, a first run, then updates, each from the unchanged input's state."""
    given = lab.input(app)
    size = len(given.base)
    # A comparison takes longer than a run: all that differs between changes is how much of it there is.
    least, most = min(filter(None, lab.size.sweep)), max(lab.size.sweep)
    samples: list[Sample] = []
    for round_ in range(lab.rounds):
        given.write(given.base)
        lab.say(f"{app.name}: plain PySpark, round {round_ + 1} of {lab.rounds}")
        samples.append(sampled("plain", round_, lab.plain.run(app, given.path), given=size))
        with lab.memoized() as inc:
            lab.say(f"{app.name}: first run, round {round_ + 1} of {lab.rounds}")
            first = inc.run(app, given.path)
            samples.append(sampled("first", round_, first, given=size, stored=inc.stored_bytes()))
            if round_ == 0:
                lab.check(app, inc, given, "the first run")
            given.settle()
            inc.run(app, given.path)
            for change in lab.size.sweep:
                lab.say(f"{app.name}: {change} % changed, round {round_ + 1} of {lab.rounds}")
                if change == 0:
                    runs = [inc.run(app, given.path) for _ in range(_UNCHANGED)]
                    samples += [sampled("update", round_, run, 0, given=size) for run in runs]
                    continue
                given.write(given.base)
                inc.run(app, given.path)
                fresh = given.fresh_for(change, lab.size.sweep)
                changed = changes.replace_chunks(given.base, change / 100, fresh, seed=100 * round_ + change)
                given.write(changed)
                samples.append(sampled("update", round_, inc.run(app, given.path), change, given=len(changed)))
                if round_ == 0 and change in (least, most):
                    lab.check(app, inc, given, f"{change} % changed")
    return samples, []
