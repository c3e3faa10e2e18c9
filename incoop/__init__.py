"""Transparent, memoizing MapReduce on Apache Spark.

Importing this package is cheap: Spark and Redis are imported when they are first needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from incoop.counters import counter
from incoop.errors import BadCall, IncoopError

if TYPE_CHECKING:
    from incoop.batches import BatchCombiner, ChunkMapper
    from incoop.explain import Explanation
    from incoop.failures import ChangesLost, CombinerNotSound, JobFailed, NotDeterministic, TooLittleReuse
    from incoop.job import Job
    from incoop.report import RunReport
    from incoop.result import Change, Result
    from incoop.session import Session, connect

__version__ = "0.1.0"

#: Public name -> the module that defines it.
_LAZY = {
    "BatchCombiner": "incoop.batches",
    "ChunkMapper": "incoop.batches",
    "Change": "incoop.result",
    "ChangesLost": "incoop.failures",
    "Explanation": "incoop.explain",
    "NotDeterministic": "incoop.failures",
    "CombinerNotSound": "incoop.failures",
    "Job": "incoop.job",
    "JobFailed": "incoop.failures",
    "Result": "incoop.result",
    "RunReport": "incoop.report",
    "Session": "incoop.session",
    "TooLittleReuse": "incoop.failures",
    "connect": "incoop.session",
}

__all__ = [
    "BadCall",
    "BatchCombiner",
    "Change",
    "ChangesLost",
    "ChunkMapper",
    "CombinerNotSound",
    "Explanation",
    "IncoopError",
    "Job",
    "JobFailed",
    "NotDeterministic",
    "Result",
    "RunReport",
    "Session",
    "TooLittleReuse",
    "__version__",
    "connect",
    "counter",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'incoop' has no attribute {name!r}")
