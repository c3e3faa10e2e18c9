"""Bad input to `incoop mrjob`: a clear error with a remedy, the right exit code, and nothing kept of what failed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import incoop
from incoop.fronts.common.commands import CommandFailed
from incoop.fronts.common.job_file import JobFileFailed
from incoop.inchdfs.errors import InputNotFound

from ..cli.command import incoop as command
from ..cli.command import incoop_here as command_here
from ..end_to_end.places import Place
from .mrjob_runs import EXAMPLES, Memoized, plain

JOBS = Path(__file__).parent / "mrjob_jobs"


@pytest.fixture
def run(place: Place) -> Memoized:
    place.write(["good", "a bad one", "better"])
    return Memoized(place.session)


def job_of(place: Place, text: str) -> Path:
    path = place.folder / "job.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize("where", ["mapper", "reducer"])
def test_a_failing_function_shows_the_users_own_traceback_and_is_not_kept(
    where: str, place: Place, run: Memoized
) -> None:
    path = place.input / "input.txt"
    for _ in range(2):
        with pytest.raises(incoop.JobFailed) as failed:
            run(JOBS / "failing.py", "--where", where, path)
        assert "a bad one" in str(failed.value) and "failing.py" in str(failed.value)
        assert "in " + where in str(failed.value)
    assert run(JOBS / "failing.py", path) == plain(JOBS / "failing.py", path)


def test_a_mappers_error_names_the_line_it_had_read(place: Place, run: Memoized) -> None:
    with pytest.raises(incoop.JobFailed, match=r"The mapper of step 1 had read b'a bad one'"):
        run(JOBS / "failing.py", "--where", "mapper", place.input / "input.txt")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        pytest.param("def broken(:\n", JobFileFailed, "SyntaxError", id="a syntax error"),
        pytest.param(
            "import no_such_module_anywhere\n", JobFileFailed, "no_such_module_anywhere", id="a failed import"
        ),
        pytest.param("print\n", incoop.BadCall, "defines no MRJob", id="no job"),
        pytest.param(
            "from mrjob.job import MRJob\nclass A(MRJob): pass\nclass B(MRJob): pass\n",
            incoop.BadCall,
            "runs none of them",
            id="two jobs, none of them run",
        ),
        pytest.param(
            "from mrjob.job import MRJob\nclass A(MRJob): pass\nA.run()\n", incoop.BadCall, "no steps", id="no steps"
        ),
        pytest.param(
            "from mrjob.job import MRJob\nclass A(MRJob):\n  def mapper_cmd(self): return 'no-such-command'\nA.run()\n",
            CommandFailed,
            "no-such-command",
            id="a command that does not exist",
        ),
        pytest.param(
            "from mrjob.job import MRJob\nclass A(MRJob):\n  def mapper_cmd(self):\n"
            "    return \"sh -c 'echo out of luck >&2; exit 3'\"\nA.run()\n",
            CommandFailed,
            r"exit code 3(.|\n)*out of luck",
            id="a command that fails",
        ),
        pytest.param(
            "from mrjob.job import MRJob\nclass A(MRJob):\n  FILES = ['gone.txt']\n"
            "  def mapper(self, _, line): yield line, 1\nA.run()\n",
            incoop.BadCall,
            "gone.txt does not exist",
            id="a side file that is missing",
        ),
    ],
)
def test_a_job_file_that_cannot_run_says_why(
    text: str, error: type[Exception], says: str, place: Place, run: Memoized
) -> None:
    with pytest.raises((error, incoop.JobFailed) if error is CommandFailed else error, match=says):
        run(job_of(place, text), place.input / "input.txt")


@pytest.mark.parametrize("name", ["mr_jar_step_example", "mr_spark_wordcount", "mr_spark_wordcount_script"])
def test_steps_without_mapper_and_reducer_are_refused(name: str, place: Place, run: Memoized) -> None:
    with pytest.raises(incoop.BadCall, match="no mapper and reducer"):
        run(EXAMPLES / f"{name}.py", place.input / "input.txt")


def test_a_missing_input_is_named(place: Place, run: Memoized) -> None:
    with pytest.raises(InputNotFound, match=r"nothing-here"):
        run(JOBS / "failing.py", place.input / "nothing-here.txt")


def test_the_command_runs_reruns_and_refuses(tmp_path: Path) -> None:
    job = EXAMPLES / "mr_word_freq_count.py"
    text = tmp_path / "text.txt"
    text.write_text("a rose is a rose\n" * 20000 + "is a rose\n")
    first = command("mrjob", "--store", "store", "--report", "json", job, "text.txt", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout == plain(job, text).decode()
    assert json.loads(first.stderr.splitlines()[-1])["map"]["executed"] >= 1
    again = command("mrjob", "--store", "store", "--report", "json", job, "-", "text.txt", cwd=tmp_path)
    assert again.stdout == first.stdout
    assert json.loads(again.stderr.splitlines()[-1])["map"]["executed"] == 0
    unknown = command("mrjob", "--store", "store", job, "--outptu-dir", "x", "text.txt", cwd=tmp_path)
    assert unknown.returncode == 2 and "did you mean --output-dir?" in unknown.stderr
    misplaced = command_here("mrjob", job, "--store", "x", cwd=tmp_path)
    assert misplaced.returncode == 2
    helped = command_here("mrjob", job, "--help", cwd=tmp_path)
    assert helped.returncode == 0 and "input" in helped.stdout
    absent = command_here("mrjob", "absent.py", cwd=tmp_path)
    assert absent.returncode == 2 and "absent.py is not a file" in absent.stderr


def test_without_mrjob_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    call = "import sys; sys.modules['mrjob'] = None; from incoop.cli.main import main; main()"
    words = [sys.executable, "-c", call, "mrjob", "x.py"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2 and "pip install 'incoop[mrjob]'" in done.stderr
