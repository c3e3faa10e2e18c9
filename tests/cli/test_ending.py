"""Ctrl-C, SIGTERM and SIGHUP at any moment of a command: an exit code, a sentence, nothing half done, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from incoop.inchdfs import Dataset, DatasetStore
from incoop.inchdfs.cutting.rolling_hash import _MemoryFile
from tests.chunk.commands import run
from tests.chunk.samples import text
from tests.conftest import REPOSITORY

ANY_MOMENT = Path(__file__).parent / "any_moment.py"
SAID = "incoop: interrupted; what was finished is kept"


def interrupted(moments: int, *words: str, cwd: Path) -> None:
    """Interrupt `incoop WORDS…` that often: each ends as Ctrl-C ends it, or as it would have."""
    done = subprocess.run(
        [sys.executable, ANY_MOMENT, str(moments), *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ended) == moments
    for number, code, said in ended:
        assert (code, said.strip()) in [(130, SAID), (0, "")], (number, said)
    assert sum(code == 130 for _, code, _ in ended) > moments / 2


def test_a_put_that_is_interrupted_at_any_moment_leaves_a_clean_store(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(text(1, 60_000))
    interrupted(40, "put", "text", "logs", "--store", "store-{}", "--average", "1K", cwd=tmp_path)
    for folder in tmp_path.glob("store-*/inchdfs"):
        assert list((folder / "temporary").glob("*")) == []
        store = DatasetStore(folder.parent)
        assert store.names() in ([], ["logs"])
        for name in store.names():
            assert Dataset(store, name).manifest.size == (tmp_path / "text").stat().st_size


@pytest.mark.parametrize("words", ["cat logs", "chunks text", "diff logs@1 logs@2", "ls logs"])
def test_what_only_reads_and_is_interrupted_at_any_moment_says_so(tmp_path: Path, words: str) -> None:
    for seed in (1, 2):
        (tmp_path / "text").write_bytes(text(seed, 30_000))
        assert run("put", "text", "logs", cwd=tmp_path)[0] == 0
    interrupted(10, *words.split(), cwd=tmp_path)


def test_a_run_that_is_interrupted_at_any_moment_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(text(1, 5_000))
    job = REPOSITORY / "examples" / "wordcount.py"
    interrupted(6, "run", str(job), "text", "--store", "store-{}", "--output", "out-{}", cwd=tmp_path)
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True).stdout
    assert left == ""
    whole = sorted((tmp_path / "out-whole").iterdir())
    for out in tmp_path.glob("out-*"):
        assert [path.read_bytes() for path in sorted(out.iterdir())] in ([], [path.read_bytes() for path in whole])


BEGIN = """
import gc, os, signal, sys, threading, time, weakref
from incoop.cli.ending import Ending
from incoop.cli import ending as module
ask = lambda number=signal.SIGINT: os.kill(os.getpid(), number)
ending = Ending()
ending.begin()
"""


def program(body: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", BEGIN + body], capture_output=True, text=True, timeout=60)


#: What goes on in each: Ctrl-C comes there, and Python would pass over what it raises.
PASSED_OVER = {
    "an object is deleted": "class Open:\n def __del__(self):\n  ask()\n  print('closed')\nOpen()",
    "a weak reference is cleared": "class Open: pass\nit = Open()\nkept = weakref.ref(it, lambda _: ask())\ndel it",
    "garbage is collected": "gc.callbacks.append(lambda phase, _: ask() if phase == 'stop' else None)\ngc.collect()\n"
    "gc.callbacks.clear()",
}


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("where", PASSED_OVER)
def test_a_request_is_neither_lost_nor_shown_while(where: str, number: str) -> None:
    body = PASSED_OVER[where].replace("ask()", f"ask(signal.{number})")
    done = program(
        "try:\n" + textwrap.indent(body, " ") + "\n time.sleep(30)\nexcept BaseException as error: print(repr(error))"
    )
    raised = "KeyboardInterrupt()" if number == "SIGINT" else "SystemExit(143)"
    assert (done.stdout.splitlines()[-1], done.stderr) == (raised, "")
    assert where != "an object is deleted" or done.stdout.startswith("closed")  # not cut short


def test_an_import_is_finished_first(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import __main__\n__main__.ask()\nfor _ in range(1000): pass\nprint('whole')")
    done = program(
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "try:\n import slow\n time.sleep(30)\nexcept KeyboardInterrupt: print('end')"
    )
    assert (done.stdout, done.stderr) == ("whole\nend\n", "")


def test_an_import_that_takes_long_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import __main__, time\n__main__.ask()\ntime.sleep(30)")
    done = program(
        "module._PATIENCE = 0.2\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\ntry:\n import slow\nexcept KeyboardInterrupt: print('end')"
    )
    assert (done.stdout, done.stderr) == ("end\n", "")


@pytest.mark.parametrize("second", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_asking_twice_is_asking_once_but_not_later(second: str) -> None:
    body = f"""
try:
    ask()
except KeyboardInterrupt:
    for _ in range(100):
        ask(signal.{second})
    print("closed")
module._PATIENCE = 0.2
time.sleep(0.3)
try:
    ask(signal.{second})
except BaseException as error:
    print(type(error).__name__)
"""
    done = program(body)
    raised = "KeyboardInterrupt" if second == "SIGINT" else "SystemExit"
    assert (done.stdout, done.stderr, done.returncode) == (f"closed\n{raised}\n", "", 0)


def test_what_breaks_on_the_way_out_is_shown_only_by_vv() -> None:
    body = """
class Half:
    def __del__(self): self.never_made
def fail(): raise ValueError("its file is closed")
def all_break():
    Half()
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
"""
    cut = "try:\n ask()\nexcept KeyboardInterrupt: all_break()"
    before = program(f"{body}all_break()")
    assert "never_made" in before.stderr and "its file is closed" in before.stderr
    assert program(f"{body}{cut}").stderr == ""
    verbose = program(f"import logging\nlogging.basicConfig(level=logging.DEBUG)\n{body}{cut}")
    assert "never_made" in verbose.stderr and "its file is closed" in verbose.stderr


def test_who_asks_when_all_is_done_does_not_change_the_exit_code() -> None:
    forever = "threading.Thread(target=time.sleep, args=(30,)).start()"
    asking = "threading.Thread(target=lambda: (time.sleep(0.3), ask()), daemon=True).start()"
    done = program(f"{forever}\n{asking}\nending.exit_code, ending.is_over = 3, True\nsys.exit(3)")
    assert (done.returncode, done.stderr) == (3, "")


def test_what_is_ignored_stays_ignored() -> None:
    ignored = "import signal\nfor each in (1, 2, 15): signal.signal(each, signal.SIG_IGN)\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{ignored}{BEGIN}for each in (1, 2, 15): ask(each)\nprint('here')"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("here\n", "", 0)


def test_a_file_of_the_search_may_be_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    passed_over: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", passed_over.append)
    files = Path("/proc/self/fd")
    before, made, moment, left = len(list(files.iterdir())), False, 0, 0

    def trace(frame, event, _):  # type: ignore[no-untyped-def]
        nonlocal left
        if frame.f_code is not _MemoryFile.__init__.__code__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    while not made:
        left, moment = moment, moment + 1
        tracer = sys.gettrace()
        sys.settrace(trace)
        try:
            _MemoryFile()
            made = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(tracer)
    assert moment > 10
    assert passed_over == []
    # Those are lost where the interrupt came in the two bytecodes that keep what the system gave.
    assert len(list(files.iterdir())) <= before + 2
