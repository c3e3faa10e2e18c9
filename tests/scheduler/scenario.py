"""What happens on a real cluster, as a program: `python -m tests.scheduler.scenario KIND FOLDER` prints JSON.

One JVM holds one SparkContext, so each kind of cluster needs a process of its own; the tests read what it prints.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

import incoop
import incoop.engine.running.cluster
from incoop import inchdfs
from incoop.scheduler.spark_adapter import executors, locality_wait, located, where_stage_ran

from .clusters import INSTALLED, prepare, session, spark_home, standalone, wait_for_executors

#: One chunk a file, so that a share of the files is that share of the chunks.
FILES, CHANGED, WORDS = 60, 6, 8_000
ONE_CHUNK = inchdfs.ChunkSettings(average=1 << 20)
VOCABULARY = [f"{number:x}" for number in random.Random(5).sample(range(16**5, 16**6), 20_000)]


Uses = tuple[int, int]


def words(_: None, line: str) -> Iterator[tuple[str, Uses]]:
    for word in line.split():
        yield word, (1, len(line))


def total(word: str, uses: list[Uses]) -> Iterator[tuple[str, Uses]]:
    """How often a word occurs, and the length of the longest line with it. Not a plain sum, which would hardly read."""
    yield word, (sum(count for count, _ in uses), max(longest for _, longest in uses))


JOB = incoop.Job("words", words, total, total, shards=32)


def write(folder: Path, numbers: range, seed: int) -> None:
    """Files of random words, some common and most rare."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        rng = random.Random(f"{seed} {number}")
        text = [VOCABULARY[int(len(VOCABULARY) * rng.random() ** 2)] for _ in range(WORDS)]
        lines = (" ".join(text[at : at + 12]) for at in range(0, WORDS, 12))
        (folder / f"{number:03}.txt").write_text("\n".join(lines) + "\n")


def by_hand(folder: Path) -> dict[str, Uses]:
    found: dict[str, Uses] = {}
    for path in folder.iterdir():
        for line in path.read_text().splitlines():
            for word in line.split():
                count, longest = found.get(word, (0, 0))
                found[word] = count + 1, max(longest, len(line))
    return found


def ran(spark: SparkSession, store: Path, texts: Path, **options: Any) -> dict[str, Any]:
    """Run the job; its report, and whether the result is right."""
    with incoop.connect(store, spark=spark, chunks=ONE_CHUNK, **options) as inc:
        result = inc.run(JOB, str(texts))
        return {"right": dict(result) == by_hand(texts), **result.report.as_dict()}


def change(texts: Path, seed: int) -> None:
    """Replace a tenth of the chunks, here and there."""
    for number in range(0, FILES, FILES // CHANGED):
        write(texts, range(number, number + 1), seed)


# --- local-cluster: three executors that Spark starts itself


def in_one_jvm(folder: Path) -> dict[str, Any]:
    prepare(folder, spark_home(folder))
    # A relative path: in the working directory of each executor.
    with session("local-cluster[3,1,512]", **{"spark.executorEnv.INCOOP_CACHE": "cache"}) as spark:
        wait_for_executors(spark, 3)
        found: dict[str, Any] = {"hints": hints(spark)}
        # Affinity only: stealing depends on the moment, and has tests of its own.
        spark.sparkContext._jsc.sc().conf().set("spark.locality.wait", "20s")
        for name, seed in (("with", 1), ("without", 1)):
            if name == "without":
                incoop.engine.running.cluster.choose_locations = lambda tasks, hosts: []
            texts = folder / f"texts-{name}"
            write(texts, range(FILES), 0)
            first = ran(spark, folder / name, texts)
            change(texts, seed)
            found[name] = [first, ran(spark, folder / name, texts)]
        caches = list((folder / "spark" / "work").glob("app-*/*/cache"))
        found["caches"] = len({(cache / "name").read_text() for cache in caches})
    return found


def hints(spark: SparkSession) -> dict[str, Any]:
    """Tasks with wishes: for each executor, for one that is not there, for none."""
    context = spark.sparkContext
    living = executors(context)
    wishes = [[living[number % 3].location] for number in range(12)]

    def whereabouts(item: int) -> tuple[int, int]:
        task = TaskContext.get()
        assert task is not None
        time.sleep(0.05)
        return item, task.stageId()

    with locality_wait(context, 20):
        answers = located(context, range(12), wishes).map(whereabouts).collect()
    places = where_stage_ran(context, answers[0][1])
    settings = context._jsc.sc().conf()
    lost = [["executor_127.0.0.1_99"], ["executor_no-such-host_7"], ["not a location at all"], []]
    started = time.monotonic()
    with locality_wait(context, 0.3):
        inside = settings.get("spark.locality.wait.process")
        beside = [item for item, _ in located(context, range(4), lost).map(whereabouts).collect()]
    waited = time.monotonic() - started
    settings.set("spark.locality.wait", "20s")
    with locality_wait(context, 1.5):
        own = settings.contains("spark.locality.wait.process")
    settings.remove("spark.locality.wait")
    return {
        "executors": [[executor.id, executor.slots] for executor in living],
        "items": [item for item, _ in answers],
        "at home": sum(places[number] == living[number % 3].id for number in range(12)),
        "with lost executors": beside,
        "waited for lost executors": waited,
        "wait": [inside, settings.contains("spark.locality.wait.process"), own],
    }


# --- standalone: a master and three workers, one of which is killed


def of_processes(folder: Path) -> dict[str, Any]:
    prepare(folder, INSTALLED)
    texts = folder / "texts"
    write(texts, range(FILES), 0)
    with (
        standalone(folder, 3) as (master, workers),
        session(master, **{"spark.locality.wait": "20s", "spark.executor.cores": 1}) as spark,
    ):
        wait_for_executors(spark, 3)
        found: dict[str, Any] = {"hosts": sorted(executor.host for executor in executors(spark.sparkContext))}
        found["runs"] = [ran(spark, folder / "store", texts)]
        change(texts, 1)
        found["runs"].append(ran(spark, folder / "store", texts))
        found["caches"] = [len(list(worker.cache.glob("*/*@*"))) > 0 for worker in workers]

        damage(workers[0].cache)
        change(texts, 2)
        found["runs"].append(ran(spark, folder / "store", texts))

        # All chunks are new; when the victim has written a pack of them, it dies.
        victim = workers[1]
        write(texts, range(FILES), 3)
        before = set(victim.cache.glob("*/*@whole"))
        killed = threading.Event()

        def strike() -> None:
            while not killed.is_set():
                if set(victim.cache.glob("*/*@whole")) - before:
                    victim.kill()
                    killed.set()
                time.sleep(0.01)

        killer = threading.Thread(target=strike)
        killer.start()
        found["runs"].append(ran(spark, folder / "store", texts))
        found["killed in the middle"] = killed.is_set()
        killed.set()
        killer.join()
        change(texts, 4)
        found["runs"].append(ran(spark, folder / "store", texts))
        found["left"] = sorted(executor.host for executor in executors(spark.sparkContext))
        found["still running"] = [worker.process.poll() is None for worker in workers]
    return found


def damage(cache: Path) -> None:
    """Flip a byte in the middle of everything that a cache holds."""
    for path in cache.glob("*/*@*"):
        data = bytearray(path.read_bytes())
        if data:
            data[len(data) // 2] ^= 1
            path.write_bytes(data)


def main() -> None:
    kind, folder = sys.argv[1], Path(sys.argv[2])
    found = in_one_jvm(folder) if kind == "in-one-jvm" else of_processes(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
