"""`incoop streaming` as a user calls it: output, exit codes, help, and what Ctrl-C leaves."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.command import CALL, incoop, incoop_here
from tests.fronts.test_streaming_failures import none_running, running


def test_a_job_runs_and_says_what_it_reused(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("b a\na\n")
    call = ["streaming", "-input", "in.txt", "-mapper", "tr ' ' '\\n'", "-reducer", "uniq -c", "-jt", "x"]
    for output in ("one", "two"):
        done = incoop(*call, "-output", output, "--report", "json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / output / "part-00000").read_text().split() == ["2", "a", "1", "b"]
        assert (tmp_path / output / "_SUCCESS").exists() and done.stdout == ""
        assert "note: -jt has no effect" in done.stderr
    report = json.loads(done.stderr.splitlines()[-1])
    assert report["map"] == {"tasks": 1, "executed": 0} and report["reduce"]["executed"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "incoop-store", "one", "two"]
    taken = incoop_here(*call, "-output", "one", cwd=tmp_path)
    assert taken.returncode == 1 and "one exists already" in taken.stderr


def test_a_small_job_does_without_spark(tmp_path: Path) -> None:
    """Starting it would take ten times as long as the job."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "text").write_text("b a\na\n")
    call = ["streaming", "-input", "in", "-mapper", "tr ' ' '\\n'", "-reducer", "uniq -c", "-numReduceTasks", "2"]
    for combiner, output in ((["-combiner", "cat"], "one/of/them"), ([], "in/side")):
        done = incoop(*call, *combiner, "-output", output, "--report", "json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stderr.splitlines()[-1])["seconds"]["spark"] == 0
        printed = "".join(path.read_text() for path in sorted((tmp_path / output).glob("part-*"))).split()
        assert sorted(zip(printed[::2], printed[1::2], strict=True)) == [("1", "b"), ("2", "a")]
        assert ("the output lies in the input in" in done.stderr) == (output == "in/side")


def test_a_small_job_without_a_reducer_does_without_spark_too(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("b a\na\n")
    call = ["streaming", "-input", "text", "-output", "out", "-mapper", "tr a c", "-reducer", "NONE"]
    done = incoop(*call, "--report", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["seconds"]["spark"] == 0
    assert (tmp_path / "out" / "part-00000").read_text() == "b c\nc\n"


def test_a_mapper_reads_as_much_as_is_asked_for(tmp_path: Path) -> None:
    numbers = random.Random(1)
    (tmp_path / "text").write_text("".join(f"{numbers.getrandbits(16)}\n" for _ in range(20_000)))
    call = ["streaming", "-input", "text", "-mapper", "wc -l", "-reducer", "NONE", "--report", "none"]
    for size, chunks in (("16K", range(4, 12)), ("1M", range(1, 2))):
        done = incoop(*call, "-output", size, "-D", f"incoop.chunk.average={size}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        counted = [int(line) for line in (tmp_path / size / "part-00000").read_text().split()]
        assert len(counted) in chunks and sum(counted) == 20_000
    for size, why in (("much", "is not a size; write 65536, 64K or 1.5M"), ("7", "chunk sizes must satisfy")):
        done = incoop_here(*call, "-output", "never", "-D", f"incoop.chunk.average={size}", cwd=tmp_path)
        assert done.returncode == 2 and why in done.stderr and not (tmp_path / "never").exists()


def test_wrong_calls_end_with_2_and_failed_jobs_with_1(tmp_path: Path) -> None:
    wrong = incoop("streaming", "-imput", "x", cwd=tmp_path)
    assert wrong.returncode == 2 and "did you mean -input?" in wrong.stderr
    missing = incoop_here("streaming", "-input", "x", "-output", "o", "-mapper", "no-such", cwd=tmp_path)
    assert missing.returncode == 1 and "there is no program 'no-such'" in missing.stderr
    for words in (["-help"], ["-info"], ["--help"], []):
        done = incoop_here("streaming", *words, cwd=tmp_path)
        assert done.returncode == 0 and "-numReduceTasks" in done.stdout and "Example" in done.stdout


def test_an_interrupt_leaves_no_process_and_no_output(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a\n")
    (tmp_path / "hang.sh").write_text("sleep 4322.5\ncat\n")
    words = ["streaming", "-input", "in.txt", "-output", "out", "-mapper", "sh hang.sh"]
    job = subprocess.Popen([sys.executable, "-c", CALL, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(1200):
            if running("sleep 4322.5"):
                break
            assert job.poll() is None, job.communicate()[1]
            time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        _, said = job.communicate(timeout=60)
    finally:
        job.kill()
    assert job.returncode == 130 and "interrupted" in said
    assert none_running("sleep 4322.5")
    assert not list(tmp_path.glob("*out*"))
