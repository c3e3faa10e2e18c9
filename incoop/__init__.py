"""Transparent, memoizing MapReduce on Apache Spark.

Importing this package is cheap: Spark and Redis are imported when they are first needed.
"""

from __future__ import annotations

from incoop.errors import BadCall, IncoopError

__version__ = "0.1.0"

__all__ = ["BadCall", "IncoopError", "__version__"]
