"""PySpark's cloudpickle without PySpark: the same file, run as this module.

Contract: importing it does not import PySpark, which takes 0.13 s and brings 300 modules. What it pickles names this
module, which every process that has incoop can import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

# What is used of it.
CloudPickler: Any
dumps: Callable[[Any], bytes]
register_pickle_by_value: Callable[[ModuleType], None]
unregister_pickle_by_value: Callable[[ModuleType], None]


def _code() -> Any:
    """The code of PySpark's module, of a folder rather than of the archive that Spark's own workers have."""
    folders = [folder for folder in sys.path if not folder.endswith(".zip")]
    spark: Any = PathFinder.find_spec("pyspark", folders) or find_spec("pyspark")
    path = Path(spark.origin).parent / "cloudpickle" / "cloudpickle.py"
    if path.exists():
        return SourceFileLoader(__name__, str(path)).get_code(__name__)  # compiled once, as by an import
    return compile(spark.loader.get_data(str(path)), str(path), "exec", dont_inherit=True)


exec(_code(), globals())
