"""What user code may do to the process that it runs in, told in the same words wherever that was.

Contract: what a function raises (and `sys.exit`) is an answer of its task. What remains is here: a worker that crashed,
was ended, ran out of memory, or raised what is no error (`KeyboardInterrupt`). It ends the job with `WorkerFailed`;
answers that were there before are kept.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from incoop.base.errors import IncoopError

#: Of what a worker that failed said, this much is shown.
_SHOWN = 3000


class WorkerFailed(IncoopError):
    """A process that ran a job's functions ended, or could not go on, in the middle of a task."""

    def __init__(self, doing: str, how: str, trace: str = "") -> None:
        super().__init__(doing, how, trace)
        #: The job and the step of it; what became of the worker; the traceback, where there is one.
        self.doing, self.how, self.trace = doing, how, trace

    def __str__(self) -> str:
        said = f"\n{self.trace.rstrip()[-_SHOWN:]}\n" if self.trace else " "
        return (
            f"{self.doing}: a worker process {self.how}.{said}"
            "The job's functions, or a library that they call, ended it, crashed, or needed more memory than there is. "
            "Nothing of the failed task is kept; finished tasks are, so a repaired job goes on from here."
        )


class WorkersWithoutUs(IncoopError):
    """Python workers of a Spark that somebody else started have no incoop."""

    def __init__(self, python: str, ours: str) -> None:
        super().__init__(python, ours)
        #: The Python that workers run, and the one that runs us.
        self.python, self.ours = python, ours

    def __str__(self) -> str:
        return (
            f"Spark's workers run {self.python}, where incoop is not installed. Where they are on this machine, set "
            f"PYSPARK_PYTHON={self.ours} before the SparkSession is made; on a cluster, install incoop there."
        )


def ended_how(status: int) -> str:
    """What a process's status (of `os.waitpid`) says of its end.

    Example:
        >>> ended_how(9), ended_how(3 << 8)
        ('was killed (SIGKILL), as the system does when memory runs out', 'ended with exit code 3')
    """
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended with exit code {code}"
    if -code == signal.SIGKILL:
        return "was killed (SIGKILL), as the system does when memory runs out"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"crashed ({name})"


#: How Spark says that a Python worker is gone, or raised something.
_SPARK_LOST = ("Python worker exited unexpectedly", "Python worker crashed", "Crashed Python worker")
_SPARK_RAISED = "Traceback (most recent call last):"


#: Asks a worker, which may not know anything of ours, which Python it is and whether that has incoop.
_WHO = "(__import__('sys').executable, __import__('importlib.util').util.find_spec('incoop') is not None)"


def without_us(context: Any) -> WorkersWithoutUs | None:
    """Whether it is for want of incoop that workers fail."""
    try:
        ((python, found),) = context.parallelize([_WHO], 1).map(eval).collect()
    except Exception:
        return None
    return None if found else WorkersWithoutUs(python, sys.executable)


def of_spark(doing: str, error: BaseException) -> WorkerFailed | None:
    """The same for a job that failed on Spark; None where that was not for something that a Python worker did."""
    # PySpark shows some of Java's errors as its own, which keep where they came from.
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return None
    said, _, trace = str(java.getMessage()).partition(_SPARK_RAISED)
    if any(sign in said or sign in trace for sign in _SPARK_LOST):
        return WorkerFailed(doing, "crashed or was ended")
    if trace:
        trace = trace.partition("\n\n")[0]
        return WorkerFailed(doing, "could not go on", f"{_SPARK_RAISED}{trace}")
    return None
