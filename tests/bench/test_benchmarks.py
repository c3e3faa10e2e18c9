"""The benchmarks of what users do, small: they assert their answers themselves. And what they measure with."""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import (
    bench_combiners,
    bench_commands,
    bench_days,
    bench_logs,
    bench_queries,
    changes,
    data,
    log_appends,
    log_windows,
)
from bench.measuring import JOBS, Figure, Snapshot, jobs_in, save_figures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.py")), ids=lambda path: path.stem)
def test_a_job_file_is_one_that_a_user_would_write(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            # What the project's pages tell users to import is theirs; a name that makes a job another one is not.
            public = node.module == "incoop" and {name.name for name in node.names} <= {"logs", "sketches"}
            assert public or node.module.partition(".")[0] not in ("__future__", "bench", "incoop")
        elif isinstance(node, ast.Import):
            assert not any(name.name.startswith(("bench", "incoop.")) for name in node.names)
        elif isinstance(node, ast.FunctionDef):
            assert node.returns is None
        assert not isinstance(node, ast.AnnAssign)
        assert not isinstance(node, ast.arg) or node.annotation is None


def made_list(folder: Path, size: int = 300_000) -> bytes:
    data.write_list(folder / "list", size, 3)
    return (folder / "list").read_bytes()


def test_a_list_is_sorted_and_has_several_lines_a_key(tmp_path: Path) -> None:
    lines = made_list(tmp_path).splitlines()
    keys = Counter(line.split()[0] for line in lines)
    assert lines == sorted(lines)
    assert 2 < len(lines) / len(keys) < 4
    assert min(keys.values()) == 1 and max(keys.values()) > 20
    assert made_list(tmp_path).splitlines() == lines


def test_a_days_edits_are_scattered_and_counted(tmp_path: Path) -> None:
    content = made_list(tmp_path)
    edits = changes.scattered_edits(content, 100, 1, data.new_list_line)
    after = changes.edited(content, edits)
    lines, size = changes.difference(content, after)
    assert len(edits) == 100 and edits == changes.scattered_edits(content, 100, 1, data.new_list_line)
    assert 100 <= lines <= 200 and size == sum(edit.end - edit.start + len(edit.new) for edit in edits)
    assert {bool(edit.new) + 2 * (edit.end > edit.start) for edit in edits} == {1, 2, 3}, "come, gone and edited"
    tenths = {edit.start * 10 // len(content) for edit in edits}
    assert len(tenths) == 10, "everywhere"
    keys = [line.split()[0] + b" " for line in after.splitlines()]
    assert keys == sorted(keys)


def test_the_difference_counts_lines_wherever_they_stand() -> None:
    assert changes.difference(b"a\nb\nb\n", b"b\na\nb\n") == (0, 0)
    assert changes.difference(b"a\nb\nb\n", b"a\nb\nccc\n") == (2, 6)


def test_a_new_line_of_the_list_keeps_what_it_says_it_keeps() -> None:
    rng = random.Random(1)
    assert data.new_list_line(b"abc 1.2.3 4\n", True, rng).startswith(b"abc 1.2.3 ")
    assert all(data.new_list_line(b"abc 1.2.3 4\n", False, rng).startswith(b"abc") for _ in range(20))


def test_bytes_written_are_new_files_and_what_others_grew_by(tmp_path: Path) -> None:
    for name in ("stays", "grows", "goes", "replaced"):
        (tmp_path / name).write_bytes(b"12345")
    before = Snapshot.of(tmp_path)
    assert Snapshot.of(tmp_path).written_since(before) == 0
    (tmp_path / "goes").unlink()
    with (tmp_path / "grows").open("ab") as file:
        file.write(b"67")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "new").write_bytes(b"123")
    (tmp_path / "other").write_bytes(b"1234567")
    (tmp_path / "other").rename(tmp_path / "replaced")
    assert Snapshot.of(tmp_path).written_since(before) == 2 + 3 + 7


def test_figures_say_whether_they_are_reached_and_are_saved(tmp_path: Path) -> None:
    figures = [Figure("faster", 11, 12, 25), Figure("smaller", 0.5, 0.6, 0.4, less=True), Figure("shown", 3)]
    assert [figure.reached for figure in figures] == [False, True, True]
    assert figures[0].row() == ["faster", "11 (missed)", "12", "25"]
    assert figures[1].row() == ["smaller", "0.5", "<= 0.6", "<= 0.4"]
    save_figures(tmp_path / "figures.json", "test", {"json": tmp_path}, figures)
    saved = json.loads((tmp_path / "figures.json").read_text())
    assert [figure["value"] for figure in saved["figures"]] == [11, 0.5, 3] and saved["commit"]


#: Two versions each of lists like the real ones.
REAL = {
    "hosts": ["# list", "0.0.0.0 a.example.org", "0.0.0.0 b.example.org", "0.0.0.0 example.net"],
    "us-counties": ["date,county,state,fips,cases,deaths", "2020-01-21,Cook,Illinois,17031,4,0"],
    "airports": [
        '"icao","iata","name","city","subd","country","elevation"',
        '"00AA","","Aero","Leoti","Kansas","US",3',
    ],
    "cities": ["[", "  {", '    "name": "Encamp",', '    "country": "AD"', "  }", "]"],
}


def test_days_of_made_and_real_lists(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in REAL.items():
        (tmp_path / "real" / name).mkdir(parents=True)
        for version in (1, 2):
            text = "\n".join([*lines, *lines[1:2] * version]) + "\n"
            (tmp_path / "real" / name / f"v{version}").write_text(text)
    kinds = list(bench_days.KINDS)
    figures = bench_days.run(tmp_path, spark, [50_000], [], kinds, 1, 20)
    figures += bench_days.run(tmp_path, spark, [], list(REAL), ["groups"], 1, 0, evolving=tmp_path / "real")
    assert len(figures) == 4 * (len(kinds) + len(REAL))
    assert "keys reduced" in capsys.readouterr().out


def test_days_of_two_sizes_are_compared(spark: SparkSession, tmp_path: Path) -> None:
    figures = bench_days.run(tmp_path, spark, [30_000, 60_000], [], ["sums"], 2, 10)
    assert figures[-1].what.startswith("sums: update of") and figures[-1].required == 2


@pytest.mark.parametrize("keys", bench_combiners.KEYS)
def test_combiners(keys: str, spark: SparkSession, tmp_path: Path) -> None:
    # Among the three numbers of keys, every job and every row is met.
    place = list(bench_combiners.KEYS).index(keys)
    jobs, rows = list(bench_combiners.KINDS)[place::3], list(bench_combiners.ROWS)[place::3]
    figures = bench_combiners.run(tmp_path, spark, 100_000, jobs, [keys], rows, 1)
    assert len(figures) == len(jobs) * (2 + len(rows))
    assert all(figure.required is not None for figure in figures)


def test_every_file_of_jobs_has_those_that_benchmarks_name() -> None:
    for file in ("package_sizes.py", *bench_days.REAL.values()):
        assert set(jobs_in(file)) == set(bench_days.KINDS)
    for kind in bench_combiners.KINDS.values():
        assert {"words", "pairs"} == set(jobs_in(kind.file))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = bench_commands.run(tmp_path, [50_000], ["run", "streaming"], 1)
    shown = capsys.readouterr().out
    assert all(command.title in shown for command in (bench_commands.PLAIN, bench_commands.COMMANDS["streaming"]))
    assert len(figures) == 3 + 2 * 4 + len(bench_commands.SMALL_COMMANDS)


def test_a_command_that_fails_says_so(tmp_path: Path) -> None:
    with pytest.raises(bench_commands.CommandFailed, match="No such command"):
        bench_commands.Desk(tmp_path).type(["incoop", "nonsense"])


def test_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_logs, "APPENDS", 12)
    monkeypatch.setattr(bench_logs, "APPENDED", 20_000)
    monkeypatch.setattr(log_windows, "MOVES", 1)
    monkeypatch.setattr(data, "_LINES_AT_ONCE", 200)
    figures = bench_logs.run(tmp_path, 200_000, list(bench_logs.EXPERIMENTS))
    assert len(figures) == 2 * len(log_appends.SHARES) + 7 and all(figure.required is not None for figure in figures)


def test_all_engines_answer_a_question_alike(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_queries, "WARM_UP", 20_000)
    figures = bench_queries.measure("segments", tmp_path, 60_000, spark)
    assert [figure.required for figure in figures] == [1.0, 200, 20, 20, 20, 2]
