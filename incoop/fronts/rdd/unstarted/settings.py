"""What a program asks of Spark, told without asking Spark.

Contract: what is said here is what a running Spark would say. Where that is not certain (a cluster, settings in files,
a Spark of somebody else's) there is no answer, and Spark is started as soon as the program makes its context.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: Masters in this process: `local`, `local[4]`, `local[*]`, with or without a number of failures.
_LOCAL = re.compile(r"local(?:\[\s*([1-9][0-9]*|\*)\s*(?:,\s*[1-9][0-9]*\s*)?\])?")

#: Settings in files, other clients and other Sparks: nobody knows what these bring but Spark.
_FOREIGN_ENVIRONMENT = (
    *("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "PYSPARK_GATEWAY_PORT"),
    *("SPARK_REMOTE", "SPARK_API_MODE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE", "SPARK_TESTING"),
)

#: Somebody waits for what Spark does when it starts: a log of events, a listener, files given to all; or other file
#: systems are meant.
_WAITED_FOR = (
    *("spark.eventLog.enabled", "spark.extraListeners", "spark.plugins", "spark.remote", "spark.api.mode"),
    *("spark.files", "spark.archives", "spark.submit.pyFiles"),
)
_HADOOP = "spark.hadoop."

#: Options of the command that have Spark do something beyond running the program, or read settings from a file.
_EAGER_OPTIONS = ("properties_file", "principal", "keytab", "proxy_user", "archives")

#: Where PySpark finds the options of spark-submit.
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"

#: Settings that make Spark's Python workers others than processes of this Python.
_OF_WORKERS = ("spark.executorEnv.", "spark.python.", "spark.pyspark.")

#: What changes how many processors Java sees.
_JAVA_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
_JAVA_SETTINGS = ("spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions")
_QUOTAS = ("cpu.max", "cpu.cfs_quota_us", "cpu/cpu.cfs_quota_us", "cpu,cpuacct/cpu.cfs_quota_us")


@dataclass(frozen=True, slots=True)
class Command:
    """What the command line says about Spark."""

    #: What Spark calls the application unless the program names it.
    name: str = "pyspark-shell"
    #: None unless the user asked for one.
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    #: Files for every worker.
    files: tuple[str, ...] = ()
    #: Modules and archives to import from.
    py_files: tuple[str, ...] = ()
    #: Whether Spark has to be there from the beginning.
    eager: bool = False
    #: The same for PySpark, which programs replace; None where nobody looks.
    arguments: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, object], conf: Mapping[str, str], script: str) -> Command:
        """What the options of `incoop submit` say."""

        def listed(name: str) -> tuple[str, ...]:
            return tuple(each for each in str(options.get(name) or "").split(",") if each)

        master, name, java = (options.get(option) for option in ("master", "name", "driver_java_options"))
        if java:
            conf = {**conf, _JAVA_SETTINGS[0]: str(java)}
        return cls(
            name=str(name or conf.get("spark.app.name") or Path(script).name),
            master=str(master) if master else conf.get("spark.master"),
            conf=dict(conf),
            files=listed("files"),
            py_files=listed("py_files"),
            eager=any(options.get(option) for option in _EAGER_OPTIONS),
            arguments=os.environ.get(_ARGUMENTS),
        )

    @property
    def for_workers(self) -> bool:
        """Whether workers of Spark's are given what others are not."""
        return bool(self.files) or not all(file.endswith(".py") for file in self.py_files)


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """What holds for one context: what the command line says, and over it what the program does."""

    known: Mapping[str, str]

    @classmethod
    def of(cls, command: Command, program: Mapping[str, str]) -> SparkSettings | None:
        """None where Spark has to be there from the beginning."""
        asked = {"spark.app.name": command.name, "spark.master": command.master or "local[*]"}
        known = {**command.conf, **asked, **program}
        foreign = any(name in os.environ for name in _FOREIGN_ENVIRONMENT) or _has_settings_in_files()
        foreign = foreign or command.arguments not in (None, os.environ.get(_ARGUMENTS))
        waited = any(known.get(key, "false").lower() != "false" for key in _WAITED_FOR)
        if command.eager or foreign or waited or any(key.startswith(_HADOOP) for key in known):
            return None
        return cls(known) if _LOCAL.fullmatch(known["spark.master"]) else None

    @property
    def master(self) -> str:
        return self.known["spark.master"]

    @property
    def name(self) -> str:
        return self.known["spark.app.name"]

    @property
    def for_workers(self) -> bool:
        """Whether functions may tell Spark's workers from others."""
        python = os.environ.get("PYSPARK_PYTHON", sys.executable)
        return python != sys.executable or any(key.startswith(_OF_WORKERS) for key in self.known)

    def parallelism(self) -> int | None:
        """How many tasks run at once, unless only Java knows."""
        if "spark.default.parallelism" in self.known:
            asked = self.known["spark.default.parallelism"]
            return int(asked) if asked.isdecimal() else None
        found = _LOCAL.fullmatch(self.master)
        assert found is not None
        return processors(self.known) if found[1] == "*" else int(found[1] or 1)


def processors(known: Mapping[str, str]) -> int | None:
    """How many processors Java sees; None where an option or a quota may tell it something else."""
    if any(name in os.environ for name in _JAVA_OPTIONS) or any(name in known for name in _JAVA_SETTINGS):
        return None
    for name in _QUOTAS:
        try:
            quota = Path("/sys/fs/cgroup", name).read_text().split()[0]
        except (OSError, IndexError):
            continue
        if quota not in ("max", "-1"):
            return None
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _has_settings_in_files() -> bool:
    import pyspark

    home = Path(pyspark.__file__).parent
    return Path(os.environ.get("SPARK_HOME") or home).resolve() != home.resolve() or (home / "conf").is_dir()
