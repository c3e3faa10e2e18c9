"""A store and an input in a folder of their own, to run streaming jobs beside plain shell pipelines."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import incoop
from incoop import inchdfs
from incoop.engine.report import RunReport
from incoop.fronts.streaming.options import Options, parse_options
from incoop.fronts.streaming.run import run_streaming

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Some tens of lines in a chunk: a small input has about ten.
CHUNKS = inchdfs.ChunkSettings(average=2048)


def some_lines(count: int = 600, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(f"word{int(rng.paretovariate(0.7)) % 200}" for _ in range(6)) for _ in range(count)]


class Streams:
    """Runs jobs on `input/`, each with an output folder of its own."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder = folder
        self.input = folder / "input"
        self.input.mkdir()
        self.session = incoop.connect(folder / "store", spark=spark, chunks=CHUNKS)
        self.options = Options()
        self._runs = 0

    def write(self, lines: list[str], name: str = "a.txt") -> None:
        (self.input / name).write_text("".join(f"{line}\n" for line in lines))

    def program(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, *arguments: str) -> tuple[bytes, RunReport]:
        """Run a job; its part files one after the other, and the report."""
        self._runs += 1
        output = self.folder / f"out-{self._runs}"
        self.options = parse_options(["-input", str(self.input), "-output", str(output), *arguments])
        report = run_streaming(self.session, self.options)
        assert (output / "_SUCCESS").exists()
        return b"".join(path.read_bytes() for path in self.parts()), report

    def parts(self) -> list[Path]:
        """The part files of the last run."""
        return sorted((self.folder / f"out-{self._runs}").glob("part-*"))

    def shell(self, pipeline: str) -> bytes:
        """What a plain pipeline gives for the input, `sort` by bytes."""
        text = b"".join(path.read_bytes() for path in sorted(self.input.iterdir()))
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", pipeline],
            input=text,
            capture_output=True,
            check=True,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONHASHSEED": "0"},
        ).stdout
