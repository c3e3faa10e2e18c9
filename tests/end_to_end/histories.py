"""Inputs and their edits, and what a job gives on them by plain means."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import incoop
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.normal import normal

from .places import Files, Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EDITS = (
    "insert",
    "delete",
    "replace",
    "change one word",
    "move",
    "append",
    "prepend",
    "truncate",
    "empty",
    "duplicate",
    "new input",
    "add file",
    "remove file",
    "rename file",
    "go back",
    "nothing",
)


def some_lines(rng: random.Random, count: int) -> list[str]:
    """Lines of words, some rare and some frequent."""
    return [
        " ".join(f"w{min(rng.randrange(1, 400), rng.randrange(1, 400))}" for _ in range(rng.randint(0, 9)))
        for _ in range(count)
    ]


def edited(files: Files, edit: str, rng: random.Random) -> Files:
    """The files after an edit of one of them."""
    files = {name: list(lines) for name, lines in files.items()}
    name = rng.choice(sorted(files))
    lines = files[name]
    at = rng.randrange(len(lines) + 1)
    length = rng.randint(1, 30)
    match edit:
        case "insert":
            lines[at:at] = some_lines(rng, length)
        case "delete":
            del lines[at : at + length]
        case "replace":
            lines[at : at + length] = some_lines(rng, length)
        case "change one word" if lines:
            lines[at - 1] = f"{lines[at - 1]} w{rng.randrange(1, 400)}".strip()
        case "move":
            block, rest = lines[at : at + length], lines[:at] + lines[at + length :]
            to = rng.randrange(len(rest) + 1)
            files[name] = rest[:to] + block + rest[to:]
        case "append":
            lines += some_lines(rng, length)
        case "prepend":
            lines[:0] = some_lines(rng, length)
        case "truncate":
            del lines[at:]
        case "empty":
            lines.clear()
        case "duplicate":
            files[name] = lines + lines[at : at + 60] + lines[at : at + 60]
        case "new input":
            return {"new.txt": some_lines(rng, rng.randint(0, 200))}
        case "add file":
            files[f"added-{rng.randrange(1000)}.txt"] = some_lines(rng, length)
        case "remove file" if len(files) > 1:
            del files[name]
        case "rename file":
            files[f"{rng.choice('az')}-{rng.randrange(1000)}.txt"] = files.pop(name)
    return files


@st.composite
def histories(draw: st.DrawFn, most_edits: int = 4) -> list[Files]:
    """Versions of an input folder, each an edit of the one before or one that was there already."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    sizes = draw(st.lists(st.sampled_from([0, 1, 12, 60, 160, 300]), min_size=1, max_size=3))
    versions: list[Files] = [{f"file-{number}.txt": some_lines(rng, size) for number, size in enumerate(sizes)}]
    for edit in draw(st.lists(st.sampled_from(EDITS), min_size=1, max_size=most_edits)):
        versions.append(rng.choice(versions) if edit == "go back" else edited(versions[-1], edit, rng))
    return versions


def random_history(seed: object, edits: int = 4) -> list[Files]:
    """A history that follows from a seed: larger than those that hypothesis begins with."""
    rng = random.Random(str(seed))
    versions: list[Files] = [{f"file-{number}.txt": some_lines(rng, rng.randint(30, 200)) for number in range(2)}]
    for edit in rng.sample(EDITS, edits):
        versions.append(rng.choice(versions) if edit == "go back" else edited(versions[-1], edit, rng))
    return versions


def lines_of(files: Files) -> list[str]:
    """All lines, in the order in which a folder is read."""
    return [line for name in sorted(files) for line in files[name]]


def by_hand(job: incoop.Job, files: Files) -> list[tuple[Any, Any]]:
    """The job's pairs: keys together that are the same, their values in input order."""
    groups: dict[bytes, tuple[Any, list[Any]]] = {}
    assert callable(job.mapper) and job.reducer is not None
    for line in lines_of(files):
        for key, value in job.mapper(None, line):
            groups.setdefault(encode(normal(key)), (key, []))[1].append(value)
    return [pair for key, values in groups.values() for pair in job.reducer(key, values)]


def by_spark(job: incoop.Job, place: Place) -> list[tuple[Any, Any]]:
    """The job as plain PySpark code."""
    mapper, reducer = job.mapper, job.reducer
    assert callable(mapper) and reducer is not None
    lines = place.spark.sparkContext.textFile(str(place.input))
    return lines.flatMap(lambda line: mapper(None, line)).groupByKey(2).flatMap(lambda pair: reducer(*pair)).collect()


def as_set(pairs: list[tuple[Any, Any]]) -> Counter[bytes]:
    """Pairs without their order, to the type and the bit."""
    return Counter(encode(pair) for pair in pairs)


def with_normal_keys(pairs: list[tuple[Any, Any]]) -> Counter[bytes]:
    """Pairs without their order, equal keys and lists of equal items alike: PySpark keeps any key and any order."""
    return Counter(
        encode((normal(key) if key.__hash__ else key, sorted(map(encode, value)) if isinstance(value, list) else value))
        for key, value in pairs
    )


def spark_jobs(spark: SparkSession) -> int:
    """How many jobs the session has run."""
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
