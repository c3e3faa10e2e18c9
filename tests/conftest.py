"""One Spark session for all tests: a second one in the same process would get the first one's settings."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How long an example takes says how busy the machine is.
settings.register_profile("incoop", deadline=None)
settings.load_profile("incoop")

REPOSITORY = Path(__file__).parents[1]

# A background job of a shell, or of nohup, starts with signals ignored, and so does what it starts. Commands that are
# tested start as from a terminal: what has a handler here is as usual there.
for _number, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, lambda number, _: sys.exit(128 + number)),
    (signal.SIGHUP, lambda number, _: sys.exit(128 + number)),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

# Each JVM of these tests lives for seconds: code that is compiled quickly and collected simply takes half of the
# processor's time (10 s for 23 s: a start and thirty small jobs). Set before any test module copies the environment.
LIGHT_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault("SPARK_LAUNCHER_OPTS", LIGHT_JAVA)

# Spark's classes, as `make test` writes them down (scripts/share_classes.py): a start takes 3.3 s of the processor
# instead of 6.7. A JVM that cannot use them does without, and has nothing to say about it on standard output.
SHARED_CLASSES = Path(sys.prefix) / "spark-classes.jsa"
if SHARED_CLASSES.exists():
    LIGHT_JAVA += f" -XX:SharedArchiveFile={SHARED_CLASSES} -Xlog:cds=off -Xlog:class+path=off"
os.environ.setdefault("SPARK_SUBMIT_OPTS", LIGHT_JAVA)

# Where files need no disk, for what does not test a disk: stores sync what they write, which takes milliseconds on a
# disk that others use, too. None where there is no such place, or too little room (a container has 64 MB).
_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30
IN_MEMORY = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(_MEMORY).free > _ROOM else None

# Files that take longest, so that none of them is begun last, when the other processes have nothing left to do. Where a
# file is not named here, those with more tests come first.
LONGEST_FIRST = (
    "trust/test_rdd_binding.py",
    "fronts/test_programs.py",
    "bench/test_command.py",
    "trust/test_code_travels.py",
    "trust/test_shared_workers.py",
    "trust/test_reads.py",
    "fronts/test_unstarted.py",
    "scheduler/test_cluster.py",
    "trust/test_state.py",
    "fronts/test_mrjob_examples.py",
    "end_to_end/test_scattered.py",
    "trust/test_worker_proves.py",
    "fronts/test_rdd_unusual.py",
    "cli/test_run.py",
    "cli/test_watch.py",
    "examples/test_logs.py",
    "trust/test_mrjob_code.py",
    "engine/running/test_process_programs.py",
    "trust/test_rerun.py",
    "trust/test_rdd_binding_laws.py",
    "fronts/test_rdd_laws.py",
    "bench/test_benchmarks.py",
    "end_to_end/test_kill.py",
    "ingest/test_daemons.py",
    "ingest/test_ingest_command.py",
    "fronts/test_mrjob_features.py",
    "state/test_keyed_state.py",
    "end_to_end/test_laws.py",
    "end_to_end/test_chains.py",
    "contract/test_contraction_laws.py",
    "query/test_execution_against_sql.py",
    "chunk/test_index.py",
    "bench/test_apps.py",
    "query/test_skew.py",
    "hostile/test_bombs_and_traps.py",
)


@pytest.fixture(autouse=True, scope="module")
def _no_modules_of_other_files() -> Iterator[None]:
    """Modules of users' that a test file loads are gone after it: the next file's `job.py` would get another name."""
    modules, path = set(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(_TEMPORARY) and not file.startswith(_OURS):
            del sys.modules[name]
    sys.path[:] = path


#: Where tests write programs; and what stays, wherever somebody has cloned the repository to.
_TEMPORARY = (tempfile.gettempdir(), str(_MEMORY))
_OURS = (str(REPOSITORY), sys.prefix, sys.base_prefix)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole files, in the order in which several processes should begin them."""
    sizes = Counter(item.path for item in items)
    places = {REPOSITORY / "tests" / name: place for place, name in enumerate(LONGEST_FIRST)}
    order = {path: (places.get(path, len(places)), -size) for path, size in sizes.items()}
    items.sort(key=lambda item: order[item.path])


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    from tests.kept_daemon import keeper

    with pytest.MonkeyPatch.context() as patch, keeper() as settings:
        # Workers must run this Python, and find the jobs of these tests.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]).rstrip(":"))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local[2]")
            .appName("incoop tests")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.default.parallelism", "2")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.memory", "1g")
            .config(map=settings)
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="session", autouse=True)
def _zygotes_are_kept() -> Iterator[None]:
    from tests.kept_zygote import zygotes_are_kept

    with zygotes_are_kept():
        yield
