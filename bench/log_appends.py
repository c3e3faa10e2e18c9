"""A log that grows: an update for what was appended, against plain PySpark on all of it.

Contract: one function, for bench_logs. Both ways run in one Spark session, by turns; every update's answer is compared
with plain PySpark's.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incoop
from bench import data
from bench.apps.app import fingerprint, rdd_fingerprint
from bench.measuring import Figure, jobs_in, plain_names, timed
from bench.paper.laboratory import spark_session

#: Jobs that users are shown.
EXAMPLES = Path(__file__).parents[1] / "examples" / "logs"

#: Percent of the log that arrive, with what is asked for and aimed at.
SHARES = {5: (12.0, 18.0), 10: (7.0, 10.0), 15: (5.0, 7.0), 20: (4.0, 5.0), 25: (3.3, 4.0)}


@dataclass(frozen=True)
class Kind:
    """A job's file, and the same as PySpark RDD code, from lines."""

    title: str
    file: str
    rdd: Callable[[Any, dict[str, Any]], Any]


def _words(lines: Any, names: dict[str, Any]) -> Any:
    mapper = names["words"]
    return lines.flatMap(lambda line: mapper(None, line)).reduceByKey(operator.add)


def _sessions(lines: Any, names: dict[str, Any]) -> Any:
    """With a list for each visitor: joining two lists of sessions at a time takes twice as long."""
    mapper, joined = names["visits"], names["joined"]
    return lines.flatMap(lambda line: mapper(None, line)).groupByKey().flatMap(lambda pair: joined(*pair))


KINDS = {
    "words": Kind("words of messages", "log_words.py", _words),
    "sessions": Kind("sessions", str(EXAMPLES / "sessions.py"), _sessions),
}


def appended(folder: Path, size: int, made: Path | None = None) -> list[Figure]:
    """5 to 25 % appended to a log: plain PySpark on the whole / an update. `made` is a log that is kept.

    Making 900 MB takes a minute of the processor, which a machine that one has to oneself need not wait for.
    """
    path, needed = made or folder / "made.log", round(size * (1 + sum(SHARES) / 100)) + (1 << 20)
    if not path.exists() or path.stat().st_size < needed:
        data.write_log(path, needed, passing=data.PASSING)
    with path.open("rb") as file:
        content = file.read(needed)
    if made is None:
        path.unlink()
    figures = []
    with spark_session(folder) as spark:
        for name, kind in KINDS.items():
            figures += _measured(folder / name, spark, content, size, kind)
    return figures


def _measured(folder: Path, spark: Any, content: bytes, size: int, kind: Kind) -> list[Figure]:
    folder.mkdir()
    log = folder / "access.log"
    base = content.index(b"\n", size) + 1
    log.write_bytes(content[:base])
    names = plain_names(kind.file)
    (job,) = jobs_in(kind.file).values()
    figures = []
    with incoop.connect(folder / "store", spark=spark) as session:
        timed(lambda: kind.rdd(spark.sparkContext.textFile(str(log)), names).count())  # the first also loads code
        first, _ = timed(lambda: session.run(job, str(log)))
        begin = base
        for share, asked in SHARES.items():
            end = content.index(b"\n", begin + size * share // 100) + 1
            # What arrived before is known, and would not be mapped again: each has lines of its own.
            log.write_bytes(content[:base])
            session.run(job, str(log))
            with log.open("ab") as file:
                file.write(content[begin:end])
            begin = end
            plain, pairs = timed(lambda: _counted(kind.rdd(spark.sparkContext.textFile(str(log)), names)))
            update, result = timed(lambda: session.run(job, str(log)))
            assert fingerprint(result) == rdd_fingerprint(pairs), f"{kind.title}, {share} %: not what PySpark gives"
            what = f"{share} % appended to {size / 1e6:.0f} MB, {kind.title} ({plain:.1f} s / {update:.2f} s)"
            print(f"{what}: {plain / update:.1f}", file=sys.stderr, flush=True)  # a run of minutes may be cut short
            details = {"plain": plain, "update": update, "first": first, "report": result.report.as_dict()}
            figures.append(Figure(what, plain / update, *asked, details=details))
    return figures


def _counted(pairs: Any) -> Any:
    pairs.count()
    return pairs
