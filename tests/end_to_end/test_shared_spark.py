"""Several sessions in one process share a Spark: the last that uses it stops it, unless it was the user's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, threading
import incoop
from pyspark import SparkContext

folder = sys.argv[1]
def session(name):
    return incoop.connect(f"{folder}/{name}", master="local[2]")

def stopped():
    return SparkContext._active_spark_context is None

def ran(session):
    return session.run(job, f"{folder}/input.txt").as_dict() == {"a": 1}

job = incoop.Job("letters", lambda _, line: [(line, 1)])
open(f"{folder}/input.txt", "w").write("a\\n")

outer = session("outer")
outer.warm_up()
with session("inner") as inner:
    inner.warm_up()
    assert ran(inner)
assert not stopped() and ran(outer), "the inner one stopped the outer one's"
late = session("late")
late.warm_up()
outer.close()
assert not stopped() and ran(late), "the first one stopped the last one's"
late.close()
assert stopped(), "nobody stopped it"

def begin():
    from pyspark.sql import SparkSession
    SparkSession.builder.master("local[2]").getOrCreate()

thread = threading.Thread(target=begin)
thread.start()
thread.join()
with session("guest") as guest:
    guest.warm_up()
assert not stopped(), "the user's own was stopped"
print("as it should be")
"""


def test_a_spark_lives_as_long_as_somebody_uses_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "as it should be" in done.stdout
