"""Ten scripts of Pig Latin, as PigMix asks: first run, nothing changed, one record changed, one percent in one region.

The views come in no order of theirs: a region of one percent belongs to a fifth of the users.

    python -m bench.bench_pig                              # 20 MB of views, all scripts
    python -m bench.bench_pig --size 300M --only group_sums

Each answer after a change is compared with that of a run on an empty store.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import incoop
from bench.changes import insert_record, replace_region
from bench.measuring import folder_size, timed
from incoop.cli.options import Size
from incoop.fronts.pig.errors import texts
from incoop.fronts.pig.running.prepare import Preparation
from incoop.fronts.pig.running.run import ScriptRun
from incoop.fronts.pig.syntax.parameters import Parameters
from incoop.fronts.pig.syntax.script import read_script

SCRIPTS = Path(__file__).parent / "jobs" / "pig"
#: A user has so many views.
_VIEWS = 20
#: Of a hundred users so many are known.
_KNOWN = 80
#: New views are those of one user in so many: 10,000 users of 300 MB, and the same share of fewer.
_ACTIVE = 37


def view(rng: random.Random, users: int) -> str:
    return (
        f"user{rng.randrange(users)}\t{rng.randrange(10)}\t{rng.randrange(1000)}\tquery {rng.randrange(5000)}"
        f"\t{rng.randrange(20)}\t{rng.randrange(30)}\t{rng.randrange(10_000) / 100}\n"
    )


def users_of(size: int) -> int:
    """How many users so many bytes of views are of."""
    return max(size // 40 // _VIEWS, 10)


def write_tables(folder: Path, size: int) -> None:
    """Views of so many bytes, and the users."""
    rng, users = random.Random(1), users_of(size)
    with (folder / "views").open("w") as file:
        left = size
        while left > 0:
            left -= file.write("".join(view(rng, users) for _ in range(1000)))
    lines = (
        f"user{number}\t+{number:09}\tcity {rng.randrange(200)}\t{rng.randrange(50)}\n"
        for number in range(users)
        if rng.randrange(100) < _KNOWN
    )
    (folder / "users").write_text("".join(lines))


def run(session: incoop.Session, script: Path, folder: Path, out: str) -> None:
    given = {"views": str(folder / "views"), "users": str(folder / "users"), "out": str(folder / out)}
    steps = Preparation(texts()).script(read_script(script, Parameters(given)), folder)
    ScriptRun(session, script.name, print, lambda _: None, texts()).run(steps)


def rows(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("part-*"))}


@contextmanager
def changed(path: Path, how: str) -> Iterator[None]:
    """The table with a change, until it is taken back."""
    content, rng = path.read_bytes(), random.Random(2)
    if how == "one record":
        new = insert_record(content, 1, view(rng, 100).encode())
    else:
        active = max(users_of(len(content)) // _ACTIVE, 1)
        fresh = "".join(view(rng, active) for _ in range(len(content) // 2000 + 100)).encode()
        new = replace_region(content, 0.01, fresh)
    path.write_bytes(new)
    try:
        yield
    finally:
        path.write_bytes(content)


def measure(script: Path, folder: Path) -> list[str]:
    """One script's figures."""
    with incoop.connect(folder / "store") as session:
        session.prepare()
        first, _ = timed(lambda: run(session, script, folder, "out"))
        same, _ = timed(lambda: run(session, script, folder, "out"))
        cells = [script.stem, f"{first:.2f}", f"{first / same:.0f}"]
        for how in ("one record", "one percent"):
            with changed(folder / "views", how):
                again, _ = timed(lambda: run(session, script, folder, "out"))
                with incoop.connect(folder / "fresh") as fresh:
                    fresh.prepare()
                    scratch, _ = timed(lambda: run(fresh, script, folder, "scratch"))
                assert rows(folder / "out") == rows(folder / "scratch"), (script, how)
                shutil.rmtree(folder / "fresh")
                shutil.rmtree(folder / "scratch")
            cells.append(f"{scratch / again:.1f}")
    tables = (folder / "views").stat().st_size + (folder / "users").stat().st_size
    cells.append(f"{folder_size(folder / 'store') / tables:.2f}")
    shutil.rmtree(folder / "store")
    shutil.rmtree(folder / "out")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--size", default="20M", help="bytes of views")
    parser.add_argument("--only", help="one script")
    chosen = parser.parse_args()
    print("| script | first run, s | unmodified: speed-up | one record | 1 % in one region | store over input |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, Size().convert(chosen.size, None, None))
        for script in sorted(SCRIPTS.glob("*.pig")):
            if chosen.only in (None, script.stem):
                print(f"| {' | '.join(measure(script, folder))} |", flush=True)


if __name__ == "__main__":
    main()
