"""Beyond the paper: changes that are no replaced chunks, down to the hard case of records changed everywhere."""

from __future__ import annotations

from collections.abc import Callable

from bench import changes
from bench.apps.app import App
from bench.paper.laboratory import Input, Laboratory, sampled
from bench.paper.results import Sample


def _inserted(given: Input, seed: int) -> bytes:
    return changes.insert_record(given.base, seed, given.fresh[: given.fresh.index(b"\n") + 1])


EDITS: dict[str, Callable[[Input, int], bytes]] = {
    "one record inserted": _inserted,
    "one record deleted": lambda given, seed: changes.delete_record(given.base, seed),
    "5 % appended": lambda given, seed: changes.append(given.base, 0.05, given.fresh),
    "eight sections permuted": lambda given, seed: changes.permute_sections(given.base, seed),
    "1 % of the records changed everywhere": lambda given, seed: changes.change_records(
        given.base, 0.01, given.fresh, seed
    ),
}


def measure(lab: Laboratory, app: App) -> tuple[list[Sample], list[str]]:
    """Each round: plain PySpark, then every edit, each from the unchanged input's state."""
    given = lab.input(app, lab.size.side)
    samples: list[Sample] = []
    for round_ in range(lab.rounds):
        given.write(given.base)
        lab.say(f"{app.name}: plain PySpark, round {round_ + 1} of {lab.rounds}")
        samples.append(sampled("plain", round_, lab.plain.run(app, given.path), given=len(given.base)))
        with lab.memoized() as inc:
            inc.run(app, given.path)
            for name, edit in EDITS.items():
                lab.say(f"{app.name}: {name}, round {round_ + 1} of {lab.rounds}")
                given.write(given.base)
                inc.run(app, given.path)
                edited = edit(given, round_)
                given.write(edited)
                samples.append(sampled(name, round_, inc.run(app, given.path), given=len(edited)))
                if round_ == 0:
                    lab.check(app, inc, given, name)
    return samples, []
