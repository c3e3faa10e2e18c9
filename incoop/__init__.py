"""Transparent, memoizing MapReduce on Apache Spark.

Importing this package is cheap: Spark and Redis are imported when they are first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incoop.base.errors import BadCall, IncoopError
from incoop.base.lazy_names import lazy_names
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
    from incoop.windows.window import Window, last

__version__ = "0.1.0"

#: Public name -> the module below this one that defines it.
_HOME_OF = {
    "BatchCombiner": "contraction.tree.known_combiners",
    "ChunkMapper": "engine.stages.map_contract.whole_chunks",
    "Change": "result",
    "ChangesLost": "engine.failures",
    "Explanation": "engine.explain",
    "NotDeterministic": "engine.failures",
    "CombinerNotSound": "engine.failures",
    "Job": "job",
    "JobFailed": "engine.failures",
    "Result": "result",
    "RunReport": "engine.report",
    "Session": "session",
    "TooLittleReuse": "engine.failures",
    "Window": "windows.window",
    "connect": "session",
    "last": "windows.window",
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
    "Window",
    "__version__",
    "connect",
    "counter",
    "last",
]

__getattr__ = lazy_names(__name__, _HOME_OF)
