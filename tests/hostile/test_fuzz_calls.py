"""Every way in, called with harm: names, contents and options that no one gives who means well; a fixed seed.

Each call ends in an error of ours, or well, and the store works afterwards. `make soak` makes ten times as many.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop.fronts.pig.syntax.parameters import Parameters, refuse_commands
from incoop.fronts.pig.syntax.script import parse_script, read_script
from incoop.inchdfs import Dataset, DatasetStore, expand, put
from incoop.memo import MemoStore
from incoop.windows.window import parsed
from tests.cli.command import incoop_here

from .test_fuzz import SEED, TEXT, Fuzzed, fuzzed, used
from .test_output_folder import JOB

__all__ = ["fuzzed"]


def hostile_texts(folder: Path) -> list[str]:
    """Names that no one gives who means well."""
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "folder" / "pipe.txt")
    (folder / "\x1b[2J\n.txt").write_text("oak\n")
    (folder / "noise.gz").write_bytes(random.Random(1).randbytes(5000))
    (folder / "cut.gz").write_bytes(gzip.compress(TEXT.encode())[:-30])
    (folder / "bomb.bz2").write_bytes(bytes.fromhex("425a6839314159265359") + bytes(200))
    (folder / "noise.txt").write_bytes(random.Random(2).randbytes(60_000))
    (folder / "noise.py").write_bytes(random.Random(3).randbytes(600))
    (folder / "deep.py").write_text("(" * 5000)
    (folder / "null.py").write_bytes(b"a = 1\0")
    files = [str(path) for path in sorted(folder.iterdir())]
    return [
        *files,
        *("", " ", "\0", "x" * 5000, "../" * 60 + "none", "/dev/zero", "/dev/null", "/proc/self/mem", "a\nb"),
        *(
            "\x1b[2J",
            "-",
            "--",
            "-x",
            "{",
            "%s%n",
            "s3://x/y",
            "file://",
            "file:///%00",
            "inchdfs:/..",
            "inchdfs:/a@-1",
        ),
        *(
            "inchdfs:/" + "a/" * 3000,
            "@",
            "@1",
            "*" * 50,
            "[",
            "[!",
            "**/x",
            "\ud800",
            "~",
            "C:\\x",
            "a:b",
            "\u202e",
        ),
        *("redis://:hunter2@127.0.0.1:1/0", "redis://", "unix:///no", "1e999", "-1", "nan", "9" * 400, "5%", "0x10"),
        *("9" * 30 + " days", "9" * 5000 + " files", "1h every " + "9" * 40 + "h", "%Q%s%", "inchdfs:/%"),
    ]


def calls(fuzzed: Fuzzed, store: Path, folder: Path) -> dict[str, Callable[[random.Random, Callable[[], str]], object]]:
    """The ways in, each with holes for hostile texts."""
    session = fuzzed._session
    datasets = DatasetStore(store)
    job = folder.parent / "good.py"
    job.write_text("import incoop\njob = incoop.Job('j', lambda _, line: [(line, 1)])\n")

    def command(*words: Any) -> Callable[[random.Random, Callable[[], str]], object]:
        def call(rng: random.Random, text: Callable[[], str]) -> object:
            filled = [text() if word is None else str(word) for word in words]
            done = incoop_here(*filled, cwd=folder)
            assert done.returncode in (0, 1, 2), (filled, done.returncode, done.stderr)
            assert "Traceback" not in done.stderr or "failed" in done.stderr or ".py" in done.stderr, done.stderr
            assert len(done.stderr) < 4000 and "\x1b" not in done.stderr and "hunter2" not in done.stderr, done.stderr
            return done

        return call

    where = ("--store", store)
    return {
        "connect": lambda rng, text: incoop.connect(text() or "x", memo="redis://:pw@127.0.0.1:1/0").close(),
        "memo": lambda rng, text: MemoStore.open(store, text() or "redis://", reply_seconds=0.2).close(),
        "blobs": lambda rng, text: MemoStore.open(folder / "s", "redis://127.0.0.1:1", blobs=text()).close(),
        "run": lambda rng, text: session.run(JOB, text()),
        "runs": lambda rng, text: session.run(JOB, [text(), text()]),
        "job": lambda rng, text: session.run(incoop.Job(text(), JOB.mapper), str(fuzzed.input / "a.txt")),
        "explain": lambda rng, text: session.explain(JOB, text()),
        "put": lambda rng, text: put(datasets, expand(text()), text()),
        "put names": lambda rng, text: put(datasets, expand(fuzzed.input / "a.txt"), text()),
        "dataset": lambda rng, text: list(Dataset(datasets, text()).chunks()),
        "remove": lambda rng, text: datasets.remove(text()),
        "incoop run": command("run", None, None, *where),
        "incoop run input": command("run", job, None, *where),
        "incoop run output": command("run", job, fuzzed.input / "a.txt", "--output", None, *where),
        "window": lambda rng, text: session.run(JOB, str(fuzzed.input), window=parsed(text())),
        "window times": lambda rng, text: session.run(JOB, text(), window=parsed("1h every 1m", text())),
        "pig": lambda rng, text: parse_script(text(), Parameters({"x": text()}, refuse_commands)),
        "pig file": lambda rng, text: read_script(text(), Parameters.load([text()], run_command=refuse_commands)),
        "pig parameters": lambda rng, text: Parameters.load((), [text()], run_command=refuse_commands),
        "incoop run window": command("run", job, None, "--window", None, "--time-of", None, *where),
        "incoop run html": command("run", job, fuzzed.input / "a.txt", "--html", None, *where),
        "incoop ingest": command("ingest", None, None, *where),
        "incoop ingests": command("ingest", None, None, "logs2", *where),
        "incoop ingest limits": command("ingest", folder, "logs3", "--batch", None, "--keep", None, *where),
        "incoop watch": command("watch", None, None, "--once", "--changes", *where),
        "incoop watch page": command("watch", job, None, "--once", "--every", None, "--html", None, *where),
        "incoop watch window": command("watch", job, None, "--once", "--changes", "--window", None, *where),
        "incoop watch output": command("watch", job, fuzzed.input / "a.txt", "--once", "--output", None, *where),
        "incoop put": command("put", None, None, *where),
        "incoop put sizes": command("put", fuzzed.input / "a.txt", "d", "--average", None, "--delimiter", None, *where),
        "incoop ls": command("ls", None, *where),
        "incoop stat": command("stat", None, *where),
        "incoop cat": command("cat", None, *where),
        "incoop diff": command("diff", None, None, *where),
        "incoop rm": command("rm", None, *where),
        "incoop chunks": command("chunks", None),
        "incoop gc": command("gc", "--max-bytes", None, "--max-age", None, *where),
        "incoop stats": command("stats", "--memo-file", None, *where),
        "incoop verify": command("verify", "--rerun", None, *where),
        "incoop store": command("ls", "--store", None),
        "incoop option": command("put", None, "x", "--records", None, *where),
        "incoop streaming": command("streaming", "-input", None, "-output", None, "-mapper", "cat", "-store", store),
        "incoop mrjob": command("mrjob", None, None, *where),
        "incoop submit": command("submit", "/no/such/program", None, *where),
        "incoop": command(None, None),
    }


def called(fuzzed: Fuzzed, count: int, seed: int) -> None:
    rng = random.Random(seed)
    place = fuzzed.case()
    folder = place / "hostile"
    folder.mkdir()
    texts = hostile_texts(folder)
    ways = calls(fuzzed, place / "store", folder)
    names = sorted(ways)
    for number in range(count):
        name, used_texts = names[number % len(names)], []

        def text(used_texts: list[str] = used_texts) -> str:
            used_texts.append(rng.choice(texts))
            return used_texts[-1]

        try:
            with contextlib.chdir(folder):
                ways[name](rng, text)
        except incoop.IncoopError as error:
            assert len(str(error).splitlines()) <= 40, (name, used_texts)
        except Exception as error:
            given = [each[:60] for each in used_texts]
            raise AssertionError(f"call {number}: {name} with {given!r}: {type(error).__name__}: {error}") from error
    used(fuzzed, place)
    shutil.rmtree(place.parent)


@pytest.fixture
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    from incoop.inchdfs.files import sources

    monkeypatch.setattr(sources, "PIPE_SECONDS", 0.2)
    monkeypatch.setenv("PYTHONHASHSEED", "0")


@pytest.mark.timeout(240)
def test_fifty_calls(fuzzed: Fuzzed, nobody_waits: None) -> None:
    called(fuzzed, 50, SEED)


@pytest.mark.endurance
@pytest.mark.timeout(3600)
def test_five_hundred_calls(fuzzed: Fuzzed, nobody_waits: None) -> None:
    called(fuzzed, 500, SEED + 1)
