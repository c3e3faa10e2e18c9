"""What it costs that a worker proves its code: packing, opening, proving, looking again; milliseconds, without Spark.

    python -m bench.bench_trust

The jobs are files as a user writes them. Opening is measured in a process of its own, as in a worker.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import bench_trust
from incoop.code import Shipment, pack
from incoop.engine.running.fresh_process import run_in_fresh_process
from incoop.engine.stages.map_contract.identity import functions_of, identify
from incoop.fronts.common.job_file import load_job

WORDS = """
import incoop

def words(_, line):
    for word in line.split():
        yield word, 1

def total(word, counts):
    yield word, sum(counts)

job = incoop.Job("word count", mapper=words, combiner=total, reducer=total)
"""

MODULES = """
import incoop
import clean, rules, weights

def words(_, line):
    for word in line.split():
        yield clean.word(word), weights.of(rules.kind(word))

def total(word, counts):
    yield word, sum(counts)

job = incoop.Job("modules", mapper=words, combiner=total, reducer=total)
"""

BESIDE = {
    "clean.py": "import re\nMARKS = re.compile(r'\\W')\ndef word(text):\n    return MARKS.sub('', text).lower()\n",
    "rules.py": "KINDS = {'a': 1}\ndef kind(text):\n    return KINDS.get(text, 0)\n",
    "weights.py": "WEIGHTS = [1, 2, 3]\ndef of(kind):\n    return WEIGHTS[kind]\n",
}

LARGE = WORDS.replace("def words", "NAMES = {f'name {n}': n for n in range(100_000)}\n\ndef words").replace(
    "yield word, 1", "yield word, NAMES.get(word, 1)"
)


def timed(call: Callable[[], Any], times: int = 20) -> float:
    """Median milliseconds."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        found.append((time.perf_counter() - started) * 1e3)
    return statistics.median(found)


def opened(shipment: Shipment) -> tuple[float, float, float]:
    """First opening, with imports and proof; another; looking after a task. In the process that is asked."""
    started = time.perf_counter()
    functions = shipment.open()
    first = (time.perf_counter() - started) * 1e3
    assert functions.doubts() is None
    return first, timed(lambda: shipment.open()), timed(lambda: shipment._differing(functions.functions))


def main() -> None:
    print(f"{'ms':28}{'identify':>10}{'pack':>10}{'first open':>12}{'open':>10}{'look':>10}")
    for name, source in (("word count", WORDS), ("with three modules", MODULES), ("a dict of 100,000 names", LARGE)):
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {"job.py": source, **BESIDE}.items():
                (Path(folder) / file).write_text(text)
            job = load_job(f"{folder}/job.py")
            functions = functions_of(job)
            shipment = pack("job", functions, prove=True)
            (found,) = run_in_fresh_process(bench_trust.opened, [shipment])
            row = timed(lambda job=job: identify(job)), timed(lambda f=functions: pack("job", f, prove=True)), *found
            print(f"{name:28}" + "".join(f"{value:>{12 if at == 2 else 10}.2f}" for at, value in enumerate(row)))
            for module in ("job", "clean", "rules", "weights"):
                sys.modules.pop(module, None)
            sys.path.remove(folder)


if __name__ == "__main__":
    main()
