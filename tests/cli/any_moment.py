"""A program that runs `incoop WORDS…` again and again, and interrupts it at another bytecode of ours each time.

    python any_moment.py MOMENTS WORDS…       {} in a word is the number of the moment

A first run, in a fork as all of them, counts the bytecodes of incoop's own files; the moments are spread over these.
Every second one is followed by another Ctrl-C, in the middle of what the first one began. A line of JSON for each: its
number, the exit code, and what was printed on standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import incoop
from incoop.cli.main import main

OURS = str(Path(incoop.__file__).parent)
#: Where signals are received, and `main`, which receives what they raise: there no bytecode is interrupted by a signal
#: between an exception and the handler that catches it, but by a trace function.
NOT_HERE = (f"{OURS}/cli/ending.py", f"{OURS}/cli/main.py")


def interrupt(seconds: float) -> None:
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


def run_in_fork(words: list[str], moment: int | None, again: float, told: Path) -> tuple[int, str]:
    """The exit code of `incoop WORDS…` and its standard error; interrupted at a bytecode, and some seconds later."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code, told.with_suffix(".err").read_text()
    for number, path in ((0, os.devnull), (1, told.with_suffix(".out")), (2, told.with_suffix(".err"))):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(OURS) or frame.f_code.co_filename in NOT_HERE:
            return None
        frame.f_trace_opcodes = True
        return each

    def each(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        if count == moment:
            if again:
                threading.Thread(target=interrupt, args=(again,), daemon=True).start()
            signal.raise_signal(signal.SIGINT)
        return each

    sys.argv = ["incoop", *words]
    sys.settrace(trace)
    try:
        main()
    finally:
        sys.settrace(None)
        if moment is None:
            modules = [name for name, module in sys.modules.items() if importable(module)]
            told.with_suffix(".count").write_text(json.dumps([count, modules]))
    raise AssertionError("main() ends the process")


def importable(module: Any) -> bool:
    """Not a job's file, which is imported for each run."""
    return (getattr(module, "__file__", None) or "").startswith((OURS, sys.prefix, sys.base_prefix))


def run_all(moments: int, words: list[str]) -> None:
    # Not by `with`, which forks would leave, too.
    told = Path(tempfile.mkdtemp()) / "told"
    for _ in range(2):  # the second one finds all modules imported, as all the others do
        code, said = run_in_fork([word.replace("{}", "whole") for word in words], None, 0, told)
        assert code == 0, said
        count, modules = json.loads(told.with_suffix(".count").read_text())
        for name in modules:
            importlib.import_module(name)
    choose = random.Random(1)
    for number in range(moments):
        moment = choose.randint(count * number // moments, count * (number + 1) // moments)
        again = choose.uniform(1e-5, 2e-3) if number % 2 else 0
        code, said = run_in_fork([word.replace("{}", str(number)) for word in words], moment, again, told)
        print(json.dumps([number, code, said]), flush=True)
    shutil.rmtree(told.parent)


if __name__ == "__main__":
    run_all(int(sys.argv[1]), sys.argv[2:])
