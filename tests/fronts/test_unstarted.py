"""`incoop submit` starts Spark when a program needs it, and not before: real programs, beside real spark-submit.

Where a run must not start Spark, there is no Java: it would fail.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import incoop

pytestmark = pytest.mark.timeout(900)

PROGRAMS = Path(__file__).with_name("programs")

ENVIRONMENT = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONHASHSEED": "0"}
NO_JAVA = ENVIRONMENT | {"JAVA_HOME": "/there/is/no/java"}


def _spark_submit(script: Path, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("spark-submit"), "--conf", "spark.ui.enabled=false", script, *arguments]
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd, timeout=400, check=False
    )


def _submit(
    script: Path, *arguments: object, cwd: Path, java: bool, options: tuple[object, ...] = ()
) -> subprocess.CompletedProcess[str]:
    words = ["--report", "none", "--conf", "spark.ui.enabled=false", *options, script, *arguments]
    return incoop("submit", *words, cwd=cwd, env=ENVIRONMENT if java else NO_JAVA, timeout=400)


def test_what_is_asked_of_spark_before_any_work_is_answered_without_it(tmp_path: Path) -> None:
    script = PROGRAMS / "entry_points.py"
    theirs, ours = _spark_submit(script, cwd=tmp_path), _submit(script, cwd=tmp_path, java=False)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), ours.stderr
    assert ours.returncode == 3


def test_what_needs_spark_starts_it_as_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\ntwo and more\nthree\n")
    script, source = PROGRAMS / "needs_spark.py", tmp_path / "lines.txt"
    theirs, ours = _spark_submit(script, source, cwd=tmp_path), _submit(script, source, cwd=tmp_path, java=True)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, _without_traces(theirs.stdout)), ours.stderr
    assert ours.returncode == 0


def _without_traces(said: str) -> str:
    """What a program printed; spark-submit puts tracebacks, which PySpark prints for itself, among it."""
    traces = ("Traceback", "  ", "pyspark.errors.")
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(traces))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Input, and what the program gave in spark-submit, in a first run and in a second one without Java."""
    folder = tmp_path_factory.mktemp("answers")
    rng = random.Random(1)
    rows = [f"s{rng.randrange(300)},{rng.gauss(20, 5):.2f}" for _ in range(4000)]
    (folder / "rows.csv").write_text("\n".join(["sensor,reading", *rows]) + "\n")
    (folder / "texts").mkdir()
    for number in range(9):
        (folder / "texts" / f"{number}.txt").write_text("x" * rng.choice([0, 100, 3000, 70]))
    script, given = PROGRAMS / "small_answers.py", (folder / "rows.csv", folder / "texts")
    runs = {
        "plain": _spark_submit(script, *given, folder / "plain", cwd=folder),
        "first": _submit(script, *given, folder / "first", cwd=folder, java=True),
        "again": _submit(script, *given, folder / "again", cwd=folder, java=False),
    }
    for name, run in runs.items():
        assert run.returncode == 0, run.stderr
        (folder / f"{name}.said").write_text(run.stdout)
    return folder


def test_an_unchanged_program_prints_the_same_without_spark(answers: Path) -> None:
    plain, first, again = ((answers / f"{name}.said").read_text() for name in ("plain", "first", "again"))
    assert first == plain
    assert again == plain


SAVED = ("by_key", "sorted", "lines", "one", "names", "nothing")


@pytest.mark.parametrize("name", SAVED)
def test_what_is_written_is_what_spark_submit_writes(answers: Path, name: str) -> None:
    first, again, theirs = (_files(answers / run / name) for run in ("first", "again", "plain"))
    assert first == again
    assert again.keys() == theirs.keys()
    ours, plain = (_lines(answers / run / name) for run in ("again", "plain"))
    in_order = name in ("sorted", "lines", "names")
    assert (ours if in_order else sorted(ours)) == (plain if in_order else sorted(plain))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*"))}


def _lines(folder: Path) -> list[str]:
    return [line for part in sorted(folder.glob("part-*")) for line in part.read_text().splitlines()]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--master", "spark://127.0.0.1:1"), id="a cluster"),
        pytest.param(("--conf", "spark.eventLog.enabled=true"), id="a log that somebody waits for"),
        pytest.param(("--conf", "spark.hadoop.fs.defaultFS=hdfs://there:1"), id="another file system"),
    ],
)
def test_spark_is_started_at_once_where_it_is_asked_for(tmp_path: Path, options: tuple[str, ...]) -> None:
    script = tmp_path / "made.py"
    script.write_text("from pyspark import SparkContext\nsc = SparkContext()\nprint('made')\n")
    ran = _submit(script, cwd=tmp_path, java=False, options=options)
    assert ran.returncode == 1 and "JAVA_GATEWAY_EXITED" in ran.stderr and ran.stdout == ""


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("SparkContext('spark://127.0.0.1:1', 'made')", id="a cluster"),
        pytest.param("os.environ['PYSPARK_SUBMIT_ARGS'] = '--master spark://127.0.0.1:1 pyspark-shell'", id="options"),
        pytest.param("SparkContext(environment={'A': 'B'})", id="another environment of workers"),
    ],
)
def test_spark_is_started_at_once_where_the_program_asks_for_it(tmp_path: Path, line: str) -> None:
    script = tmp_path / "made.py"
    script.write_text(
        f"import os\nfrom pyspark import SparkContext\n{line}\nSparkContext.getOrCreate()\nprint('made')\n"
    )
    ran = _submit(script, cwd=tmp_path, java=False)
    assert ran.returncode == 1 and "JAVA_GATEWAY_EXITED" in ran.stderr and ran.stdout == ""


@pytest.mark.parametrize("options", [("--master", "local[3]"), ("--name", "named"), ("--conf", "spark.app.name=named")])
def test_options_are_known_without_spark(tmp_path: Path, options: tuple[str, ...]) -> None:
    script = tmp_path / "asked.py"
    script.write_text("from pyspark import SparkContext\nsc = SparkContext()\nprint(sc.master, sc.appName)\n")
    ran = _submit(script, cwd=tmp_path, java=False, options=options)
    expected = "local[3] asked.py\n" if options[0] == "--master" else "local[*] named\n"
    assert (ran.returncode, ran.stdout) == (0, expected), ran.stderr


GIVEN = """
import sys
import zipfile
from pathlib import Path
from pyspark import SparkContext, SparkFiles
import helping

def weighed(word):
    return helping.shorter(word), int(Path(SparkFiles.get("weight.txt")).read_text())

for name in ("first", "second"):
    with SparkContext("local[2]", name) as sc:
        words = sc.textFile(sys.argv[1]).flatMap(str.split).map(weighed)
        print(sc.appName, sorted(words.reduceByKey(lambda a, b: a + b).collect()), words.count())
"""


def test_files_and_modules_of_the_command_line_count_without_spark(tmp_path: Path) -> None:
    script, text, weight = tmp_path / "given.py", tmp_path / "text.txt", tmp_path / "weight.txt"
    script.write_text(GIVEN)
    text.write_text("some words and some more\n")
    weight.write_text("3")
    with zipfile.ZipFile(tmp_path / "helpers.zip", "w") as helpers:
        helpers.writestr("helping.py", "def shorter(word):\n    return word[:3]\n")
    options = ("--files", weight, "--py-files", tmp_path / "helpers.zip")
    first = _submit(script, text, cwd=tmp_path, java=True, options=options)
    assert first.returncode == 0, first.stderr
    again = _submit(script, text, cwd=tmp_path, java=False, options=options)
    counts = "[('and', 3), ('mor', 3), ('som', 6), ('wor', 3)] 5"
    assert first.stdout == again.stdout == f"first {counts}\nsecond {counts}\n", again.stderr
    weight.write_text("4")
    changed = _submit(script, text, cwd=tmp_path, java=False, options=options)
    assert changed.returncode == 1 and "JAVA_GATEWAY_EXITED" in changed.stderr
