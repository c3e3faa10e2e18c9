"""Worker processes of our own: what they give, and what becomes of them when a task does what it should not."""

from __future__ import annotations

import os
import selectors
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.engine.running.processes import Processes
from incoop.engine.running.worker_failed import WorkerFailed
from incoop.engine.running.zygote_handle import ProcessesFailed

from . import tasks
from .tasks import below, gone


@pytest.fixture
def processes() -> Iterator[Processes]:
    made = Processes()
    yield made
    made.stop()


def test_answers_come_in_the_order_of_the_items_and_are_told_when_they_are_there(processes: Processes) -> None:
    told: list[int] = []
    assert processes.run("squares", tasks.square, range(20), told.append) == [number**2 for number in range(20)]
    assert sorted(told) == [number**2 for number in range(20)]
    assert processes.run("nothing", tasks.square, []) == []


def test_workers_are_kept_for_the_next_job_and_are_others_in_another_place(processes: Processes) -> None:
    first = set(processes.run("first", tasks.slow_whoami, range(processes.cores)))
    assert os.getpid() not in first and len(first) == processes.cores
    assert set(processes.run("second", tasks.whoami, [1])) <= first
    other = set(processes.run("third", tasks.whoami, [1], place={"INCOOP_WORKPLACE": "1"}))
    assert not other & first
    assert gone(first), "workers of a place that nobody asks for any more end"


def test_a_worker_is_given_the_items_of_the_same_places_again(processes: Processes) -> None:
    count = processes.cores
    first = processes.run("first", tasks.slow_whoami, range(count))
    for _ in range(3):
        assert processes.run("again", tasks.slow_whoami, range(count)) == first
    beside = processes.run("twice as many", tasks.slow_whoami, range(2 * count))
    assert beside[:count] == first and set(beside) <= set(first)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("exit", "SystemExit: 3"),
        ("os._exit", "ended with exit code 7"),
        ("interrupt", "KeyboardInterrupt: not yours"),
        ("unpicklable", "cannot pickle"),
        (signal.SIGKILL.value, "memory runs out"),
        (signal.SIGSEGV.value, "SIGSEGV"),
    ],
)
def test_a_worker_that_ends_is_one_error_and_the_next_job_runs(how: str | int, said: str, processes: Processes) -> None:
    with pytest.raises(WorkerFailed, match=said) as failed:
        processes.run("word count: map 1 of 3 chunks", tasks.ending, [how])
    assert "word count: map 1 of 3 chunks" in str(failed.value)
    assert processes.run("next", tasks.square, [3]) == [9]


def test_a_worker_that_closes_what_is_not_its_own_is_given_up(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incoop.engine.running.zygote_handle._PATIENCE", 0.3)
    with pytest.raises(WorkerFailed, match="stopped answering"):
        processes.run("closes", tasks.ending, ["closed"])
    assert processes.run("next", tasks.square, [3]) == [9]


def test_what_was_done_before_a_worker_was_lost_was_told(processes: Processes) -> None:
    told: list[int] = []
    with pytest.raises(WorkerFailed):
        processes.run("lost", tasks.ends_behind_others, range(4), told.append)
    assert sorted(told) == [0, 1, 2]


def test_a_worker_that_was_killed_while_it_waited_is_replaced(processes: Processes) -> None:
    for pid in set(processes.run("first", tasks.slow_whoami, range(processes.cores))):
        os.kill(pid, signal.SIGKILL)
        assert gone({pid})
        until = time.monotonic() + 60
        while processes.zygote.status(pid) is None and time.monotonic() < until:  # it tells of it when it has reaped it
            processes.zygote.hear_all()
            time.sleep(0.01)
    assert processes.run("second", tasks.square, range(4)) == [0, 1, 4, 9]


@pytest.mark.parametrize("items", [1, 4])
def test_a_worker_that_was_killed_in_the_moment_before_it_is_given_work_is_replaced(
    items: int, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = set(processes.run("first", tasks.slow_whoami, range(processes.cores)))
    monkeypatch.setattr(processes.zygote, "hear_all", lambda: None)  # nobody has told of it yet
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    assert gone(first)
    found = processes.run("second", tasks.slow_whoami, range(items))
    assert len(found) == items and not set(found) & first
    assert processes.run("third", tasks.square, range(4)) == [0, 1, 4, 9]


def test_a_worker_that_is_killed_while_its_item_is_on_the_way_is_replaced(processes: Processes) -> None:
    """The item is there, but it is stopped and never takes it: killed later, when the driver waits for the answer."""
    (pid,) = processes.run("first", tasks.whoami, [1])
    os.kill(pid, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, [pid, signal.SIGKILL])
    killer.start()
    assert processes.run("second", tasks.square, [3]) == [9]
    killer.join()


def test_a_death_that_is_told_and_seen_in_one_round_is_taken_in_once(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver looks late: a worker's end and the word of it are there together, the worker's end first."""
    at_once = selectors.DefaultSelector.select

    def late(selector: selectors.DefaultSelector) -> list[tuple[selectors.SelectorKey, int]]:
        at_once(selector)
        time.sleep(0.3)
        return sorted(at_once(selector), key=lambda found: found[0].data is None)

    (pid,) = processes.run("first", tasks.whoami, [1])
    monkeypatch.setattr(selectors.DefaultSelector, "select", late)
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(0.1, os.kill, [pid, signal.SIGKILL]).start()
    assert processes.run("second", tasks.square, [3]) == [9]


def test_a_task_that_was_begun_is_not_begun_again(processes: Processes, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with pytest.raises(WorkerFailed, match="memory runs out"):
        processes.run("lost", tasks.ends_after_a_note, [str(begun)])
    assert begun.read_text() == "begun\n"


def test_a_function_that_ends_every_worker_which_unpacks_it_is_an_error(processes: Processes) -> None:
    with pytest.raises(WorkerFailed, match="exit code 4"):
        processes.run("never", tasks.EndsWhenUnpacked(), [1, 2, 3])
    assert processes.run("next", tasks.square, [3]) == [9]


def test_a_fork_that_comes_back_gives_no_second_answer(processes: Processes) -> None:
    assert processes.run("forks", tasks.forking, range(4)) == [0, 1, 2, 3]
    assert processes.run("next", tasks.square, range(4)) == [0, 1, 4, 9]


def test_what_a_lost_worker_had_started_goes_with_it(processes: Processes) -> None:
    before = below(os.getpid())
    with pytest.raises(WorkerFailed, match="exit code 5"):
        processes.run("leaves a child", tasks.leaving_a_child, [1])
    left = below(os.getpid()) - before
    processes.stop()
    assert gone(left)


def test_what_tasks_print_is_not_in_the_programs_output(
    processes: Processes, capfd: pytest.CaptureFixture[str]
) -> None:
    assert processes.run("prints", tasks.shouting, [1, 2, 3]) == [1, 2, 3]
    processes.stop()
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("spoken in a worker") == err.count("straight to the descriptor") == 3


def environment_of(name: str) -> tuple[str | None, str]:
    return os.environ.get(name), str(Path.cwd())


def test_a_worker_has_the_environment_and_the_folder_of_the_program_as_they_are_then(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    processes.start()
    monkeypatch.setenv("SET_SINCE", "yes")
    monkeypatch.chdir(tmp_path)
    assert processes.run("looks", environment_of, ["SET_SINCE"]) == [("yes", str(tmp_path))]


def test_an_error_of_who_gets_the_answers_ends_the_job(processes: Processes) -> None:
    def refuse(_: int) -> None:
        raise ValueError("not stored")

    with pytest.raises(ValueError, match="not stored"):
        processes.run("stores", tasks.square, range(4), refuse)
    assert processes.run("next", tasks.square, [3]) == [9]


def test_nothing_is_left_when_it_is_stopped_and_it_can_start_again(processes: Processes) -> None:
    before = below(os.getpid())
    processes.run("first", tasks.slow_whoami, range(4))
    ours = below(os.getpid()) - before
    assert len(ours) == processes.cores + 1, "workers, and the process that forks them"
    processes.stop()
    assert gone(ours)
    assert processes.run("again", tasks.square, [2]) == [4]


def test_a_killed_zygote_takes_its_workers_along_and_another_one_is_started(processes: Processes) -> None:
    workers = set(processes.run("first", tasks.slow_whoami, range(processes.cores)))
    os.kill(processes.zygote._process.pid, signal.SIGKILL)
    assert gone(workers)
    assert processes.run("again", tasks.square, [2]) == [4]


def test_modules_that_cannot_be_loaded_are_an_error_that_says_so() -> None:
    processes = Processes(["incoop.no_such_module"])
    with pytest.raises(ProcessesFailed, match="no_such_module"):
        processes.run("never", tasks.square, [1])
    processes.stop()
