"""What a run did and, above all, did not do: read from its events, by the ids of tasks.

Equal ids have interchangeable results, so "the chunks of the first run are reused, but for the edited one" is a
sentence on sets, where a count would also be right of other chunks.
"""

from __future__ import annotations

from incoop.engine.events import DidExecute, DidReuse, Events, WillExecute
from incoop.engine.stage import Outcome
from incoop.result import Result

MAP, CONTRACT = "map", "contract"


def ran(run: Result | Outcome | Events, step: str = MAP) -> frozenset[bytes]:
    """Ids of the tasks of a step that ran; each ran once."""
    ids = _events(run).executed(step)
    assert len(set(ids)) == len(ids), "a task ran twice"
    return frozenset(ids)


def reused(run: Result | Outcome | Events, step: str = MAP) -> frozenset[bytes]:
    """Ids of the tasks of a step whose results were there."""
    return frozenset(_events(run).reused(step))


def tasks(run: Result | Outcome | Events, step: str = MAP) -> frozenset[bytes]:
    """Ids of all tasks of a step; none both ran and was reused."""
    assert ran(run, step).isdisjoint(reused(run, step))
    return ran(run, step) | reused(run, step)


def nothing_ran(run: Result | Outcome | Events) -> bool:
    """Whether no task of any step went to a runner."""
    events = _events(run)
    return not [*events.of(WillExecute), *events.of(DidExecute)] and bool([*events.of(DidReuse)])


def _events(run: Result | Outcome | Events) -> Events:
    return run if isinstance(run, Events) else run.events
