"""Figure 8, and one half of figure 10: memoized tasks alone against tasks and contraction."""

from __future__ import annotations

from bench import changes
from bench.apps.app import App
from bench.paper.laboratory import Laboratory, sampled
from bench.paper.results import Sample
from bench.runners.memoized import contraction_job, task_job

VARIANTS = {"task": task_job, "contraction": contraction_job}

#: Percent of the chunks; those of the sweep that say most.
CHANGES = (1, 5, 25)

NOTE = (
    "Task: the combiner runs inside each chunk's map task and nowhere else; a changed key's values are gathered\n"
    "from all chunks and reduced again. Contraction: the tree of combiners as always. In the paper's Task a reduce\n"
    "task runs again as a whole, so the step between the two is smaller here."
)


def measure(lab: Laboratory, app: App) -> tuple[list[Sample], list[str]]:
    """Both variants by turns: a first run, then updates from the unchanged input's state."""
    given = lab.input(app, lab.size.side)
    size = len(given.base)
    samples: list[Sample] = []
    for round_ in range(lab.rounds):
        for variant, job_of in VARIANTS.items():
            lab.say(f"{app.name}: {variant}, round {round_ + 1} of {lab.rounds}")
            given.write(given.base)
            with lab.memoized(job_of) as inc:
                first = inc.run(app, given.path)
                samples.append(sampled(f"{variant} first", round_, first, given=size, stored=inc.stored_bytes()))
                for change in (change for change in lab.size.sweep if change in CHANGES):
                    given.write(given.base)
                    inc.run(app, given.path)
                    given.write(changes.replace_chunks(given.base, change / 100, given.fresh, 100 * round_ + change))
                    update = inc.run(app, given.path)
                    samples.append(sampled(f"{variant} update", round_, update, change, given=size))
                if round_ == 0:
                    lab.check(app, inc, given, variant)
    return samples, []
