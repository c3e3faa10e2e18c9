"""A small fuzzer with a fixed seed: stored files and fields of Redis tampered with.

Each tampering ends in the right result or in one sentence with a remedy; after the remedy, if one was needed, the next
run is right. `make soak` runs ten times as many.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import incoop
from incoop.base.own_files import NotOurs, remove
from incoop.engine.running.workforce import Workforce
from incoop.inchdfs import Dataset, DatasetStore, expand, put
from incoop.maintenance.store import verify_all
from incoop.memo import Keep, MemoStore, StoreMissing, collect, stats
from incoop.memo.address import make_pool

from .test_output_folder import JOB, saved

SEED = 20260101
TEXT = "".join(f"word{number % 97} larch line{number}\n" for number in range(6000))
MORE = "".join(f"word{number % 89} oak line{number}\n" for number in range(6000))


def counted(text: str) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for word in text.split():
        counts[word] += 1
    return dict(counts)


EXPECTED = counted(TEXT + MORE)


class Fuzzed:
    """A store with something of every kind in it, of which each case gets a copy."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.template = folder, folder / "template"
        self.input = folder / "input"
        self.input.mkdir()
        (self.input / "a.txt").write_text(TEXT)
        (self.input / "b.txt.gz").write_bytes(gzip.compress(MORE.encode()))
        with incoop.connect(self.template / "store") as session:
            session.run(JOB, str(self.input / "a.txt"))
            session.run(JOB, str(self.input)).save(self.template / "out")
        datasets = DatasetStore(self.template / "store")
        put(datasets, expand(self.input / "a.txt"), "logs")
        put(datasets, expand(self.input), "logs", compress=True)
        self._session = incoop.connect(self.template / "workers", chunks=None)
        self.workforce: Workforce = self._session._workforce

    def close(self) -> None:
        self._session.close()

    @contextlib.contextmanager
    def session(self, store: Path) -> Iterator[incoop.Session]:
        """A session whose workers are those of all cases: starting them takes longer than a case."""
        session = incoop.connect(store)
        own, session._workforce = session._workforce, self.workforce
        try:
            yield session
        finally:
            session._workforce = own
            session.close()

    def case(self) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="c"))
        shutil.copytree(self.template, folder / "copy", ignore=shutil.ignore_patterns("workers"))
        return folder / "copy"


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    made = Fuzzed(tmp_path_factory.mktemp("fuzz"))
    yield made
    made.close()


def kinds_of(place: Path) -> dict[str, list[Path]]:
    """The files of a copy, by what they are."""
    kinds: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(place.rglob("*")):
        if path.is_file():
            parts = path.relative_to(place).parts
            by_place = "/".join(parts[:3] if "packs" in parts else parts[:-1])
            alike = path.suffix if path.suffix in (".pack", ".index", ".manifest") else path.name
            kinds[by_place if "delivered" in parts or "packs" in parts[:3:2] else f"{by_place}/{alike}"].append(path)
    return kinds


def junk(path: Path, rng: random.Random) -> bytes:
    size = max(1, path.stat().st_size)
    return rng.choice([b"", b"{}", b"[]", b"null", b"\xff" * 40, rng.randbytes(size), b"9" * 400, b"[" * 50_000])


def flipped(path: Path, rng: random.Random) -> bytes:
    data = bytearray(path.read_bytes() or b"x")
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


HOWS: dict[str, Callable[[Path, random.Random, Path], object]] = {
    "gone": lambda path, rng, place: path.unlink(),
    "cut": lambda path, rng, place: os.truncate(path, rng.randrange(max(1, path.stat().st_size))),
    "flipped": lambda path, rng, place: path.write_bytes(flipped(path, rng)),
    "junk": lambda path, rng, place: path.write_bytes(junk(path, rng)),
    "longer": lambda path, rng, place: path.write_bytes(path.read_bytes() + rng.randbytes(rng.randint(1, 99))),
    "another's": lambda path, rng, place: path.write_bytes(
        rng.choice([each for each in sorted(place.rglob("*")) if each.is_file() and each != path]).read_bytes()
    ),
    "folder": lambda path, rng, place: replaced(path, lambda each: (each / "in it").mkdir(parents=True)),
    "pipe": lambda path, rng, place: replaced(path, os.mkfifo),
    "link to a device": lambda path, rng, place: replaced(path, lambda each: each.symlink_to("/dev/zero")),
    "link to nothing": lambda path, rng, place: replaced(path, lambda each: each.symlink_to("/no/such/file")),
    "link to itself": lambda path, rng, place: replaced(path, lambda each: each.symlink_to(each)),
    "open to all": lambda path, rng, place: path.chmod(0o666),
}


def tamper_with_a_file(place: Path, rng: random.Random) -> str:
    kinds = kinds_of(place)
    kind = rng.choice(sorted(kinds))
    path, how = rng.choice(kinds[kind]), rng.choice(sorted(HOWS))
    HOWS[how](path, rng, place)
    return f"{path.relative_to(place)}: {how}"


def tamper_with_redis(place: Path, rng: random.Random) -> str:
    with MemoStore.open(place / "store", maintenance=True) as store:
        client: Any = redis.Redis(connection_pool=make_pool(store.session.link.url))
        with contextlib.closing(client):
            key = rng.choice(sorted(client.keys()))
            kind = client.type(key)
            values = [b"", b"\xff\xfe", b"-1", b"9" * 40, b"0", b"nan", b"{}", rng.randbytes(90)]
            how = rng.choice(["gone", "text", "list", "hash", "fields", "fields", "fields"])
            if how != "fields":
                client.delete(key)
                if how == "text":
                    client.set(key, rng.choice(values))
                elif how == "list":
                    client.rpush(key, *values)
                elif how == "hash":
                    client.hset(key, b"a", b"b")
            elif kind == b"hash":
                for field in rng.sample(sorted(client.hkeys(key)), min(3, client.hlen(key))):
                    client.hset(key, field, rng.choice(values))
                client.hset(key, rng.choice(values), rng.choice(values))
            elif kind == b"zset":
                client.zadd(key, {each: rng.randint(-9, 1 << 60) for each in values})
            elif kind == b"set":
                client.sadd(key, *values)
            else:
                client.set(key, rng.choice(values))
            return f"{key!r}: {how}"


def is_one_screen(error: BaseException) -> bool:
    told = str(error)
    return isinstance(error, incoop.IncoopError) and len(told.splitlines()) <= 10 and "Traceback" not in told


def used(fuzzed: Fuzzed, place: Path) -> None:
    """What a user does with a store; all of it has to be right."""
    with fuzzed.session(place / "store") as session:
        result = session.run(JOB, str(fuzzed.input))
        assert dict(result) == EXPECTED
        result.save(place / "out")
        assert sum(int(line.split("\t")[1]) for line in saved(place / "out").splitlines()) == sum(EXPECTED.values())
    assert b"".join(Dataset(DatasetStore(place / "store"), "logs@1").chunks()) == TEXT.encode()
    with MemoStore.open(place / "store", maintenance=True) as store:
        stats(store)
        collect(store, Keep())


def remedied(fuzzed: Fuzzed, place: Path, error: incoop.IncoopError) -> None:
    """What the sentence says to do."""
    if isinstance(error, NotOurs):
        assert "chmod" in str(error) or "Remove it" in str(error)
        remove(Path(error.path))
        return
    path = place / "out"
    if path.is_dir() and ("part files" in str(error) or "empty this one" in str(error)):
        shutil.rmtree(path)
        return
    with contextlib.suppress(StoreMissing):
        verify_all(place / "store", memo=None, dry_run=False, progress=lambda *_: None, repair=True)
    put(DatasetStore(place / "store"), expand(fuzzed.input / "a.txt"), "again")
    versions = DatasetStore(place / "store").versions("logs")
    if 1 not in versions:  # it was set aside: put it again
        folder = place / "store" / "inchdfs" / "datasets" / "logs"
        shutil.rmtree(folder)
        put(DatasetStore(place / "store"), expand(fuzzed.input / "a.txt"), "logs")


def tampered(fuzzed: Fuzzed, count: int, seed: int) -> None:
    rng = random.Random(seed)
    for number in range(count):
        place = fuzzed.case()
        what = (tamper_with_redis if number % 3 == 0 else tamper_with_a_file)(place, rng)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("logging.lastResort", None)
            for trial in range(4):
                try:
                    used(fuzzed, place)
                    break
                except incoop.IncoopError as error:
                    assert is_one_screen(error), (number, what, str(error))
                    assert trial < 3, (number, what, f"it stays broken: {error}")
                    remedied(fuzzed, place, error)
                except Exception as error:
                    raise AssertionError(f"case {number}: {what}: {type(error).__name__}: {error}") from error
            used(fuzzed, place)
        shutil.rmtree(place.parent)


@pytest.mark.timeout(240)
def test_fifty_tamperings(fuzzed: Fuzzed) -> None:
    tampered(fuzzed, 50, SEED)


@pytest.mark.endurance
@pytest.mark.timeout(3600)
def test_five_hundred_tamperings(fuzzed: Fuzzed) -> None:
    tampered(fuzzed, 500, SEED + 1)
