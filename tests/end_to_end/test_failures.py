"""A user's error is told with its place, keeps nothing wrong, and costs only what it stopped."""

from __future__ import annotations

import pickle
import random
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.engine.failures import AtKey, AtRecord

from .histories import as_set, by_hand, some_lines
from .jobs import listed, total, words
from .places import Place

LINES = some_lines(random.Random(3), 300)


def stumbling(_: Any, line: str) -> Any:
    for word in line.split():
        if word == "stone":
            raise ValueError(f"stumbled over {word}")
        yield word, 1


def careful(_: Any, line: str) -> Any:
    for word in line.split():
        if word == "stone":
            continue
        yield word, 1


def test_a_failing_mapper_is_told_with_its_record_file_and_line(place: Place) -> None:
    place.write([*LINES[:200], "a stone here", *LINES[200:]])
    with pytest.raises(incoop.JobFailed) as failed:
        place.run(incoop.Job("walk", stumbling, total, total))
    said = str(failed.value)
    assert f"{place.input / 'input.txt'}, line 201" in said
    assert "'a stone here'" in said
    assert "ValueError: stumbled over stone" in said
    assert 'raise ValueError(f"stumbled over {word}")' in failed.value.trace
    assert "incoop/engine/stages/map_contract/mapping.py" not in failed.value.trace
    assert failed.value.place == AtRecord(f"{place.input / 'input.txt'}, line 201", "'a stone here'")
    assert failed.value.cause is None  # it is the user's
    assert str(pickle.loads(pickle.dumps(failed.value))) == said


@pytest.mark.parametrize("combiner", [total, None])
def test_what_was_finished_before_a_failure_is_not_mapped_again(combiner: Any, place: Place) -> None:
    job = incoop.Job("walk", stumbling, total, combiner)
    place.write([*LINES, "a stone here"])
    with pytest.raises(incoop.JobFailed):
        place.run(job)
    with pytest.raises(incoop.JobFailed):  # nothing of the failed chunk was kept
        place.run(job)
    repaired = [*LINES, "a stoney path here"]
    place.write(repaired)
    result = place.run(job)
    assert as_set(result.collect()) == as_set(by_hand(job, {"input.txt": repaired}))
    # Of eight groups of chunks one stopped at its last chunk.
    assert result.report.map.executed <= 2


def leaving(key: Any, values: Any) -> Any:
    for _ in values:
        sys.exit("enough")
    yield key, 0


@pytest.mark.parametrize("role", ["mapper", "combiner", "reducer"])
def test_a_function_that_ends_its_process_fails_as_one_that_raises(role: str, place: Place) -> None:
    place.write(LINES)
    functions: dict[str, Any] = {"mapper": words, "combiner": total, "reducer": total, role: leaving}
    with pytest.raises(incoop.JobFailed, match="SystemExit: enough"):
        place.run(incoop.Job("leaves", **functions))
    assert place.run(incoop.Job("leaves", words, total, total)).collect()


def reading(_: Any, line: str) -> Any:
    weight = int(Path(line.split()[-1]).read_text()) if "/" in line else 1
    if "stone" in line.split():
        raise ValueError("stumbled")
    yield "all", weight


def test_what_was_finished_before_a_failure_is_kept_also_where_functions_read_files(place: Place) -> None:
    (place.folder / "weight").write_text("3")
    lines = [*LINES, f"see {place.folder / 'weight'}"]
    place.write([*lines, "a stone here"])
    job = incoop.Job("reads", reading, total, total)
    with pytest.raises(incoop.JobFailed):
        place.run(job)
    place.write([*lines, "a stoney path here"])
    result = place.run(job)
    assert result.as_dict() == {"all": len(lines) + 3}
    assert result.report.map.executed <= 2


def test_a_repaired_mapper_gives_the_right_result(place: Place) -> None:
    lines = [*LINES, "a stone here"]
    place.write(lines)
    with pytest.raises(incoop.JobFailed):
        place.run(incoop.Job("walk", stumbling, total, total))
    job = incoop.Job("walk", careful, total, total)
    assert as_set(place.run(job).collect()) == as_set(by_hand(job, {"input.txt": lines}))


def failing_combiner(key: Any, values: Any) -> Any:
    amount = sum(values)
    if amount > 20:
        raise ArithmeticError(f"{key} is too much")
    yield key, amount


def failing_reducer(key: Any, values: Any) -> Any:
    yield key, 0
    if key == "w7":
        raise KeyError("no seventh word")


def test_a_combiner_that_fails_in_the_tree_is_told_with_its_key(place: Place) -> None:
    place.write(["often"] * 15 + LINES + ["often"] * 15)
    with pytest.raises(incoop.JobFailed) as failed:
        place.run(incoop.Job("combine", words, total, failing_combiner))
    assert "is too much" in str(failed.value)
    assert "in failing_combiner" in failed.value.trace


def test_a_combiner_that_fails_in_a_map_task_is_told_with_its_key(place: Place) -> None:
    place.write(["often " * 30])
    with pytest.raises(incoop.JobFailed) as failed:
        place.run(incoop.Job("combine", words, total, failing_combiner))
    assert "often is too much" in str(failed.value)
    assert isinstance(failed.value.place, AtKey) and failed.value.place.in_chunk


@pytest.mark.parametrize("combiner", [total, None])
def test_a_failing_reducer_is_told_with_its_key_and_keeps_no_output(combiner: Any, place: Place) -> None:
    place.write([*LINES, "w7"])
    for _ in range(2):
        with pytest.raises(incoop.JobFailed) as failed:
            place.run(incoop.Job("reduce", words, failing_reducer, combiner))
        assert "key 'w7'" in str(failed.value)
        assert failed.value.place == AtKey("'w7'", "w7")
        assert "no seventh word" in str(failed.value)
        assert "in failing_reducer" in failed.value.trace
    repaired = incoop.Job("reduce", words, total, combiner)
    result = place.run(repaired)
    assert result.report.map.executed == 0
    assert as_set(result.collect()) == as_set(by_hand(repaired, {"input.txt": [*LINES, "w7"]}))


def returns_none(_: Any, line: str) -> Any:
    line.split()


def returns_text(_: Any, line: str) -> Any:
    return ["three"]


def yields_single(_: Any, line: str) -> Any:
    yield 7


def unhashable(_: Any, line: str) -> Any:
    yield [line], 1


def takes_one(line: str) -> Any:
    yield line, 1


def gives_lock(_: Any, line: str) -> Any:
    yield line, threading.Lock()


def gives_local_class(_: Any, line: str) -> Any:
    class Local:
        pass

    yield line, Local()


def fails_midway(_: Any, line: str) -> Any:
    yield line, 1
    yield line, 2
    raise RuntimeError("midway")


def none_reducer(key: Any, values: Any) -> Any:
    list(values)


def lock_reducer(key: Any, values: Any) -> Any:
    yield key, threading.Lock()


@pytest.mark.parametrize("combiner", [total, None], ids=["combined", "not combined"])
@pytest.mark.parametrize(
    ("mapper", "said"),
    [
        pytest.param(returns_none, "the mapper returns_none has to yield or return", id="None"),
        pytest.param(returns_text, "the mapper returns_text has to yield or return", id="no pair"),
        pytest.param(yields_single, "the mapper yields_single has to yield or return", id="a number"),
        pytest.param(unhashable, "the mapper unhashable emitted a key that cannot be hashed", id="unhashable key"),
        pytest.param(takes_one, "the mapper takes_one takes two arguments", id="one argument"),
        pytest.param(gives_lock, "cannot be stored", id="unpicklable value"),
        pytest.param(gives_local_class, "cannot be stored", id="object of a local class"),
        pytest.param(fails_midway, "RuntimeError: midway", id="a generator that fails midway"),
    ],
)
def test_a_mapper_that_gives_no_pairs_is_told_by_name(mapper: Any, said: str, combiner: Any, place: Place) -> None:
    if "cannot be stored" in said and combiner is not None:
        pytest.skip("a combiner would fail on such values first")
    place.write(["one line", "another"])
    with pytest.raises(incoop.IncoopError) as failed:
        place.run(incoop.Job("bad", mapper, listed if combiner is None else total, combiner))
    assert said in str(failed.value)


@pytest.mark.parametrize(
    ("reducer", "said"),
    [
        pytest.param(none_reducer, "the reducer none_reducer has to yield or return", id="None"),
        pytest.param(lock_reducer, "cannot be stored", id="unpicklable"),
    ],
)
def test_a_reducer_that_gives_no_pairs_is_told_by_name(reducer: Any, said: str, place: Place) -> None:
    place.write(["one line", "another"])
    with pytest.raises(incoop.IncoopError) as failed:
        place.run(incoop.Job("bad", words, reducer))
    assert said in str(failed.value)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: incoop.Job("", words, total), id="no name"),
        pytest.param(lambda: incoop.Job("x", "words", total), id="a mapper that is text"),  # type: ignore[arg-type]
        pytest.param(lambda: incoop.Job("x", words, 3), id="a reducer that is a number"),  # type: ignore[arg-type]
        pytest.param(lambda: incoop.Job("x", words, combiner=total), id="a combiner without a reducer"),
        pytest.param(lambda: incoop.Job("x", words, total, shards=3), id="shards that are no power of two"),
        pytest.param(lambda: incoop.Job("x", {}, total), id="no mapper"),
    ],
)
def test_a_wrong_job_is_refused(make: Any) -> None:
    with pytest.raises(incoop.BadCall):
        make()


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(lambda folder: folder / "missing.txt", id="a missing file"),
        pytest.param(lambda folder: str(folder / "*.nothing"), id="a glob without a match"),
        pytest.param(lambda folder: folder / "empty", id="a folder without files"),
        pytest.param(lambda folder: [], id="an empty list"),
        pytest.param(lambda folder: 7, id="a number"),
        pytest.param(lambda folder: [folder, None], id="a list with None"),
        pytest.param(lambda folder: None, id="None"),
        pytest.param(lambda folder: {"a": folder}, id="a dict for one mapper"),
        pytest.param(lambda folder: "inchdfs:/nothing", id="a dataset that is not there"),
        pytest.param(lambda folder: b"bytes", id="bytes"),
    ],
)
def test_a_wrong_input_is_refused(inputs: Any, place: Place) -> None:
    (place.folder / "empty").mkdir()
    with pytest.raises(incoop.IncoopError) as refused:
        place.session.run(incoop.Job("x", words, total), inputs(place.folder))
    assert str(refused.value)


def test_a_job_that_is_no_job_is_refused(place: Place) -> None:
    place.write(LINES)
    with pytest.raises(incoop.BadCall):
        place.session.run(words, str(place.input))  # type: ignore[arg-type]


def test_an_unreadable_file_is_told(place: Place) -> None:
    place.write(LINES)
    file = place.input / "input.txt"
    job = incoop.Job("x", words, total, total)
    place.run(job)
    file.unlink()
    file.symlink_to(Path("/nonexistent/file"))
    with pytest.raises(incoop.IncoopError, match=r"input\.txt|nonexistent"):
        place.run(job)
    file.unlink()
    place.write(LINES)
    assert place.run(job).report.map.executed == 0
