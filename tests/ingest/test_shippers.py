"""What other log shippers lose or send twice, one case each."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
import zstandard

from incoop.inchdfs.ingest import homes as homes_module
from tests.ingest.shipper import HEADER, Shipper, add, age, each_once, numbered


def test_what_is_appended_is_added_to_the_stream(shipper: Shipper, logs: Path) -> None:
    for low in range(0, 500, 100):
        add(logs / "a.log", numbered(low, low + 100))
        shipper.poll()
    assert shipper.content() == numbered(0, 500)
    shipper.check_cuts()
    assert shipper.store.versions("logs") == [1, 2, 3, 4, 5]
    shipper.poll()
    assert shipper.store.versions("logs") == [1, 2, 3, 4, 5], "no version without a line"


@pytest.mark.parametrize("killed", [False, True], ids=["in one process", "killed before every look"])
def test_rename_and_compress_with_late_writes(shipper: Shipper, logs: Path, killed: bool) -> None:
    writer = (logs / "a.log").open("ab", buffering=0)
    for turn in range(6):
        writer.write(numbered(turn * 100, turn * 100 + 60))
        if turn % 2:
            shipper.poll()
        for number in (3, 2, 1):
            for suffix in ("", ".gz"):
                if (old := logs / f"a.log.{number}{suffix}").exists():
                    old.rename(logs / f"a.log.{number + 1}{suffix}")
        (logs / "a.log").rename(logs / "a.log.1")
        writer.write(numbered(turn * 100 + 60, turn * 100 + 100))  # the writer does not know yet
        if killed:
            shipper.kill()
        shipper.poll()
        if (second := logs / "a.log.2").exists():
            (logs / "a.log.2.gz").write_bytes(gzip.compress(second.read_bytes()))
            second.unlink()
        writer.close()
        writer = (logs / "a.log").open("ab", buffering=0)
        shipper.poll()
    writer.close()
    each_once(shipper, numbered(0, 600))
    assert len(shipper.by_stream()) == 6


@pytest.mark.parametrize("killed", [False, True])
def test_two_files_with_the_same_header(shipper: Shipper, logs: Path, killed: bool) -> None:
    (logs / "a.log").write_bytes(HEADER)
    (logs / "b.log").write_bytes(HEADER)
    shipper.poll()
    if killed:
        shipper.kill()
    add(logs / "b.log", numbered(100, 200))
    shipper.poll()
    add(logs / "a.log", numbered(0, 50))
    shipper.poll()
    each_once(shipper, HEADER, HEADER, numbered(0, 50), numbered(100, 200))
    assert shipper.by_stream()["a.log"] == HEADER + numbered(0, 50)
    assert shipper.by_stream()["b.log"] == HEADER + numbered(100, 200)


def test_a_header_longer_than_any_fingerprint(shipper: Shipper, logs: Path) -> None:
    header = HEADER * 200
    (logs / "a.log").write_bytes(header + b"from a\n")
    (logs / "b.log").write_bytes(header + b"from b\n")
    shipper.poll()
    each_once(shipper, header, header, b"from a\nfrom b\n")


@pytest.mark.parametrize("killed", [False, True])
def test_rotation_to_a_new_file_with_the_same_header(shipper: Shipper, logs: Path, killed: bool) -> None:
    (logs / "a.log").write_bytes(HEADER + numbered(0, 100))
    shipper.poll()
    (logs / "a.log").rename(logs / "a.log.1")
    (logs / "a.log").write_bytes(HEADER)
    if killed:
        shipper.kill()
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))
    shipper.poll()
    each_once(shipper, HEADER, HEADER, numbered(0, 200))


@pytest.mark.parametrize("header", [b"", HEADER * 10], ids=["other first lines", "the same first lines"])
def test_an_inode_that_another_file_has_now(shipper: Shipper, logs: Path, header: bytes) -> None:
    (logs / "a.log").write_bytes(header + numbered(0, 100))
    shipper.poll()
    inode = (logs / "a.log").stat().st_ino
    # The same inode with other content, longer than what was taken: as after a removal and a reuse.
    (logs / "a.log").write_bytes(header + numbered(1000, 1200))
    assert (logs / "a.log").stat().st_ino == inode
    shipper.kill()
    shipper.poll()
    each_once(shipper, header, header, numbered(0, 100), numbered(1000, 1200))


def test_truncated_and_written_beyond_where_it_was_taken_to(shipper: Shipper, logs: Path) -> None:
    (logs / "a.log").write_bytes(numbered(0, 100))
    shipper.poll()
    with (logs / "a.log").open("r+b") as file:
        file.truncate(0)
        file.write(numbered(500, 800))
    for _ in range(2):
        shipper.poll()
    each_once(shipper, numbered(0, 100), numbered(500, 800))


def test_a_file_that_shrinks_is_a_new_one(shipper: Shipper, logs: Path) -> None:
    (logs / "a.log").write_bytes(numbered(0, 100))
    shipper.poll()
    (logs / "a.log").write_bytes(numbered(700, 710))
    shipper.poll()
    each_once(shipper, numbered(0, 100), numbered(700, 710))


def test_a_file_replaced_by_another(shipper: Shipper, logs: Path) -> None:
    (logs / "a.log").write_bytes(numbered(0, 100))
    shipper.poll()
    (logs / "other").write_bytes(numbered(200, 400))
    (logs / "other").replace(logs / "a.log")
    shipper.poll()
    each_once(shipper, numbered(0, 100), numbered(200, 400))


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstandard.ZstdCompressor().compress)],
)
@pytest.mark.parametrize("killed", [False, True])
def test_a_compressed_copy_is_not_read_again_but_its_tail_is(
    shipper: Shipper, logs: Path, killed: bool, suffix: str, compress
) -> None:  # type: ignore[no-untyped-def]
    (logs / "a.log").write_bytes(numbered(0, 100))
    shipper.poll()
    if killed:
        shipper.homes.close()
    (logs / "a.log").unlink()
    (logs / f"a.log.1{suffix}").write_bytes(compress(numbered(0, 150)))
    if killed:
        shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 150))
    for _ in range(2):
        shipper.kill()
        shipper.poll()
    each_once(shipper, numbered(0, 150))


def test_a_compressed_file_that_is_being_written_waits(shipper: Shipper, logs: Path) -> None:
    whole = gzip.compress(numbered(0, 3000))
    (logs / "a.log.1.gz").write_bytes(whole[: len(whole) // 2])
    shipper.poll()
    assert shipper.content() == b"" and shipper.said == []
    (logs / "a.log.1.gz").write_bytes(whole)
    shipper.poll()
    each_once(shipper, numbered(0, 3000))


def test_the_last_line_waits_for_its_end(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", b"first\nseco")
    shipper.poll()
    assert shipper.content() == b"first\n"
    add(logs / "a.log", b"nd\n")
    shipper.poll()
    assert shipper.content() == b"first\nsecond\n"


def test_the_last_line_is_taken_on_request_and_goes_on(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", b"first\nseco")
    shipper.poll(last_line=True)
    assert shipper.content() == b"first\nseco"
    shipper.kill()
    add(logs / "a.log", b"nd\nthird\n")
    shipper.poll()
    assert shipper.content() == b"first\nsecond\nthird\n"
    shipper.check_cuts()


@pytest.mark.parametrize("killed", [False, True])
def test_the_last_line_of_a_rotated_file_is_taken_when_it_is_quiet(shipper: Shipper, logs: Path, killed: bool) -> None:
    add(logs / "a.log", b"first\nseco")
    shipper.poll()
    (logs / "a.log").rename(logs / "a.log.1")
    if killed:
        shipper.kill()
    shipper.poll()
    assert shipper.content() == b"first\n", "its writer may be in the middle of a line"
    age(logs / "a.log.1")
    shipper.poll()
    assert shipper.content() == b"first\nseco"


def test_the_last_line_of_a_removed_file_is_taken(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(logs / "a.log", b"first\nseco")
    shipper.poll()
    add(logs / "a.log", b"nd\nthi")
    (logs / "a.log").unlink()
    monkeypatch.setattr(homes_module, "QUIET_SECONDS", 0.0)
    shipper.poll()
    assert shipper.content() == b"first\nsecond\nthi"
    shipper.poll()
    assert all(stream.home is None for stream in shipper.homes.streams)


def test_dates_in_names(shipper: Shipper, logs: Path) -> None:
    for day in range(1, 4):
        (logs / f"app-2024-01-0{day}.log").write_bytes(numbered(day * 100, day * 100 + 50))
        shipper.poll()
        add(logs / f"app-2024-01-0{day}.log", numbered(day * 100 + 50, day * 100 + 60))
        shipper.kill()
        shipper.poll()
    each_once(shipper, *(numbered(day * 100, day * 100 + 60) for day in range(1, 4)))
    assert list(shipper.by_stream()) == [f"app-2024-01-0{day}.log" for day in range(1, 4)]


def test_of_a_named_file_what_it_was_before_is_read_to_its_end(tmp_path: Path, logs: Path) -> None:
    (logs / "a.log.1").write_bytes(numbered(900, 950))  # from before: not named
    shipper = Shipper(tmp_path / "store", logs / "a.log")
    add(logs / "a.log", numbered(0, 10))
    shipper.poll()
    add(logs / "a.log", numbered(10, 20))
    (logs / "a.log").rename(logs / "a.log.2")
    add(logs / "a.log", numbered(20, 30))
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 30))


def test_a_file_renamed_to_where_nobody_looks_is_read_to_its_end(shipper: Shipper, logs: Path, tmp_path: Path) -> None:
    with (logs / "a.log").open("ab", buffering=0) as writer:
        writer.write(numbered(0, 10))
        shipper.poll()
        (logs / "a.log").rename(tmp_path / "elsewhere")
        writer.write(numbered(10, 20))
        shipper.poll()
    each_once(shipper, numbered(0, 20))
