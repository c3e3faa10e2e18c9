"""Input that means harm: a few bytes that stand for gigabytes, pipes and devices, names without end."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import incoop
from incoop.base.checksums import block_hash
from incoop.contraction.parts.blocks import compressed, decompressed
from incoop.inchdfs import Dataset, DatasetStore, expand, put
from incoop.inchdfs.errors import InputUnreadable, StoreDamaged
from incoop.inchdfs.files import sources
from tests.cli.command import incoop_here

MEGABYTE = 1 << 20

#: The most memory that a process had, in kilobytes. Not `ru_maxrss`, which begins with what the parent had at the fork.
PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""

#: Prints by how much the process grew, and how it ended.
PUT = f"""{PEAK}
import sys
from incoop.inchdfs import DatasetStore, expand, put
from incoop.base.errors import IncoopError
store, files = DatasetStore(sys.argv[2]), expand(sys.argv[1])
before = peak()
try:
    ended = put(store, files, "bomb").bytes
except IncoopError as error:
    ended = str(error)
print((peak() - before) // 1024, ended)
"""

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor(level=1).compress,
}
SMALLEST = COMPRESSORS | {"gz": lambda data: gzip.compress(data, 9)}


def grown_by_putting(path: Path) -> tuple[int, str]:
    words = [sys.executable, "-c", PUT, str(path), str(path.parent / "store")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    megabytes, _, ended = done.stdout.strip().partition(" ")
    return int(megabytes), ended


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_few_bytes_that_stand_for_many_do_not_fill_the_memory(tmp_path: Path, kind: str) -> None:
    bomb = tmp_path / f"bomb.{kind}"
    line = bytes(MEGABYTE - 1) + b"\n"
    bomb.write_bytes(COMPRESSORS[kind](line * 300))
    assert bomb.stat().st_size < 2 * MEGABYTE
    megabytes, ended = grown_by_putting(bomb)
    assert ended == str(300 * MEGABYTE)
    assert megabytes < 120


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_nor_where_they_are_one_record(tmp_path: Path, kind: str) -> None:
    bomb = tmp_path / f"bomb.{kind}"
    bomb.write_bytes(SMALLEST[kind](bytes(600 * MEGABYTE)))
    assert bomb.stat().st_size < MEGABYTE
    megabytes, ended = grown_by_putting(bomb)
    assert "a record is longer than" in ended
    assert megabytes < 300


def test_a_stored_block_that_claims_gigabytes_is_lost_before_it_is_made() -> None:
    whole = compressed(b"oak" * 1000, 3)
    assert decompressed(whole, block_hash(b"oak" * 1000)) == b"oak" * 1000
    # A frame of one block of zeros, repeated, that says it has 2**40 bytes.
    frame = bytes.fromhex("28b52ffd") + b"\xe0" + (1 << 40).to_bytes(8, "little") + b"\x02\x00\x08\x00" * 64
    assert zstandard.frame_content_size(frame) == 1 << 40
    assert decompressed(whole[:7] + frame, bytes(16)) is None


def calls_to_read() -> int:
    return int(Path("/proc/self/io").read_text().split("syscr: ")[1].split()[0])


def test_a_name_without_end_inside_a_compressed_file_is_not_read_byte_by_byte(tmp_path: Path) -> None:
    head = b"\x1f\x8b\x08\x08" + bytes(6)
    (tmp_path / "named.gz").write_bytes(head + b"x" * 500_000 + b"\0" + gzip.compress(b"oak\n")[10:])
    (tmp_path / "unnamed.gz").write_bytes(head + b"x" * 500_000)
    before = calls_to_read()
    store = DatasetStore(tmp_path / "store")
    assert put(store, expand(tmp_path / "named.gz"), "data").bytes == 4
    with pytest.raises(InputUnreadable):
        put(store, expand(tmp_path / "unnamed.gz"), "data")
    assert calls_to_read() - before < 10_000


#: Prints by how much the process grew while it read a block that is not what its hash says.
READ = f"""{PEAK}
import sys
from incoop.contraction.parts.blocks import decompressed
stored = open(sys.argv[1], "rb").read()
before = peak()
got = decompressed(stored, bytes.fromhex(sys.argv[2]))
print((peak() - before) // 1024, got is not None and len(got))
"""


def grown_by_reading(path: Path, digest: bytes) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", READ, path, digest.hex()], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    megabytes, ended = done.stdout.split()
    return int(megabytes), ended


@pytest.mark.parametrize("window", ["as large as the block", "small"])
def test_nor_does_one_that_stands_for_less_fill_the_memory(tmp_path: Path, window: str) -> None:
    """Its claim is one that a block may make: it is found not to be the block before it is made."""
    data = bytes(400 * MEGABYTE)
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=29 if window != "small" else 19)
    frame = zstandard.ZstdCompressor(compression_params=parameters).compress(data)
    (tmp_path / "block").write_bytes(bytes(4) + frame)
    assert len(frame) < MEGABYTE
    megabytes, ended = grown_by_reading(tmp_path / "block", block_hash(b"another"))
    assert ended == "False" and megabytes < 60
    if window == "small":  # as we write them: what is a block is given, however well it compresses
        assert grown_by_reading(tmp_path / "block", block_hash(data))[1] == str(400 * MEGABYTE)


def test_a_stored_chunk_of_another_length_is_damage(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"oak\n" * 50_000)
    store = DatasetStore(tmp_path / "store")
    put(store, expand(tmp_path / "input"), "data", compress=True)
    (pack,) = store.packs.glob("*.pack")
    where = Dataset(store, "data").locations()[0]
    bomb = zstandard.ZstdCompressor().compress(bytes(64 * MEGABYTE))
    pack.write_bytes(pack.read_bytes()[: where.offset] + bomb.ljust(where.stored, b"\0") + bytes(10_000))
    with pytest.raises(StoreDamaged, match="has another length"):  # found before it is made
        list(Dataset(store, "data").chunks())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["pipe", "pipe.gz", "pipe.bz2", "pipe.zst"])
def test_a_pipe_that_nobody_writes_to_is_not_waited_for_for_ever(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PIPE_SECONDS", 0.3)
    os.mkfifo(tmp_path / name)
    others = set(threading.enumerate())  # of Spark, where other tests started it
    with pytest.raises(InputUnreadable, match="nobody wrote to it"):
        put(DatasetStore(tmp_path / "store"), expand(tmp_path / name), "data")
    assert set(threading.enumerate()) <= others


def test_a_pipe_that_somebody_writes_to_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def write() -> None:
        time.sleep(0.2)
        (tmp_path / "pipe").write_bytes(b"oak\n" * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    store = DatasetStore(tmp_path / "store")
    put(store, expand(tmp_path / "pipe"), "data")
    writer.join()
    assert b"".join(Dataset(store, "data").chunks()) == b"oak\n" * 1000


@pytest.mark.timeout(20)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/tty"])
def test_a_device_is_no_input(tmp_path: Path, device: str) -> None:
    (tmp_path / "link.txt").symlink_to(device)
    for path in (device, tmp_path / "link.txt"):
        with pytest.raises(incoop.IncoopError, match=r"no file|No such device|cannot read"):
            put(DatasetStore(tmp_path / "store"), expand(path), "data")
    assert put(DatasetStore(tmp_path / "store"), expand("/dev/null"), "nothing").bytes == 0


def test_names_without_end_are_one_sentence(tmp_path: Path) -> None:
    from .test_output_folder import JOB, total, words

    long = "x" * 5000
    (tmp_path / "words.txt").write_text("oak\n")
    with pytest.raises(incoop.IncoopError):
        incoop.Job("x" * 100_000, words, total)
    with pytest.raises(incoop.IncoopError):
        incoop.Job("\ud800", words, total)
    with incoop.connect(tmp_path / "store") as session:
        assert dict(session.run(incoop.Job(long, words, total, total), tmp_path / "words.txt")) == {"oak": 1}
        for named in (long, f"/{long}/*", f"inchdfs:/{long}", "inchdfs:/a@" + "9" * 5000, "/".join(["x"] * 5000)):
            with pytest.raises(incoop.IncoopError) as refused:
                session.run(JOB, named)
            assert "\n" not in str(refused.value)
        result = session.run(JOB, tmp_path / "words.txt")
        with pytest.raises(incoop.IncoopError, match="cannot write part files"):
            result.save(tmp_path / long)


def test_nor_do_they_fill_the_screen_of_an_ingest(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("oak\n")
    done = incoop_here("ingest", "x" * 5000, "y" * 5000, "a.log", "data", cwd=tmp_path)
    assert done.returncode == 0 and len(done.stderr) < 1500, done.stderr


def test_a_counter_is_named_by_a_text() -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

        def __hash__(self) -> int:
            return 1

    class Text(str):
        pass

    for name in (Evil(), Text("bad lines"), b"bad", None):
        with pytest.raises(incoop.IncoopError, match="counter takes a text"):
            incoop.counter(name)  # type: ignore[arg-type]
