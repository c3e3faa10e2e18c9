"""Runs are found by job and stage, which no name of another job can stand in for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import incoop
from incoop.base.stage_path import SEPARATOR, StagePath
from incoop.memo import stats

names = st.text().filter(lambda text: SEPARATOR not in text)
paths = st.builds(StagePath, names, names)


@given(paths, paths)
def test_a_key_names_one_path(one: StagePath, other: StagePath) -> None:
    assert StagePath.of_key(one.key) == one
    assert (one.key == other.key) == (one == other)


def test_a_stage_is_shown_behind_its_job() -> None:
    assert (str(StagePath("a", "b")), str(StagePath("a"))) == ("a (b)", "a")


def lines(_: None, line: str) -> list[tuple[str, int]]:
    return [(line, 1)]


def test_a_job_that_is_called_as_a_stage_is_shown_has_runs_of_its_own(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("one\ntwo\n")
    with incoop.connect(tmp_path / "store") as session:
        stage = session.run(incoop.Job("words", lines, stage="combine"), str(text))
        alike = session.run(incoop.Job("words (combine)", lines), str(text))
        alone = session.run(incoop.Job("words", lines), str(text))
        again = session.run(incoop.Job("words", lines, stage="combine"), str(text))
        assert [result.report.generation for result in (stage, alike, alone, again)] == [1, 1, 1, 2]
        assert stage.report.job == alike.report.job == "words (combine)"
        assert list(again.changes()) == []
        shown = [job.job for job in stats(session._memo).jobs]
        assert shown == ["words", "words (combine)", "words (combine)"]


def test_a_name_that_could_be_a_path_is_refused() -> None:
    with pytest.raises(incoop.IncoopError, match="NUL"):
        incoop.Job("a\0b", lines)
