"""Transparent, memoizing MapReduce on Apache Spark.

Importing this package is cheap: Spark and Redis are imported when they are first needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from incoop.base.errors import BadCall, IncoopError
from incoop.engine.running.counters import counter

if TYPE_CHECKING:
    from incoop.contraction.tree.known_combiners import BatchCombiner
    from incoop.engine.explain import Explanation
    from incoop.engine.failures import ChangesLost, CombinerNotSound, JobFailed, NotDeterministic, TooLittleReuse
    from incoop.engine.report import RunReport
    from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
    from incoop.job import Job
    from incoop.result import Change, Result
    from incoop.session import Session, connect

__version__ = "0.1.0"

#: Public name -> the module that defines it.
_LAZY = {
    "BatchCombiner": "incoop.contraction.tree.known_combiners",
    "ChunkMapper": "incoop.engine.stages.map_contract.whole_chunks",
    "Change": "incoop.result",
    "ChangesLost": "incoop.engine.failures",
    "Explanation": "incoop.engine.explain",
    "NotDeterministic": "incoop.engine.failures",
    "CombinerNotSound": "incoop.engine.failures",
    "Job": "incoop.job",
    "JobFailed": "incoop.engine.failures",
    "Result": "incoop.result",
    "RunReport": "incoop.engine.report",
    "Session": "incoop.session",
    "TooLittleReuse": "incoop.engine.failures",
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
