"""A session that the user started: what its workers lack is said."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

PROGRAM = """
import incoop
from pyspark.sql import SparkSession

def mapper(_, line):
    yield line, 1

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with incoop.connect("store", spark=spark) as inc:
    try:
        inc.run(incoop.Job("lines", mapper), "in.txt")
    except incoop.IncoopError as error:
        print(error)
"""


def test_workers_of_another_python_are_named_with_the_remedy(tmp_path: Path) -> None:
    venv.create(tmp_path / "other", with_pip=False)
    other = tmp_path / "other/bin/python"
    (tmp_path / "in.txt").write_text("a\nb\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment | {"PYSPARK_PYTHON": str(other), "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stderr
    said = f"Spark's workers run {other}, where incoop is not installed."
    assert said in ran.stdout
    assert f"PYSPARK_PYTHON={sys.executable}" in ran.stdout
