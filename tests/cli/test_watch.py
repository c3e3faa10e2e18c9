"""`incoop watch` in a real process: what is written appears in the output, and what is not there was not done."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .command import CALL, incoop, incoop_here
from .watching import WatchProcess, counts

JOB = """
import incoop

def words(_, line):
    for word in line.split():
        yield word, 1

def total(word, counts):
    yield word, sum(counts)

job = incoop.Job("word count", mapper=words, combiner=total, reducer=total)
"""

SECOND = """
def lengths(_, line):
    for word in line.split():
        yield len(word), 1

by_length = incoop.Job("lengths", mapper=lengths, combiner=total, reducer=total)
"""

Start = Callable[..., WatchProcess]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(JOB)
    return tmp_path


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    started: list[WatchProcess] = []

    def begin(*words: object, every: str = "50ms", reads: bool = True) -> WatchProcess:
        started.append(WatchProcess(folder, *words, every=every, reads=reads))
        return started[-1]

    yield begin
    for each in started:
        each.kill()


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def as_set(watch: WatchProcess) -> set[tuple[object, ...]]:
    return {(each["job"], each["key"], each["old"], each["new"]) for each in watch.changes()}


def test_a_line_appears_in_the_output_and_among_the_changes_and_nothing_happens_without_one(
    folder: Path, start: Start
) -> None:
    text, out = folder / "in.txt", folder / "out"
    command = 'echo "$INCOOP_JOB|$INCOOP_OUTPUT|$INCOOP_GENERATION|$(sort)" >> told; exit 3'
    watch = start("job.py", "in.txt", "--output", "out", "--changes", "--on-change", command)
    watch.until_said("waits for its input: in.txt: no such file")
    watch.some_looks()
    assert len(watch.told()) == 1, "what is waited for is said once"

    text.write_text("to be or not to be\n")
    watch.until(lambda: counts(out) == {"to": 2, "be": 2, "or": 1, "not": 1})
    watch.until_said("the input is there")
    watch.until(lambda: len(watch.out) == 4)

    watch.some_looks()
    before = len(watch.told()), {path: path.stat().st_mtime_ns for path in out.iterdir()}
    watch.some_looks()
    assert before == (len(watch.told()), {path: path.stat().st_mtime_ns for path in out.iterdir()})

    append(text, "to sleep\n")
    watch.until(lambda: counts(out) == {"to": 3, "be": 2, "or": 1, "not": 1, "sleep": 1})
    watch.until(lambda: len(watch.out) == 6)
    assert as_set(watch) >= {("word count", "to", 2, 3), ("word count", "sleep", None, 1)}
    watch.until_said("the command after the run ended with 3", times=2)

    told = (folder / "told").read_text().splitlines()
    assert told[4].startswith(f"word count|{out}|2|"), "looks in between made no generation"
    assert told[4:] == [f"word count|{out}|2|{watch.out[5]}", watch.out[4]] or told[4:] == [
        f"word count|{out}|2|{watch.out[4]}",
        watch.out[5],
    ]
    watch.end(signal.SIGINT)
    assert "the watch is stopped" in watch.told()[-1]


def test_a_failing_job_is_said_once_does_not_stop_the_other_and_a_mended_input_mends_it(
    folder: Path, start: Start
) -> None:
    strict = "int(word) if word[0] == '9' else len(word)"
    (folder / "job.py").write_text(JOB + SECOND.replace("len(word)", strict))
    text, out = folder / "in.txt", folder / "out"
    text.write_text("a bb\n")
    watch = start("job.py", "in.txt", "--output", "out", "--changes", "--report", "none")
    watch.until(lambda: counts(out / "job.job") and counts(out / "job.by_length") == {"1": 1, "2": 1})

    append(text, "9x\n")
    watch.until_said("still failing, at 8 looks")
    assert counts(out / "job.job") == {"a": 1, "bb": 1, "9x": 1}, "the other job goes on"
    assert counts(out / "job.by_length") == {"1": 1, "2": 1}, "what was right before stays"
    said = "\n".join(watch.told())
    assert said.count("in lengths") == 1 and said.count("still failing") == 3, "whole once, then in a line at 2, 4, 8"
    assert said.count("in.txt, line 2, '9x': ValueError") == 1 + 3
    assert len([each for each in watch.changes() if each["key"] == "9x"]) == 1, "the other job changed once"

    text.write_text("a bb\n95\n")
    watch.until(lambda: counts(out / "job.by_length") == {"1": 1, "2": 1, "95": 1})
    watch.until_said("lengths: works again")
    assert ("lengths", 95, None, 1) in as_set(watch)
    watch.end()


def test_an_edited_job_file_and_its_neighbour_are_loaded_again(folder: Path, start: Start) -> None:
    (folder / "helpers.py").write_text("def shown(word):\n    return word\n")
    with_helper = JOB.replace("yield word, 1", "yield shown(word), 1").replace(
        "import incoop", "import incoop\nfrom helpers import shown"
    )
    (folder / "job.py").write_text(with_helper)
    (folder / "in.txt").write_text("to be\n")
    out = folder / "out"
    watch = start("job.py", "in.txt", "--output", "out", "--on-change", "echo $INCOOP_GENERATION >> generations")
    watch.until(lambda: counts(out) == {"to": 1, "be": 1})

    (folder / "job.py").write_text(with_helper.replace("def words(", "# a comment\ndef words("))
    watch.some_looks()
    (folder / "job.py").write_text("def broken(:\n" + with_helper)
    watch.until_said("the job's code: ")
    append(folder / "in.txt", "or not\n")
    watch.some_looks()
    assert counts(out) == {"to": 1, "be": 1}, "nothing runs until it loads"
    assert sum("SyntaxError" in line for line in watch.told()) >= 1
    (folder / "job.py").write_text(with_helper)
    watch.until(lambda: counts(out) == {"to": 1, "be": 1, "or": 1, "not": 1})
    watch.until_said("the job's code: works again")

    (folder / "helpers.py").write_text("def shown(word):\n    return word.upper()\n")
    watch.until(lambda: counts(out) == {"TO": 1, "BE": 1, "OR": 1, "NOT": 1})
    watch.until(lambda: (folder / "generations").read_text().split() == ["1", "2", "3"])
    watch.end()


def test_files_come_and_go_in_a_folder(folder: Path, start: Start) -> None:
    logs, out = folder / "logs", folder / "out"
    logs.mkdir()
    watch = start("job.py:job", "logs/*.log", "--output", "out")
    watch.until_said("no file matches")
    (logs / "app.log").write_text("one\n")
    watch.until(lambda: counts(out) == {"one": 1})
    (logs / "app.log").rename(logs / "app.1.log")
    (logs / "app.log").write_text("two\n")
    watch.until(lambda: counts(out) == {"one": 1, "two": 1})
    (logs / "app.1.log").unlink()
    watch.until(lambda: counts(out) == {"two": 1})
    (logs / "app.log").write_text("six\n")  # the same size
    watch.until(lambda: counts(out) == {"six": 1})
    (logs / "app.log").unlink()
    watch.until_said("no file matches", times=2)
    assert counts(out) == {"six": 1}
    (logs / "app.log").write_text("one\n")
    watch.until(lambda: counts(out) == {"one": 1})
    watch.end(signal.SIGHUP)


def test_two_job_files_on_a_dataset_whose_new_version_is_a_change(folder: Path, start: Start) -> None:
    (folder / "second.py").write_text(JOB.split("job =")[0] + SECOND)
    (folder / "in.txt").write_text("to be\n")
    out = folder / "out"
    watch = start("job.py", "inchdfs:/logs", "--job", "second.py:by_length", "--output", "out")
    watch.until_said("no dataset logs", times=2)
    assert incoop("put", "in.txt", "logs", cwd=folder).returncode == 0
    watch.until(lambda: counts(out / "job.job") and counts(out / "second.by_length") == {"2": 2})
    append(folder / "in.txt", "or not\n")
    assert incoop("put", "in.txt", "logs", cwd=folder).returncode == 0
    watch.until(lambda: counts(out / "second.by_length") == {"2": 3, "3": 1})
    watch.until(lambda: counts(out / "job.job") == {"to": 1, "be": 1, "or": 1, "not": 1})
    watch.end()


def test_an_output_folder_that_cannot_be_written_is_tried_again_and_no_change_is_lost(
    folder: Path, start: Start
) -> None:
    (folder / "in.txt").write_text("to be\n")
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("precious")
    watch = start("job.py", "in.txt", "--output", "out", "--changes")
    watch.until_said("holds thesis.txt")
    watch.until_said("still failing, at 2 looks")
    assert watch.out == []
    (folder / "out" / "thesis.txt").unlink()
    watch.until(lambda: counts(folder / "out") == {"to": 1, "be": 1})
    watch.until_said("works again")
    watch.until(lambda: len(watch.out) == 2)
    watch.end()


def test_a_redis_that_is_killed_and_a_file_that_cannot_be_read_are_got_over(folder: Path, start: Start) -> None:
    text, out = folder / "in.txt", folder / "out"
    text.write_text("to be\n")
    watch = start("job.py", "in.txt", "--output", "out", "--changes")
    watch.until(lambda: counts(out) == {"to": 1, "be": 1})
    (redis,) = [pid for pid, line in watch.processes().items() if "redis-server" in line]
    os.kill(redis, signal.SIGKILL)
    append(text, "or not\n")
    watch.until(lambda: counts(out) == {"to": 1, "be": 1, "or": 1, "not": 1})

    text.unlink()
    text.mkdir()  # whatever becomes of a name
    watch.until_said("the folder holds no input file")
    text.rmdir()
    text.symlink_to("/dev/zero")
    watch.until_said("cannot read in.txt")
    text.unlink()
    text.write_text("to be\n")
    watch.until(lambda: counts(out) == {"to": 1, "be": 1})
    watch.until(lambda: len(watch.out) == 6)
    watch.end()


def test_a_terminal_has_a_line_on_the_last_run_and_the_next_look(folder: Path) -> None:
    (folder / "in.txt").write_text("to be\n")
    ours, theirs = os.openpty()
    words = ["watch", "job.py", "in.txt", "--output", "out", "--every", "1h"]
    process = subprocess.Popen([sys.executable, "-c", CALL, *words], cwd=folder, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown = b""
    while b"next look" not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(OSError):  # how a terminal says that nobody is at its other end
        while more := os.read(ours, 4096):
            shown += more
    os.close(ours)
    assert process.wait(60) == 143
    lines = shown.decode().split("\r")
    assert re.search(r"watching: last run \d\d:\d\d:\d\d \(\d+\.\d\d s\), next look \d\d:\d\d:\d\d$", lines[-3]), lines
    assert lines[-2].startswith("\x1b[K") and "the watch is stopped" in lines[-2], "the line is gone before a sentence"


SLOW = JOB.replace(
    "    for word", "    import pathlib, time\n    pathlib.Path('begun').touch()\n    time.sleep(0.5)\n    for word"
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_a_run_ends_it_at_once_and_leaves_nothing(folder: Path, start: Start, number: int) -> None:
    (folder / "job.py").write_text(SLOW)
    (folder / "in.txt").write_text("slow line\n" * 2000)
    watch = start("job.py", "in.txt", "--output", "out")
    watch.until((folder / "begun").exists)
    watch.end(number)
    assert not (folder / "out").exists()


def test_a_signal_during_the_command_ends_it_with_all_that_it_started(folder: Path, start: Start) -> None:
    (folder / "in.txt").write_text("to be\n" * 50_000)
    # Stubborn, with a child in the background; reads nothing of more input than a pipe holds.
    command = "trap '' TERM; sleep 1000 & touch begun; sleep 1000"
    watch = start("job.py", "in.txt", "--changes", "--on-change", command)
    watch.until((folder / "begun").exists)
    watch.end(signal.SIGTERM)


def test_a_signal_while_it_starts_is_obeyed(folder: Path, start: Start) -> None:
    (folder / "in.txt").write_text("to be\n")
    for place in ("memo/secret", "memo/server/server.json", "inchdfs/inputs"):
        watch = start("job.py", "in.txt", "--output", "out", every="1h")
        watch.until((folder / "incoop-store" / place).exists)
        watch.end()


def test_a_signal_while_it_sleeps_is_obeyed_at_once_and_a_second_one_changes_nothing(
    folder: Path, start: Start
) -> None:
    (folder / "in.txt").write_text("to be\n")
    watch = start("job.py", "in.txt", "--output", "out", every="1h")
    watch.until_said("reduced keys")
    watch.process.send_signal(signal.SIGINT)
    watch.end(signal.SIGTERM, code=130)


def test_a_reader_that_leaves_ends_the_watch_quietly(folder: Path, start: Start) -> None:
    (folder / "in.txt").write_text("to be\n")
    watch = start("job.py", "in.txt", "--changes", "--report", "none", reads=False)
    assert watch.process.stdout is not None
    assert {json.loads(watch.process.stdout.readline())["key"] for _ in range(2)} == {"to", "be"}
    watch.process.stdout.close()
    append(folder / "in.txt", "or not\n")
    watch.process.wait(60)
    assert watch.process.returncode == 0
    assert watch.told() == []
    watch.demand_nothing_left()


def test_once_is_one_look_and_says_whether_all_is_current(folder: Path) -> None:
    missing = incoop("watch", "job.py", "in.txt", "--once", "--changes", cwd=folder)
    assert missing.returncode == 1 and "waits for its input" in missing.stderr
    (folder / "in.txt").write_text("to be\n")
    done = incoop("watch", "job.py", "in.txt", "--once", "--changes", "--report", "none", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2
    again = incoop("watch", "job.py", "in.txt", "--once", "--changes", "--report", "none", cwd=folder)
    assert (again.returncode, again.stdout) == (0, ""), "changes are those since the job's last run, of another watch"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["job.py", "in.txt"], 2, "nobody would get the results", id="no place for results"),
        pytest.param(["job.py", "in.txt", "--changes", "--every", "30"], 2, "write 500ms, 30s", id="no unit"),
        pytest.param(["job.py", "in.txt", "--changes", "--every", "0s"], 2, "10ms or more", id="no pause"),
        pytest.param(["job.py", "in.txt", "--changes", "--every", "9999999999d"], 2, "a year or less", id="no look"),
        pytest.param(["job.py", "s3://logs", "--changes"], 2, "s3 is not read here", id="another file system"),
        pytest.param(["none.py", "in.txt", "--changes"], 2, "none.py is not a file", id="no such job file"),
        pytest.param(["job.py:top", "in.txt", "--changes"], 2, "no Job named top", id="no such job"),
        pytest.param(["broken.py", "in.txt", "--changes"], 1, "SyntaxError", id="a job file that does not load"),
        pytest.param(["leaves.py", "in.txt", "--changes"], 1, "SystemExit", id="a job file that exits"),
        pytest.param(["job.py", "in.txt", "--job", "twin.py", "--changes"], 2, "two jobs are named", id="twins"),
        pytest.param(
            ["job.py", "in.txt", "--job", "below/job.py", "--changes"],
            2,
            "two job files have the same name",
            id="stems",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence_and_an_exit_code(folder: Path, words: list[str], code: int, said: str) -> None:
    (folder / "broken.py").write_text("def job(:\n")
    (folder / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (folder / "twin.py").write_text(JOB)
    (folder / "below").mkdir()
    (folder / "below" / "job.py").write_text(JOB)
    done = incoop_here("watch", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "incoop-store").exists()


TIMES = """
def seconds(line):
    return float(line.split()[0])
"""


def test_a_watch_in_a_window_forgets_what_left_it_and_writes_a_page(folder: Path, start: Start) -> None:
    append(folder / "job.py", TIMES)
    log, out, page = folder / "log", folder / "out", folder / "page.html"
    log.write_text("".join(f"{second} tick\n" for second in range(100)))
    options = ("--window", "10s", "--time-of", "seconds", "--html", "page.html")
    watch = start("job.py", "log", "--output", "out", "--changes", *options)
    watch.until(lambda: counts(out).get("tick") == 10)
    watch.until(page.is_file)
    watch.some_looks()
    told = len(watch.changes())
    append(log, "105 tock\n")
    watch.until(lambda: counts(out).get("tock") == 1)
    assert counts(out)["tick"] == 4
    watch.until(lambda: "word count (last 0:00:10)" in page.read_text() and "tock" in page.read_text())
    watch.some_looks()
    changed = {(each["key"], each["old"], each["new"]) for each in watch.changes()[told:]}
    assert {("tock", None, 1), ("tick", 10, 4)} <= changed
    generation = json.loads(incoop("stats", "--report", "json", cwd=folder).stderr.splitlines()[-1])
    watch.some_looks()
    assert json.loads(incoop("stats", "--report", "json", cwd=folder).stderr.splitlines()[-1]) == generation
    refused = incoop_here(
        "watch", "job.py", "log", "--output", "out", "--window", "10s", "--time-of", "nobody", cwd=folder
    )
    assert refused.returncode == 2 and "defines no function nobody" in refused.stderr
