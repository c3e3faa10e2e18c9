"""Many small updates, one after the other: what each of them costs, with the ones that merge what the others left.

    python -m bench.bench_updates                 # bigrams of 40 MB of text, 24 updates of 1 % each
    python -m bench.bench_updates --app words --size 192

The last answer is compared with plain PySpark's.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from bench import changes
from bench.apps import APPS
from bench.apps.app import same
from bench.paper.laboratory import FRESH_SEED, SEED, spark_session
from bench.runners.memoized import Memoized
from bench.runners.plain import PlainRdd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", choices=list(APPS), default="bigrams")
    parser.add_argument("--size", type=int, default=40, help="of the input, in MB")
    parser.add_argument("--updates", type=int, default=24)
    given = parser.parse_args()
    app, size = APPS[given.app], given.size << 20
    with tempfile.TemporaryDirectory(prefix="incoop-bench-") as name:
        folder = Path(name)
        path = folder / "input.txt"
        app.write(path, size, SEED)
        content = path.read_bytes()
        app.write(folder / "fresh", size, FRESH_SEED)
        fresh = (folder / "fresh").read_bytes()
        with spark_session(folder) as spark, Memoized(spark, folder / "store") as inc:
            plain = PlainRdd(spark)
            plain.run(app, path)
            whole = plain.run(app, path).seconds
            print(f"plain PySpark {whole:.2f} s, first run {inc.run(app, path).seconds:.2f} s")
            seconds = []
            for number in range(given.updates):
                content = changes.replace_chunks(content, 0.01, fresh, seed=number)
                path.write_bytes(content)
                measured = inc.run(app, path)
                seconds.append(measured.seconds)
                phases = measured.report["seconds"]
                print(f"update {number + 1:3d}: {measured.seconds:.2f} s, contract {phases['contract']:.2f} s")
            assert same(plain.answer(app, path), inc.last_answer(app)), "not what plain PySpark gives"
    low, high = min(seconds), max(seconds)
    print(
        f"median {statistics.median(seconds):.2f} s ({low:.2f}-{high:.2f}), mean {statistics.mean(seconds):.2f} s: "
        f"{whole / statistics.mean(seconds):.1f} times faster than plain PySpark"
    )


if __name__ == "__main__":
    main()
