"""A run on a window gives what its records give, however the window moved; and what moved is what runs."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop import inchdfs, job_session
from incoop.engine.chosen import ChosenChunks, OneLook
from incoop.engine.failures import JobFailed
from tests.cli.command import incoop as command
from tests.events import nothing_ran, ran, reused

CHUNKS = inchdfs.ChunkSettings(average=1 << 10)


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split()[1:]:
        yield word, 1


def lengths(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split()[1:]:
        yield word, len(line)


def total(word: str, counts: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, sum(counts)


def longest(word: str, found: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield word, max(found)


def listed(word: str, found: Iterable[int]) -> Iterator[tuple[str, list[int]]]:
    yield word, list(found)


def time_of(line: str) -> float | None:
    first = line.split()[0]
    return None if first == "-" else float(first)


JOBS = [
    incoop.Job("count", mapper=words, combiner=total, reducer=total),
    incoop.Job("longest", mapper=lengths, combiner=longest, reducer=longest),
    incoop.Job("listed", mapper=lengths, reducer=listed),
]


def expected(job: incoop.Job, lines: list[str]) -> dict[str, Any]:
    groups: dict[str, list[int]] = {}
    for line in lines:
        for word, value in job.mapper(None, line):  # type: ignore[operator]
            groups.setdefault(word, []).append(value)
    return {word: answer for key, found in groups.items() for word, answer in job.reducer(key, found)}  # type: ignore[misc]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[incoop.Session]:
    with incoop.connect(tmp_path_factory.mktemp("windows") / "store", chunks=CHUNKS) as session:
        yield session


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[incoop.Session]:
    with incoop.connect(tmp_path / "scratch", chunks=CHUNKS) as session:
        yield session


def log_lines(rng: random.Random, start: float, count: int) -> list[str]:
    """Lines of a log, nearly in order of their times; some have none."""
    lines = []
    for at in range(count):
        time = "-" if rng.random() < 0.02 else f"{start + at + rng.choice([0, 0, 0, rng.uniform(-30, 30)]):.3f}"
        lines.append(f"{time} {' '.join(rng.choices(['oak', 'ash', 'larch', 'elm', 'fir', str(at)], k=6))}")
    return lines


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_window_of_times_slides_over_a_growing_log(
    session: incoop.Session, scratch: incoop.Session, tmp_path: Path, job: incoop.Job
) -> None:
    rng = random.Random(job.name)
    path = tmp_path / f"{job.name}.log"
    window = incoop.last(seconds=500, of=time_of, hop=rng.choice([None, 60]))
    lines = log_lines(rng, 1_000, 900)
    for day in range(6):
        path.write_text("".join(f"{line}\n" for line in lines))
        times = [time_of(line) for line in lines]
        newest = max(round(time * 1_000_000) for time in times if time is not None)
        stop = newest // window.hop * window.hop if window.hop else newest + 1
        held = [
            line
            for line, time in zip(lines, times, strict=True)
            if time is not None and stop - window.size <= round(time * 1_000_000) < stop
        ]
        result = session.run(job, str(path), window=window)
        assert result.as_dict() == expected(job, held)
        assert any("have no time" in warning for warning in result.report.warnings)
        if day in (0, 5):
            from_scratch = scratch.run(job, str(path), window=window)
            assert from_scratch.as_dict() == result.as_dict()
            assert from_scratch.root == result.root
        # It grows; late lines come, and lines before the window are taken away.
        lines += log_lines(rng, 1_900 + 80 * day, rng.choice([1, 80, 200]))
        lines[len(lines) - 50 : len(lines) - 50] = log_lines(rng, 1_800 + 80 * day, 2)
        del lines[: rng.choice([0, 0, 40])]


def test_a_window_that_moved_by_a_file_maps_that_file_and_forgets_one(session: incoop.Session, tmp_path: Path) -> None:
    rng = random.Random(4)
    folder = tmp_path / "days"
    folder.mkdir()
    days = [log_lines(rng, 100 * day, 300) for day in range(7)]

    def write(day: int) -> None:
        (folder / f"day-{day:02}.log").write_text("".join(f"{line}\n" for line in days[day]))

    for day in range(6):
        write(day)
    job, window = JOBS[0], incoop.last(files=4)
    before = session.run(job, str(folder), window=window)
    assert before.as_dict() == expected(job, [line for day in days[2:6] for line in day])
    write(6)
    moved = session.run(job, str(folder), window=window)
    assert moved.as_dict() == expected(job, [line for day in days[3:7] for line in day])
    own = session.run(incoop.Job("one day", mapper=words, combiner=total, reducer=total), str(folder / "day-06.log"))
    assert ran(moved) == reused(own)  # the same chunks by the same functions
    assert reused(moved) < reused(before) | ran(before)
    changes = {change.key: (change.old, change.new) for change in moved.changes()}
    old, new = before.as_dict(), moved.as_dict()
    assert changes == {
        key: (old.get(key), new.get(key)) for key in old.keys() | new.keys() if old.get(key) != new.get(key)
    }
    assert nothing_ran(session.run(job, str(folder), window=window))


def test_a_window_of_times_maps_what_came_and_the_chunk_it_begins_in(session: incoop.Session, tmp_path: Path) -> None:
    path = tmp_path / "sorted.log"
    lines = [f"{at} oak {at % 17}" for at in range(4_000)]
    window = incoop.last(seconds=2_000, of=time_of)
    path.write_text("".join(f"{line}\n" for line in lines[:3_000]))
    first = session.run(JOBS[0], str(path), window=window)
    path.write_text("".join(f"{line}\n" for line in lines[:3_010]))
    moved = session.run(JOBS[0], str(path), window=window)
    assert moved.as_dict() == expected(JOBS[0], lines[1_010:3_010])
    assert len(ran(first)) > 10
    assert len(ran(moved)) <= 3  # the chunk that it begins in, and what was the last chunk


def test_windows_of_one_job_do_not_disturb_each_other(session: incoop.Session, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"{at} oak {at}\n" for at in range(1_000)))
    narrow, wide = incoop.last(chunks=2), incoop.last(chunks=5)
    for window in (narrow, wide):
        session.run(JOBS[0], str(path), window=window)
    with path.open("a") as log:
        log.write("1000 oak more\n")
    grown = {window: session.run(JOBS[0], str(path), window=window) for window in (narrow, wide)}
    assert {change.key for change in grown[narrow].changes()} >= {"more"}
    assert dict(grown[wide])["oak"] > dict(grown[narrow])["oak"]
    everything = session.run(JOBS[0], str(path))
    assert dict(everything)["oak"] == 1_001


def test_each_of_several_inputs_has_its_window_and_one_time_ends_all(session: incoop.Session, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("".join(f"{at} oak\n" for at in range(100)))
    b.write_text("".join(f"{at} ash\n" for at in range(50, 120)))
    job = incoop.Job("two", mapper={"a": words, "b": words}, combiner=total, reducer=total)
    result = session.run(job, {"a": str(a), "b": str(b)}, window=incoop.last(seconds=30, of=time_of))
    assert result.as_dict() == {"oak": 10, "ash": 30}


def test_a_stored_dataset_and_an_empty_input_have_windows(session: incoop.Session, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"{at} oak\n" for at in range(500)))
    inchdfs.put(session.datasets, inchdfs.expand([str(path)]), "logs", settings=CHUNKS)
    window = incoop.last(seconds=100, of=time_of)
    assert session.run(JOBS[0], "inchdfs:/logs", window=window).as_dict() == {"oak": 100}
    path.write_text("")
    assert session.run(JOBS[0], str(path), window=window).as_dict() == {}


def test_a_time_function_that_fails_or_gives_no_time_is_told_with_the_record(
    session: incoop.Session, tmp_path: Path
) -> None:
    path = tmp_path / "log"
    path.write_text("noon oak\n")
    with pytest.raises(JobFailed, match="could not convert string to float: 'noon'"):
        session.run(JOBS[0], str(path), window=incoop.last(hours=1, of=time_of))
    with pytest.raises(JobFailed, match="a record's time is a datetime"):
        session.run(JOBS[0], str(path), window=incoop.last(hours=1, of=str.split))


def test_a_version_stands_for_the_code_of_the_job_not_for_the_window(session: incoop.Session, tmp_path: Path) -> None:
    job = incoop.Job("versioned", words, total, total, version="1")
    path = tmp_path / "log"
    for newest in (200, 203, 240):
        path.write_text("".join(f"{second} oak\n" for second in range(newest)))
        assert session.run(job, str(path), window=incoop.last(seconds=100, of=time_of)).as_dict() == {"oak": 100}
    other = incoop.last(seconds=100, of=lambda line: float(line.split()[0]) * 50)
    assert session.run(job, str(path), window=other).as_dict() == {"oak": 2}


def row_number(_: Any, row: list[str]) -> Iterator[tuple[int, int]]:
    yield int(row[0]), 1


def test_rows_that_are_read_as_others_than_were_cut_are_refused(session: incoop.Session, tmp_path: Path) -> None:
    """A window is cut between records by their numbers."""
    path = tmp_path / "rows.csv"
    job = incoop.Job("rows", row_number, total, total, records=inchdfs.Csv())
    window = incoop.last(seconds=30, of=lambda row: -int(row[0]))
    for odd in ('"two\nlines"', 'stray"quote\n11,another"one', "return\r11,only"):
        rows = [f"{at},{odd if at == 10 else 'x'}" for at in range(100) if at != 11 or odd[0] == '"']
        path.write_text("".join(f"{row}\n" for row in rows), newline="")
        if odd[0] == '"':
            assert sorted(session.run(job, str(path), window=window).as_dict()) == [*range(30)]
        else:
            with pytest.raises(incoop.BadCall, match="cannot be told apart"):
                session.run(job, str(path), window=window)


def test_what_is_no_window_or_no_input_for_one_is_refused(session: incoop.Session, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("1 oak\n")
    with pytest.raises(incoop.BadCall, match=r"incoop.last\("):
        session.run(JOBS[0], str(path), window=10)  # type: ignore[arg-type]
    result = session.run(JOBS[0], str(path))
    with pytest.raises(incoop.BadCall, match="Give that run the window"):
        session.run(JOBS[0], result, window=incoop.last(chunks=1))


JOB = """
import incoop

def words(_, line):
    for word in line.split()[1:]:
        yield word, 1

def total(word, counts):
    yield word, sum(counts)

def seconds(line):
    return float(line.split()[0])

job = incoop.Job("words", mapper=words, combiner=total, reducer=total)
"""


def test_the_command_takes_windows_and_verifies_them(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    logs = tmp_path / "logs"
    logs.mkdir()
    for day in range(1, 5):
        (logs / f"x-2026-01-0{day}").write_text("".join(f"{100 * day + at} day{day}\n" for at in range(10)))

    def counted(*options: str) -> dict[str, int]:
        done = command("run", "job.py", "logs", *options, "--report", "json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stderr.splitlines()[-1])["job"].startswith("words (last ")
        return Counter({line.split("\t")[0]: int(line.split("\t")[1]) for line in done.stdout.splitlines()})

    assert counted("--window", "2 files") == {"day3": 10, "day4": 10}
    assert counted("--window", "1 day", "--time-of", "%Y-%m-%d") == {"day4": 10}
    assert counted("--window", "105s", "--time-of", "seconds") == {"day3": 5, "day4": 10}
    verified = command("verify", "--rerun", "100%", cwd=tmp_path)
    assert verified.returncode == 0, verified.stderr + verified.stdout
    assert "words (last 2 files)" in verified.stdout + verified.stderr
    for bad in (["--window", "soon"], ["--time-of", "seconds"], ["--window", "1h", "--time-of", "nobody"]):
        refused = command("run", "job.py", "logs", *bad, cwd=tmp_path)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr, refused.stderr


def test_an_input_is_looked_at_once_for_its_times_and_the_run(
    session: incoop.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was just written is verified by its content, all of it: three times a run, of three stages."""
    log = tmp_path / "log"
    log.write_text("".join(f"{second} some words of it {second % 7}\n" for second in range(400)))
    looks = []

    def counted(*given: Any, **options: Any) -> inchdfs.Manifest:
        looks.append(given)
        return index(*given, **options)

    index = inchdfs.index_input
    monkeypatch.setattr(inchdfs, "index_input", counted)
    window = incoop.last(seconds=100, of=time_of)
    for _ in range(2):
        looks.clear()
        lines = log.read_text().splitlines()[-100:]
        assert session.run(JOBS[0], str(log), window=window).as_dict() == expected(JOBS[0], lines)
        assert len(looks) == 1
        with log.open("a") as file:
            file.write("400 another\n")


def test_who_begins_again_looks_again_for_all() -> None:
    look = OneLook()
    seen: list[list[Any]] = []

    def new() -> list[Any]:
        seen.append([])
        return seen[-1]

    first, second = (ChosenChunks("log", lambda _: pytest.fail("not asked"), look) for _ in range(2))
    assert look.manifests(first, (1,), new) is look.manifests(second, (1,), new)
    assert look.manifests(second, (1,), new) is seen[1], "again, after the input was found to have changed"
    assert look.manifests(first, (1,), new) is seen[1]
    assert look.manifests(second, (2,), new) is seen[2], "with other settings"
    assert len(seen) == 3


@pytest.mark.parametrize("how", ["appended", "rewritten", "shorter"])
def test_an_input_that_changes_behind_the_look_gives_what_it_holds_then(
    how: str, session: incoop.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"{second} {how} words of it {second % 7}\n" for second in range(400)))
    window = incoop.last(seconds=100, of=time_of)
    changed = []

    def and_then_it_changes(*given: Any) -> Any:
        found = windowed(*given)
        if not changed:
            changed.append(True)
            before = log.read_text()
            new = "".join(f"{1000 + second} other words {second % 5}\n" for second in range(300))
            log.write_text(
                {"appended": before + new, "rewritten": new, "shorter": "".join(before.splitlines(True)[:350])}[how]
            )
        return found

    windowed = job_session.windowed
    monkeypatch.setattr(job_session, "windowed", and_then_it_changes)
    result = session.run(JOBS[0], str(log), window=window).as_dict()
    assert changed
    lines = log.read_text().splitlines()
    newest = max(float(line.split()[0]) for line in lines)
    now = expected(JOBS[0], [line for line in lines if float(line.split()[0]) > newest - 100])
    then = expected(JOBS[0], [f"{second} {how} words of it {second % 7}" for second in range(300, 400)])
    # What was appended came after the look, which the run goes by; what is not there any more cannot be read.
    assert result == (then if how == "appended" else now)
