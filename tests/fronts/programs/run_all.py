"""A PySpark program that runs others, one after the other, each as `__main__`; what one prints goes into a file."""

import contextlib
import json
import runpy
import sys
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

if __name__ == "__main__":
    # Programs stop Spark at their end, and starting it again takes longer than most of them.
    SparkContext.stop = SparkSession.stop = lambda self: None
    for script, arguments, output in json.loads(Path(sys.argv[1]).read_text()):
        sys.argv = [script, *arguments]
        with Path(output).open("w") as out, contextlib.redirect_stdout(out):
            runpy.run_path(script, run_name="__main__")
        print("ran", Path(script).name)
