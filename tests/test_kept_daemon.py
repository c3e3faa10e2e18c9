"""Workers that are forked from a kept process are as those that PySpark's daemon starts, and do not load it anew."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.kept_daemon import SOCKET

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def whereabouts(_: int) -> dict[str, Any]:
    daemon = sys.modules["__main__"]
    starter = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return {
        "program": daemon.__spec__ and daemon.__spec__.name,
        "arguments": sys.argv[1:],
        "variables": {name: os.environ.get(name) for name in ("KIND", SOCKET, "PYTHONHASHSEED")},
        "path": sys.path,
        "folder": str(Path.cwd()),
        "hash": hash("a text"),
        "input": str(Path("/proc/self/fd/0").readlink()),
        "forked from what is kept": "--keep" in starter,
    }


def asked(spark: SparkSession, **variables: str) -> dict[str, Any]:
    context: Any = spark.sparkContext
    before = dict(context.environment)
    context.environment.update(variables)
    try:
        return dict(context.parallelize(range(1), 1).map(lambda number: whereabouts(number)).collect()[0])
    finally:
        context.environment.clear()
        context.environment.update(before)


def test_a_worker_of_a_kept_daemon_is_as_one_of_pysparks(spark: SparkSession) -> None:
    kept = asked(spark, KIND="kept")
    theirs = asked(spark, KIND="theirs", **{SOCKET: "/nobody/listens/there"})
    assert (kept.pop("forked from what is kept"), theirs.pop("forked from what is kept")) == (True, False)
    assert kept.pop("variables") == {"KIND": "kept", SOCKET: None, "PYTHONHASHSEED": "0"}
    assert theirs.pop("variables")["KIND"] == "theirs"
    assert kept == theirs
    assert kept["program"] == "pyspark.daemon"


def test_where_texts_have_to_hash_otherwise_pysparks_daemon_starts(spark: SparkSession) -> None:
    assert not asked(spark, PYTHONHASHSEED="2")["forked from what is kept"]
