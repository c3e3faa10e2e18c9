"""Jobs with every feature of mrjob give what its own runner gives, before and after changes of their input."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

from incoop.memo.kept_bytes import KeptBytes

from ..end_to_end.places import Place
from .mrjob_runs import EXAMPLES, FEW_CHUNKS, Memoized, plain
from .test_mrjob_examples import some_text

JOBS = Path(__file__).parent / "mrjob_jobs"


@pytest.fixture
def run(place: Place) -> Memoized:
    return Memoized(place.session)


def beside(place: Place, *names: str) -> Path:
    """Copies of job files in a folder of their own, to be edited; the first one's path."""
    folder = place.folder / "jobs"
    folder.mkdir(exist_ok=True)
    for name in names:
        shutil.copy(JOBS / name, folder / name)
    return folder / names[0]


@pytest.mark.parametrize(
    ("name", "runner"),
    [
        pytest.param("stateful", "inline", id="state in init, final and attributes"),
        pytest.param("numbered", "inline", id="a reducer that shows its tasks"),
        pytest.param("steps", "inline", id="four steps of all kinds"),
        pytest.param("protocols", "inline", id="pickles, reprs and sorted values"),
        pytest.param("raw_protocols", "inline", id="raw bytes and a protocol of the user's"),
        pytest.param("commands", "local", id="commands and filters"),
    ],
)
def test_a_job_gives_what_mrjob_gives_before_and_after_a_change(name: str, runner: str, place: Place) -> None:
    if runner == "local":
        place.chunks = FEW_CHUNKS
    run = Memoized(place.session)
    job, path = JOBS / f"{name}.py", place.input / "input.txt"
    lines = some_text(120)
    for edit in (None, "an umbrella\tis new |here|"):
        if edit is not None:
            lines.insert(60, edit)
        place.write(lines)
        expected = plain(job, path, runner=runner)
        assert run(job, path) == expected
    assert run(job, path) == expected
    assert run.report.map.executed == 0 and run.report.keys_reduced == 0


@pytest.mark.parametrize("name", ["stateful", "numbered", "steps"])
def test_an_empty_input_gives_what_mrjob_gives(name: str, place: Place, run: Memoized) -> None:
    place.write([])
    path = place.input / "input.txt"
    assert run(JOBS / f"{name}.py", path) == plain(JOBS / f"{name}.py", path)


def test_a_step_that_keeps_something_in_globals_is_run_by_mrjob_and_the_others_are_memoized(
    place: Place, run: Memoized
) -> None:
    job, path = JOBS / "kept_globals.py", place.input / "input.txt"
    lines = some_text(120)
    for edit in (None, "an umbrella is new here", None):
        if edit is not None:
            lines.insert(60, edit)
        place.write(lines)
        assert run(job, path) == plain(job, path)
        assert [note.partition(":")[0] for note in run.runner.notes] == ["step 2"]
        assert run.runner.counters()[1]["asked"]["words"] == len({word for line in lines for word in line.split()})
    assert run.report.map.executed == 0


def test_an_error_in_a_step_that_mrjob_runs_is_the_users_alone(place: Place, run: Memoized) -> None:
    job = beside(place, "kept_globals.py")
    job.write_text(job.read_text().replace("sum(place * count for place, count in counts)", "counts.missing"))
    place.write(some_text(20))
    with pytest.raises(AttributeError, match="missing") as error:
        run(job, place.input / "input.txt")
    assert error.value.__context__ is None


def test_inputs_are_paths_globs_folders_compressed_files_and_standard_input(place: Place, run: Memoized) -> None:
    job = JOBS / "raw_protocols.py"
    place.write({"a1.txt": some_text(30), "a2.txt": some_text(30, 2)})
    (place.input / "more").mkdir()
    (place.input / "more" / "c.txt").write_text("the last line has no newline")
    (place.folder / "b.gz").write_bytes(gzip.compress(b"packed words\nof a file\r\n"))
    given = b"from standard\rinput\nand no newline at the end"
    inputs: list[Any] = [place.input / "a*.txt", place.input / "more", place.folder / "b.gz", "-"]
    assert run(job, *inputs, given=given) == plain(job, *inputs, given=given)
    assert run(job, given=given) == plain(job, given=given)


@pytest.mark.parametrize(
    ("kind", "contracts"),
    [("sums", True), ("floats", True), ("other keys", False), ("other values", False), ("counts", False)],
)
def test_a_combiner_that_cannot_be_contracted_runs_in_map_tasks(
    kind: str, contracts: bool, place: Place, run: Memoized
) -> None:
    job, path = JOBS / "combiners.py", place.input / "input.txt"
    lines = some_text(80)
    for edit in (None, "fox fox dog"):
        if edit is not None:
            lines.insert(40, edit)
        place.write(lines)
        assert run(job, "--kind", kind, path) == plain(job, "--kind", kind, path)
        assert bool(run.runner.notes) != contracts


def test_side_files_options_and_environment_reach_the_tasks_and_their_identity(place: Place, run: Memoized) -> None:
    job = beside(place, "side_files.py", "neighbour.py")
    (job.parent / "stop.txt").write_text("the a")
    (job.parent / "tables").mkdir()
    (job.parent / "tables" / "names.txt").write_text("fox Fox,\ndog Dog.\n")
    (job.parent / "more.txt").write_text("lazy")
    (job.parent / "extra.txt").write_text("over")
    place.write(some_text(60))
    path = place.input / "input.txt"

    def mapped(*arguments: object) -> int:
        """How many chunks a run maps, whose output is mrjob's."""
        assert run(job, *arguments, path) == plain(job, *arguments, path)
        return run.report.map.executed

    assert mapped() > 3
    assert mapped() == 0
    assert mapped("--suffix", "?") > 3
    assert mapped("--suffix", "?", "--more", job.parent / "more.txt") > 3
    assert mapped("--files", job.parent / "extra.txt") > 3
    assert mapped("--cmdenv", "MY_VARIABLE=7") > 3
    assert mapped("--jobconf", "my.job.setting=other") > 3
    assert mapped() == 0
    (job.parent / "stop.txt").write_text("the a quick")
    assert mapped() > 3
    (job.parent / "tables" / "names.txt").write_text("fox Wolf,\ndog Dog.\n")
    assert mapped() > 3
    (job.parent / "neighbour.py").write_text((JOBS / "neighbour.py").read_text().replace("lower", "upper"))
    assert mapped() > 3
    job.write_text("# a comment\n" + job.read_text())
    assert mapped() == 0
    moved = job.parent.with_name("moved")
    job.parent.rename(moved)
    job = moved / job.name
    assert mapped() == 0


def test_counters_are_those_of_mrjob_also_for_what_is_reused(place: Place, run: Memoized) -> None:
    job = beside(place, "side_files.py", "neighbour.py")
    (job.parent / "stop.txt").write_text("the a")
    (job.parent / "tables").mkdir()
    (job.parent / "tables" / "names.txt").write_text("fox Fox,\n")
    lines = some_text(60)
    path = place.input / "input.txt"
    for edit in (None, "the fox", None):
        if edit is not None:
            lines.insert(30, edit)
        place.write(lines)
        output = run(job, path)
        words = [word for line in lines for word in line.split()]
        stopped = sum(word in ("the", "a") for word in words)
        assert run.runner.counters() == [
            {
                "words": {"stopped": stopped, "kept": len(words) - stopped},
                "keys": {"reduced; all": len(output.splitlines())},
            }
        ]


def test_output_folders_are_mrjobs(place: Place, run: Memoized) -> None:
    job, path, out, steps = JOBS / "steps.py", place.input / "input.txt", place.folder / "out", place.folder / "steps"
    place.write(some_text(50))
    whole = plain(job, path)
    assert run(job, "-o", out, "--step-output-dir", steps, path) == b""
    assert b"".join(part.read_bytes() for part in sorted(out.glob("part-*"))) == whole
    assert any(steps.rglob("part-*"))
    (out / "part-00999").write_text("left over")
    (out / "notes.txt").write_text("the user's own")
    assert run(job, "-o", out, "--cat-output", path) == whole
    assert not (out / "part-00999").exists() and (out / "notes.txt").exists()
    assert run(job, "--no-output", path) == b""


def test_a_reducer_without_state_is_called_for_changed_keys_only(place: Place, run: Memoized) -> None:
    job, path = JOBS / "combiners.py", place.input / "input.txt"
    lines = some_text(300)
    place.write(lines)
    run(job, "--kind", "sums", path)
    lines.insert(150, "something new")
    place.write(lines)
    assert run(job, "--kind", "sums", path) == plain(job, "--kind", "sums", path)
    assert run.report.keys_reduced == 2
    assert 0 < run.report.map.executed < run.report.map.tasks / 4


def test_an_unchanged_job_reads_its_lines_as_they_were_last_printed(place: Place, run: Memoized) -> None:
    job, path = EXAMPLES / "mr_word_freq_count.py", place.input / "input.txt"
    lines = some_text(120)
    place.write(lines)
    expected = run(job, path)
    (kept,) = (place.store / "memo" / "mrjob-lines").iterdir()
    stored = KeptBytes(kept, place.session._memo.session.signer)
    body = stored.read()
    assert body is not None and expected in body
    marked = bytes(reversed(expected))
    stored.write(body.replace(expected, marked))
    assert run(job, path) == marked  # no pair of the result was read

    kept.write_bytes(kept.read_bytes().replace(marked, expected))  # unsigned
    assert run(job, path) == expected == plain(job, path)
    assert expected in kept.read_bytes()

    lines.insert(60, "an umbrella")
    place.write(lines)
    stored.write(body)
    assert run(job, path) == plain(job, path)


def test_lines_that_were_kept_of_another_output_are_not_used(place: Place, run: Memoized) -> None:
    job, path = EXAMPLES / "mr_word_freq_count.py", place.input / "input.txt"
    kept = place.store / "memo" / "mrjob-lines"
    histories = []
    for words in ("one two three", "one two", "four"):
        place.write([words] * 20)
        assert run(job, path) == plain(job, path)
        (file,) = kept.iterdir()
        histories.append(file.read_bytes())
        file.write_bytes(histories[0])  # signed, and of the first run
    place.write(["one two three"] * 20)
    assert run(job, path) == plain(job, path)
