"""What a watch decides, without a clock, a file or a job."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.durations import seconds_of
from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp
from incoop.engine.failures import JobFailed
from incoop.fronts.watch.decide import (
    Action,
    Condition,
    Standing,
    action,
    after_failure,
    after_success,
    folder_names,
    next_look,
)
from incoop.inchdfs.errors import DatasetNotFound, InputNotFound, InputUnreadable

STAMP = Stamp(10, 1, 1, 7, 1)
EDITED = replace(STAMP, mtime_ns=2, ctime_ns=2)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("500ms", 0.5),
        ("2m", 120),
        ("1h", 3600),
        ("1.5H", 5400),
        (" 2 m ", 120),
        (".5s", 0.5),
        ("1d", 86400),
    ],
)
def test_durations_are_as_people_write_them(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "s", "-3s", "3 fortnights", "1m30s", "٣s", "nan s", "infs", "9" * 400 + "s", "1e3s"]
)
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadCall, match="write 500ms, 30s, 2m, 1h or "):
        seconds_of(text)


@pytest.mark.parametrize(
    ("last", "now", "due"),
    [
        pytest.param(0, 0.2, (1, 30.0), id="a quick look waits for the next time"),
        pytest.param(4, 120.5, (5, 150.0), id="times do not drift"),
        pytest.param(0, 30.0, (1, 30.0), id="just in time"),
        pytest.param(0, 35.0, (1, 30.0), id="one that is late comes at once"),
        pytest.param(0, 95.0, (3, 90.0), id="of several missed ones only the last is made up for"),
        pytest.param(3, 95.5, (4, 120.0), id="and then the times are as before"),
    ],
)
def test_looks_are_due_at_fixed_times(last: int, now: float, due: tuple[int, float]) -> None:
    assert next_look(0.0, 30.0, last, now) == due


@given(st.floats(0.01, 1000), st.lists(st.floats(0, 5000), max_size=20))
def test_no_look_is_made_twice_and_no_time_passes_without_one(every: float, takes: list[float]) -> None:
    began, now, number = 1000.0, 1000.0, 0
    for seconds in takes:
        now += seconds
        before, (number, due) = number, next_look(began, every, number, now)
        assert number > before
        assert due == began + number * every
        assert due <= now + every * (1 + 1e-9) + 1e-6  # at once, or within one interval
        now = max(now, due)


def test_an_edited_file_is_loaded_again() -> None:
    assert action({"job.py": STAMP}, {"job.py": STAMP}) is Action.LOOK
    assert action({"job.py": EDITED}, {"job.py": STAMP}) is Action.LOAD


def test_a_job_file_that_is_gone_is_loaded_to_say_so() -> None:
    assert action({"job.py": None}, {"job.py": STAMP}) is Action.LOAD


def test_a_module_that_was_imported_since_is_no_change() -> None:
    assert action({"job.py": STAMP, "late.py": STAMP}, {"job.py": STAMP}) is Action.LOOK


def test_a_module_that_is_not_imported_any_more_is_no_change() -> None:
    assert action({"job.py": STAMP}, {"job.py": STAMP, "gone.py": STAMP}) is Action.LOOK


def test_code_that_does_not_load_is_tried_each_time() -> None:
    assert action({"job.py": STAMP}, None) is Action.LOAD


FAILED = JobFailed("count", "in.txt, line 3", "ValueError: x", "Traceback ...\n  in words")


def test_a_failure_is_said_whole_once_then_shortly_and_ever_less_often() -> None:
    standing, said = after_failure(Standing(Condition.CURRENT), FAILED)
    assert "in words" in said
    heard = []
    for _ in range(19):
        standing, said = after_failure(standing, FAILED)
        assert "in words" not in said
        heard.append(said)
    assert [number for number, said in enumerate(heard, 2) if said] == [2, 4, 8, 16]
    assert heard[0].startswith("still failing, at 2 looks: job 'count' failed at in.txt, line 3")
    assert after_success(standing) == (Standing(Condition.CURRENT), "works again")


def test_another_failure_is_said_whole_again() -> None:
    standing, _ = after_failure(Standing(), FAILED)
    standing, said = after_failure(standing, InputUnreadable("in.txt", "Permission denied"))
    assert standing.times == 1
    assert said.startswith("cannot read in.txt: Permission denied")


@pytest.mark.parametrize(
    "missing", [InputNotFound("in.txt", "no such file or folder"), DatasetNotFound("logs", "store", "none yet")]
)
def test_a_missing_input_is_waited_for_and_said_once(missing: Exception) -> None:
    standing, said = after_failure(Standing(), missing)
    assert standing.condition is Condition.WAITING
    assert said.startswith("waits for its input: ")
    for _ in range(10):
        standing, said = after_failure(standing, missing)
        assert said == ""
    assert after_success(standing)[1] == "the input is there"


def test_what_goes_well_is_not_said() -> None:
    assert after_success(Standing()) == after_success(Standing(Condition.CURRENT)) == (Standing(Condition.CURRENT), "")


@pytest.mark.parametrize("error", [ValueError(), ValueError("\n"), OSError(28, "No space left on device")])
def test_an_error_that_is_not_ours_is_known_by_its_name(error: Exception) -> None:
    assert after_failure(Standing(), error)[1].startswith(type(error).__name__)


def test_one_job_has_the_folder_and_several_have_one_each() -> None:
    assert folder_names([("logs", "top")]) == [""]
    assert folder_names([("logs", "top"), ("logs", "all"), ("b", "top")]) == ["logs.top", "logs.all", "b.top"]
