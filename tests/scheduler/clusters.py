"""Real Spark clusters on this machine, from the pip-installed pyspark: in one JVM, and as processes of their own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

INSTALLED = Path(pyspark.__file__).parent

#: Short-lived JVMs on few cores: compile quickly, collect simply; and begin with the classes that Spark loads, where
#: they are written down (tests/conftest.py) and Spark is started from where it is installed. Others do without.
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
if (_shared := Path(sys.prefix) / "spark-classes.jsa").exists():
    LIGHT += f" -XX:SharedArchiveFile={_shared} -Xlog:cds=off -Xlog:class+path=off"

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": LIGHT,
    "spark.executor.extraJavaOptions": LIGHT,
    # Smaller tasks than this machine's cores ask for, as on a large cluster.
    "spark.default.parallelism": "12",
}


def spark_home(folder: Path) -> Path:
    """A SPARK_HOME whose `work` folder is here, not inside the installed package."""
    home = folder / "spark"
    home.mkdir()
    for name in ("bin", "jars"):
        (home / name).symlink_to(INSTALLED / name)
    return home


def prepare(folder: Path, home: Path) -> None:
    """Settings that Spark takes from the environment."""
    os.environ |= {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": LIGHT,
        "SPARK_LOCAL_DIRS": str(folder / "spark-temporary"),
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }


@contextmanager
def session(master: str, **settings: Any) -> Iterator[SparkSession]:
    """A Spark session with these settings, stopped at the end."""
    builder = SparkSession.builder.master(master).appName("incoop cluster tests")
    for key, value in (SETTINGS | settings).items():
        builder = builder.config(key, str(value))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


def wait_for_executors(spark: SparkSession, count: int) -> None:
    from incoop.scheduler.spark_adapter import executors

    end = time.monotonic() + 60
    while len(executors(spark.sparkContext)) < count:
        assert time.monotonic() < end, f"{count} executors did not start in a minute"
        time.sleep(0.1)


@dataclass(slots=True)
class Worker:
    """A worker process of a standalone cluster, with its executors, and its cache folder."""

    process: subprocess.Popen[bytes]
    host: str
    cache: Path

    def kill(self) -> None:
        """kill -9, with the executors that it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[tuple[str, list[Worker]]]:
    """A master, and workers on loopback addresses of their own; gone at the end, whatever happens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        with (folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(INSTALLED / "bin" / "spark-class"), *arguments, "--webui-port", "0"],
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        started.append(process)
        return process

    try:
        start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port))
        found = []
        for number in range(workers):
            # Any address of 127/8 is this machine; to Spark they are different hosts.
            host, cache = f"127.0.0.{number + 2}", folder / f"cache-{number}"
            worker = ["org.apache.spark.deploy.worker.Worker", "--host", host, "--cores", "1", "--memory", "600m"]
            work = str(folder / f"work-{number}")
            process = start(
                f"worker-{number}", *worker, "--work-dir", work, master, SPARK_LOCAL_IP=host, INCOOP_CACHE=str(cache)
            )
            found.append(Worker(process, host, cache))
        yield master, found
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
