"""Run a function in a Python process of its own, that shares nothing with this one but files.

Contract: answers come in the order of the items. What the function prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import TypeVar

from incoop.base.errors import IncoopError

Item = TypeVar("Item")
Answer = TypeVar("Answer")

#: Of what a process that failed said, this much is shown.
_SHOWN = 2000


class ProcessFailed(IncoopError):
    """A process of ours ended before it had an answer."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(code, said)
        self.code, self.said = code, said

    def __str__(self) -> str:
        return (
            f"a process that was to run a part of the job again ended with {self.code}; its last words:\n{self.said}\n"
            "Functions that end their process, or need more memory than there is, cannot be run again."
        )


def run_in_fresh_process(function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
    """Call the function for every item, one after the other, in a new process."""
    done = subprocess.run(
        # -P: no module is taken from the folder where we work, which may be another's; unless it is so here, too.
        [sys.executable, "-P", "-m", "incoop.engine.running.fresh_process"],
        input=pickle.dumps((function, list(items))),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
        check=False,
    )
    if done.returncode:
        raise ProcessFailed(done.returncode, done.stderr.decode(errors="replace")[-_SHOWN:].strip())
    answers: list[Answer] = pickle.loads(done.stdout)
    return answers


def main() -> None:
    """The process: a function and items on standard input, answers on standard output."""
    out = sys.stdout.buffer
    with redirect_stdout(sys.stderr):
        function, items = pickle.load(sys.stdin.buffer)
        answers = [function(item) for item in items]
    out.write(pickle.dumps(answers))
    out.flush()


if __name__ == "__main__":
    main()
