"""Jobs whose functions do to their process what they should not, and jobs of a program that changes while it runs."""

from __future__ import annotations

import pytest

from incoop import IncoopError, JobFailed
from incoop.engine.events import WillRunIn
from incoop.engine.running.worker_failed import WorkerFailed
from tests.trust.workshop import SUM, Workshop

from .conftest import OwnPlace

HEAD = "import incoop, os, signal, sys, time\n"
TAIL = SUM + "\njob = incoop.Job('job', mapper, total)\n"
REDUCES = "def mapper(_, line): yield line[:4], 1\n"


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [
        pytest.param("sys.exit(3)", JobFailed, "SystemExit: 3", id="sys.exit"),
        pytest.param("raise MemoryError('so much')", JobFailed, "MemoryError: so much", id="MemoryError"),
        pytest.param("os._exit(3)", WorkerFailed, "exit code 3", id="os._exit"),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", WorkerFailed, "memory runs out", id="killed"),
        pytest.param("os.abort()", WorkerFailed, "SIGABRT", id="crash"),
        pytest.param("raise KeyboardInterrupt", WorkerFailed, "KeyboardInterrupt", id="an interrupt of its own"),
    ],
)
def test_what_ends_a_worker_ends_the_job(what: str, error: type[IncoopError], said: str, workshop: Workshop) -> None:
    workshop.write(job=f"{HEAD}def mapper(_, line):\n    {what}\n    yield 1, 1\n{TAIL}")
    with pytest.raises(error, match=said):
        workshop.run()
    workshop.write(job=HEAD + REDUCES + TAIL)
    assert workshop.run() == {"line": 40}


def test_a_function_that_takes_more_memory_than_there_is_fails_at_its_record(workshop: Workshop) -> None:
    workshop.write(
        job=f"{HEAD}import resource\ndef mapper(_, line):\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.RLIM_INFINITY))\n"
        f"    yield len(bytearray(8 << 30)), 1\n{TAIL}"
    )
    with pytest.raises(JobFailed, match="MemoryError"):
        workshop.run()


def test_a_crash_in_a_reducer_names_the_step(workshop: Workshop) -> None:
    workshop.write(
        job=f"{HEAD}{REDUCES}def total(key, values):\n    os._exit(9)\njob = incoop.Job('job', mapper, total)\n"
    )
    with pytest.raises(WorkerFailed, match="contract 1 nodes, reduce"):
        workshop.run()


CRASHES_AT_THE_END = """
def mapper(_, line):
    if line == 'the last line':
        time.sleep(0.5)
        os._exit(1)
    yield line[:4], 1
"""


def test_chunks_that_were_finished_before_a_crash_are_kept(workshop: Workshop, own: OwnPlace) -> None:
    lines = [f"line {number:06} of the input, and some more of it" for number in range(200_000)]
    own.chunks = None  # type: ignore[assignment]  # as large as they are by themselves
    own.write([*lines, "the last line"])
    workshop.write(job=HEAD + CRASHES_AT_THE_END + TAIL)
    with pytest.raises(WorkerFailed):
        workshop.run()
    own.write(lines)
    result = own.run(workshop.load())
    assert result.events.reused("map"), "what other tasks gave is there"
    assert dict(result) == {"line": len(lines)}


def test_a_module_that_is_edited_and_loaded_again_runs_as_it_is_now(workshop: Workshop) -> None:
    for number in range(3):
        workshop.write(edited_rules=f"NUMBER = {number}{' ' * number}\n")
        workshop.write(job=f"{HEAD}import edited_rules\ndef mapper(_, line): yield edited_rules.NUMBER, 1\n{TAIL}")
        assert workshop.run() == {number: 40}


def test_values_that_come_and_go_with_spark_are_of_no_concern(workshop: Workshop, own: OwnPlace) -> None:
    workshop.write(job=HEAD + REDUCES + TAIL)
    result = own.run(workshop.load())
    assert [event.where for event in result.events.of(WillRunIn)] == ["processes", "processes"]
    assert result.report.seconds["spark"] == 0
