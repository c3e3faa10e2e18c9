"""What a run is told to do is what it does: one decision, that `explain`, `strict` and the run read."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

import incoop
from incoop.engine.driver import StageRun
from incoop.engine.stage import Outcome, RunOptions
from incoop.engine.stages.map_contract.stage import MapContract
from tests.end_to_end.jobs import total, words
from tests.end_to_end.places import CHUNKS, Place
from tests.end_to_end.test_features import some_lines

JOB = incoop.Job("decided", words, total, total)


def stage_of(place: Place, job: incoop.Job = JOB) -> MapContract:
    return MapContract(job, str(place.input), place.session.datasets)


def run(place: Place, stage: MapContract) -> Outcome:
    session = place.session
    return StageRun(stage, session._memo, session._workforce, RunOptions(CHUNKS)).execute()


def test_a_run_maps_the_chunks_that_were_decided_and_explained(place: Place) -> None:
    lines = some_lines()
    for edit in (lambda: None, lambda: lines.insert(200, "word1 word2 fresh"), lambda: lines.pop(10)):
        edit()
        place.write({"a.txt": lines})
        explained = place.session.explain(JOB, str(place.input))
        stage = stage_of(place)
        outcome = run(place, stage)
        decision = stage.decision
        assert decision.explanation() == explained  # also now that everything has run
        mapped = {bytes(decision.ids[chunk]) for chunk in decision.chunks}
        assert set(outcome.events.executed("map")) == mapped
        reused = {bytes(id_) for id_ in decision.ids.tolist()} - mapped
        assert set(outcome.events.reused("map")) == reused


def test_where_nothing_has_to_run_there_are_no_steps(place: Place) -> None:
    place.write({"a.txt": some_lines()})
    stage = stage_of(place)
    run(place, stage)
    assert [step.name for step in stage.decision.steps] == ["map", "contract"]
    again = stage_of(place)
    run(place, again)
    assert again.decision.steps == ()
    assert (again.decision.chunks, again.decision.nodes) == ((), ())
    assert again.decision.explanation().why == "nothing changed"


def test_a_decision_stays_as_it_was_made(place: Place) -> None:
    place.write({"a.txt": some_lines(50)})
    stage = stage_of(place)
    run(place, stage)
    with pytest.raises(FrozenInstanceError):
        stage.decision.chunks = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        stage.recalled.old = None  # type: ignore[misc]
