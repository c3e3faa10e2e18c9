"""What is known of Spark before it is started, and when nothing is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from incoop.fronts.rdd.unstarted.settings import Command, SparkSettings

LOCAL = Command(name="program.py")


@pytest.mark.parametrize(
    ("command", "program", "master", "name"),
    [
        pytest.param(LOCAL, {}, "local[*]", "program.py", id="nothing is asked for"),
        pytest.param(LOCAL, {"spark.master": "local[3]"}, "local[3]", "program.py", id="the program asks"),
        pytest.param(Command(master="local"), {"spark.master": "local[3]"}, "local[3]", "pyspark-shell", id="both ask"),
        pytest.param(LOCAL, {"spark.app.name": "mine"}, "local[*]", "mine", id="the program names itself"),
    ],
)
def test_the_program_has_the_last_word(command: Command, program: Mapping[str, str], master: str, name: str) -> None:
    settings = SparkSettings.of(command, program)
    assert settings is not None and (settings.master, settings.name) == (master, name)


@pytest.mark.parametrize(
    ("master", "parallelism"), [("local", 1), ("local[4]", 4), ("local[2, 3]", 2), ("local[ 8 ]", 8)]
)
def test_parallelism_is_that_of_the_master(master: str, parallelism: int) -> None:
    settings = SparkSettings.of(LOCAL, {"spark.master": master})
    assert settings is not None and settings.parallelism() == parallelism


def test_parallelism_that_is_asked_for_is_given() -> None:
    settings = SparkSettings.of(LOCAL, {"spark.default.parallelism": "7"})
    assert settings is not None and settings.parallelism() == 7


def test_how_many_processors_java_sees_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SparkSettings.of(LOCAL, {"spark.driver.extraJavaOptions": "-XX:ActiveProcessorCount=1"})
    assert settings is not None and settings.parallelism() is None
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:ActiveProcessorCount=1")
    settings = SparkSettings.of(LOCAL, {})
    assert settings is not None and settings.parallelism() is None


@pytest.mark.parametrize(
    "setting",
    [
        "spark.master=spark://there:7077",
        "spark.master=yarn",
        "spark.master=local-cluster[2,1,1024]",
        "spark.master=local[0]",
        "spark.master=local[many]",
        "spark.hadoop.fs.defaultFS=hdfs://there",
        "spark.eventLog.enabled=true",
        "spark.extraListeners=some.Listener",
        "spark.files=a.txt",
        "spark.remote=sc://there",
    ],
)
def test_what_only_spark_knows_is_spark_s(setting: str) -> None:
    key, _, value = setting.partition("=")
    assert SparkSettings.of(LOCAL, {key: value}) is None


@pytest.mark.parametrize("name", ["SPARK_CONF_DIR", "HADOOP_CONF_DIR", "SPARK_REMOTE", "SPARK_HOME"])
def test_settings_in_files_and_other_sparks_are_spark_s(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "/there")
    assert SparkSettings.of(LOCAL, {}) is None


def test_options_that_the_program_gives_to_pyspark_are_spark_s(monkeypatch: pytest.MonkeyPatch) -> None:
    command = Command(arguments="pyspark-shell")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    assert SparkSettings.of(command, {}) is not None
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master yarn pyspark-shell")
    assert SparkSettings.of(command, {}) is None


def test_workers_that_are_given_something_are_spark_s() -> None:
    settings = SparkSettings.of(LOCAL, {"spark.executorEnv.A": "B"})
    assert settings is not None and settings.for_workers
    assert Command(files=("a.txt",)).for_workers and Command(py_files=("a.zip",)).for_workers
    assert not Command(py_files=("a.py",)).for_workers and not LOCAL.for_workers
