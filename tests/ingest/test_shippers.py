"""What other log shippers lose or send twice, one case each; and what bad files do."""

from __future__ import annotations

import bz2
import gzip
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard

from incoop.inchdfs import Dataset as StoredDataset
from incoop.inchdfs import DatasetStore, diff, expand, put
from incoop.inchdfs.ingest import homes as homes_module
from incoop.inchdfs.ingest.log_file import LogFile
from incoop.inchdfs.ingest.streams import NOTE
from tests.ingest.shipper import SMALL, Shipper

HEADER = b"#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n"


def numbered(low: int, high: int) -> bytes:
    return b"".join(b"%06d GET /page/%d 200\n" % (n, n * 7919 % 1000) for n in range(low, high))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def shipper(tmp_path: Path, logs: Path) -> Shipper:
    return Shipper(tmp_path / "store", logs)


def add(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def age(path: Path, seconds: float = 60) -> None:
    """Make a file one that nobody has written to for some time."""
    os.utime(path, (time.time() - seconds, time.time() - seconds))


def each_once(shipper: Shipper, *contents: bytes) -> None:
    assert Counter(shipper.lines()) == Counter(b"".join(contents).splitlines())
    shipper.check_cuts()


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


def copytruncate(path: Path, copy: Path) -> None:
    shutil.copyfile(path, copy)
    os.truncate(path, 0)


@pytest.mark.parametrize("killed", [False, True])
def test_copytruncate_takes_what_is_in_the_copy_once(shipper: Shipper, logs: Path, killed: bool) -> None:
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))  # not looked at before
    copytruncate(logs / "a.log", logs / "a.log.1")
    add(logs / "a.log", numbered(200, 250))
    if killed:
        shipper.kill()
    shipper.poll()
    add(logs / "a.log", numbered(250, 300))
    shipper.poll()
    each_once(shipper, numbered(0, 300))


@pytest.mark.parametrize("part", [0.3, 1.0], ids=["half copied", "copied"])
def test_a_restart_in_the_middle_of_a_copytruncate(shipper: Shipper, logs: Path, part: float) -> None:
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 150))
    content = (logs / "a.log").read_bytes()
    (logs / "a.log.1").write_bytes(content[: int(part * len(content))])
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 150))
    (logs / "a.log.1").write_bytes(content)
    shipper.poll()
    os.truncate(logs / "a.log", 0)
    shipper.poll()
    add(logs / "a.log", numbered(150, 180))
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 180))


def test_lines_taken_between_copy_and_truncate_are_kept_and_the_copy_is_not_taken_again(
    shipper: Shipper, logs: Path
) -> None:
    add(logs / "a.log", numbered(0, 100))
    shutil.copyfile(logs / "a.log", logs / "a.log.1")
    add(logs / "a.log", numbered(100, 120))
    shipper.poll()
    os.truncate(logs / "a.log", 0)
    for name in ("a.log.1", "a.log.2"):
        shipper.poll()
        shipper.kill()
        (logs / name).rename(logs / f"a.log.{int(name[-1]) + 1}")
    shipper.poll()
    each_once(shipper, numbered(0, 120))


@pytest.mark.parametrize("killed", [False, True])
def test_a_hole_of_nuls_that_a_writer_not_in_append_mode_leaves(shipper: Shipper, logs: Path, killed: bool) -> None:
    with (logs / "a.log").open("wb", buffering=0) as writer:
        for turn in range(3):
            writer.write(numbered(turn * 100, turn * 100 + 80))
            shipper.poll()
            copytruncate(logs / "a.log", logs / f"a.log-2024010{turn}")
            writer.write(numbered(turn * 100 + 80, turn * 100 + 100))
            if killed:
                shipper.kill()
            shipper.poll()
        assert (logs / "a.log").read_bytes().startswith(b"\0" * 1000)
    shipper.poll()  # the one before saw that the file is another one now
    each_once(shipper, numbered(0, 300))


def test_a_hole_that_is_larger_than_the_disk_costs_nothing(shipper: Shipper, logs: Path) -> None:
    with (logs / "a.log").open("wb") as file:
        file.truncate(1 << 40)
        began = time.monotonic()
        shipper.poll()
        file.seek(1 << 40)
        file.write(b"at last\n")
    shipper.poll()
    assert time.monotonic() - began < 5
    assert shipper.content() == b"at last\n"


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


def test_more_files_than_may_be_open(tmp_path: Path, logs: Path) -> None:
    shipper = Shipper(tmp_path / "store", logs, most_open=3)
    for turn in range(3):
        for number in range(10):
            add(logs / f"{number}.log", numbered(number * 1000 + turn * 10, number * 1000 + turn * 10 + 10))
        for _ in range(4):
            shipper.poll()
        assert sum(stream.home is not None for stream in shipper.homes.streams) == 3
    (logs / "4.log").rename(logs / "4.log.1")
    add(logs / "4.log.1", b"late\n")
    shipper.poll()
    each_once(shipper, *(numbered(number * 1000, number * 1000 + 30) for number in range(10)), b"late\n")
    assert len(shipper.by_stream()) == 10


def test_more_files_than_may_be_open_none_of_which_ends_with_a_newline(tmp_path: Path, logs: Path) -> None:
    for number in range(10):
        add(logs / f"{number}.log", b"%d\nunfinished" % number)
    shipper = Shipper(tmp_path / "store", logs, most_open=3)
    for _ in range(4):
        shipper.poll()
    assert sorted(shipper.lines()) == [b"%d" % number for number in range(10)]
    for number in range(10):
        add(logs / f"{number}.log", b" now\n")
        for _ in range(2):
            shipper.poll()
    assert Counter(shipper.lines()) == Counter([b"unfinished now"] * 10 + [b"%d" % number for number in range(10)])


def test_a_small_budget_serves_every_file(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", numbered(0, 1000))
    add(logs / "b.log", numbered(5000, 5010))
    shipper.look()
    for _ in range(3):
        assert shipper.take(budget=1000) is not None
    assert numbered(5000, 5010) in shipper.content(), "the first is not served until it is done"
    assert len(shipper.content()) < 7000
    shipper.poll(budget=1000)
    each_once(shipper, numbered(0, 1000), numbered(5000, 5010))


def test_a_line_longer_than_a_batch(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", b"x" * 100_000 + b"\nshort\n")
    shipper.poll(budget=1000)
    assert shipper.lines() == [b"x" * 100_000, b"short"]


def test_a_line_without_end_is_said_and_does_not_stop_the_others(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incoop.inchdfs.ingest.whole_lines.LONGEST_LINE", 50_000)
    add(logs / "a.log", b"fine\n" + b"x" * 2_000_000 + b"\nlater\n")
    add(logs / "b.log", b"other\n")
    for _ in range(3):
        shipper.poll(budget=1000)
    assert shipper.lines() in ([b"fine", b"other"], [b"other", b"fine"], [b"other"])
    assert len(shipper.said) == 1 and "a line is longer than 50000 bytes" in shipper.said[0]


def test_files_that_cannot_be_read_are_said_once_and_do_not_stop_the_others(tmp_path: Path, logs: Path) -> None:
    (logs / "good.log").write_bytes(numbered(0, 5))
    (logs / "no.gz").write_bytes(b"this is no gzip")
    age(logs / "no.gz")
    os.mkfifo(tmp_path / "pipe")
    (logs / "link").symlink_to("nowhere")
    (logs / "loop").symlink_to(logs)
    shipper = Shipper(tmp_path / "store", logs, tmp_path / "pipe", tmp_path / "gone.log", "/dev/zero")
    for _ in range(3):
        shipper.poll()
    assert shipper.content() == numbered(0, 5)
    assert sorted(said.partition(":")[0] for said in shipper.said) == sorted(
        map(str, [logs / "no.gz", tmp_path / "pipe", tmp_path / "gone.log", "/dev/zero"])
    )
    (tmp_path / "gone.log").write_bytes(b"here it is\n")
    (logs / "no.gz").write_bytes(gzip.compress(b"mended\n"))
    shipper.poll()
    each_once(shipper, numbered(0, 5), b"here it is\nmended\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_taken_when_it_has_one(shipper: Shipper, logs: Path) -> None:
    (logs / "a.log").write_bytes(b"secret\n")
    (logs / "a.log").chmod(0)
    shipper.poll()
    assert shipper.content() == b"" and len(shipper.said) == 1
    (logs / "a.log").chmod(0o600)
    shipper.poll()
    assert shipper.content() == b"secret\n"


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".bz2", bz2.compress), (".zst", zstandard.ZstdCompressor().compress)],
)
def test_a_bomb_is_refused(shipper: Shipper, logs: Path, suffix: str, compress) -> None:  # type: ignore[no-untyped-def]
    line = bytes(range(65, 91)) * 40_000 + b"\n"
    (logs / f"bomb{suffix}").write_bytes(compress(line * 100))
    assert (logs / f"bomb{suffix}").stat().st_size < 64 << 10
    age(logs / f"bomb{suffix}")
    (logs / "good.log").write_bytes(b"fine\n")
    shipper.poll()
    assert shipper.content() == b"fine\n"
    assert len(shipper.said) == 1 and "stands for more than" in shipper.said[0]


def test_names_that_are_no_text(tmp_path: Path, logs: Path) -> None:
    path = os.fsdecode(os.fsencode(logs) + b"/\xff\x1b[2J.log")
    Path(path).write_bytes(b"fine\n")
    shipper = Shipper(tmp_path / "store", logs)
    shipper.poll()
    shipper.kill()
    add(Path(path), b"more\n")
    shipper.poll()
    assert shipper.content() == b"fine\nmore\n" and len(shipper.by_stream()) == 1


def test_the_store_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"fine\n")
    shipper = Shipper(tmp_path / "store", tmp_path)
    for _ in range(3):
        shipper.poll()
        shipper.kill()
    assert shipper.content() == b"fine\n"


def test_a_dataset_that_was_put_is_continued(tmp_path: Path, logs: Path) -> None:
    (logs / "a.log").write_bytes(numbered(0, 100))
    put(DatasetStore(tmp_path / "store"), expand(logs), "logs", settings=SMALL)
    add(logs / "a.log", numbered(100, 120))
    shipper = Shipper(tmp_path / "store", logs)
    shipper.poll()
    assert shipper.content() == numbered(0, 120)
    assert len(shipper.by_stream()) == 1


def test_an_append_shares_all_chunks_but_the_last(shipper: Shipper, logs: Path) -> None:
    for name in ("a.log", "b.log"):
        add(logs / name, numbered(0, 1000) if name < "b" else numbered(5000, 6000))
    shipper.poll()
    add(logs / "a.log", b"one more\n")
    shipper.poll()
    told = diff(StoredDataset(shipper.store, "logs@1"), StoredDataset(shipper.store, "logs@2"))
    assert (told.removed_chunks, told.added_records, told.removed_records) == (1, ["one more"], [])
    assert told.added_chunks <= 2


def test_old_versions_of_ingests_are_removed_and_those_that_were_put_are_not(tmp_path: Path, logs: Path) -> None:
    (logs / "a.log").write_bytes(b"0\n")
    put(DatasetStore(tmp_path / "store"), expand(logs), "logs", settings=SMALL)
    shipper = Shipper(tmp_path / "store", logs)
    for number in range(1, 16):
        add(logs / "a.log", b"%d\n" % number)
        shipper.poll()
        if number % 4 == 0:
            shipper.kill()
    assert shipper.store.versions("logs") == [1, *range(7, 17)]
    assert shipper.lines() == [b"%d" % number for number in range(16)]


def test_what_a_manifest_says_of_streams_is_as_recorded(shipper: Shipper, logs: Path) -> None:
    """Golden: another form of this needs another STREAMS_FORMAT."""
    (logs / "a.log").write_bytes(b"a\n")
    age(logs / "a.log", 60)
    (logs / "b.log").write_bytes(b"\0\0\0b\n")
    shipper.poll()
    manifest = shipper.store.manifest("logs")
    assert manifest.notes[NOTE] == {
        "format": 1,
        "paths": [str(logs / "a.log"), str(logs / "b.log")],
        "skips": {"1": 3},
        "versions": [1],
    }
    assert [(entry.name, entry.size, entry.chunks, entry.kept, entry.trusted) for entry in manifest.files] == [
        ("a.log", 2, 1, True, True),
        ("b.log", 2, 1, True, False),
    ]


def test_what_was_all_taken_long_ago_is_not_opened_by_the_next_ingest(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a.log.2.gz").write_bytes(gzip.compress(numbered(0, 100)))
    (logs / "a.log.1").write_bytes(numbered(100, 200))
    for name in ("a.log.1", "a.log.2.gz"):
        age(logs / name)
    (logs / "a.log").write_bytes(numbered(200, 300))
    shipper.poll()
    shipper.kill()
    (logs / "a.log.2.gz").rename(logs / "a.log.3.gz")
    opened: list[str] = []
    real = homes_module.LogFile
    monkeypatch.setattr(homes_module, "LogFile", lambda path: opened.append(Path(path).name) or real(path))
    # isinstance is asked of the same name.
    monkeypatch.setattr(homes_module, "isinstance", lambda value, kind: type(value) is real, raising=False)
    shipper.poll()
    assert opened == ["a.log"]
    add(logs / "a.log.1", b"late\n")
    shipper.poll()
    assert opened == ["a.log", "a.log.1"]
    each_once(shipper, numbered(0, 300), b"late\n")


class Crash(BaseException):
    """Nothing catches it, as nothing catches a kill."""


@pytest.mark.parametrize("step", range(12))
def test_a_crash_at_any_step_of_a_commit(
    shipper: Shipper, logs: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before every sync and every name that a commit gives, and after the last."""
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))
    add(logs / "b.log", numbered(500, 600))
    calls = 0

    def crashing(real):  # type: ignore[no-untyped-def]
        def call(*words, **options):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls > step:  # a process that is gone does not clean up either
                raise Crash
            return real(*words, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", crashing(os.fsync))
        for name in ("rename", "replace", "hardlink_to", "unlink"):
            patch.setattr(Path, name, crashing(getattr(Path, name)))
        with suppress(Crash):
            shipper.poll()
    assert calls > min(step, 8), "a commit has more steps than that"
    shipper.kill()
    shipper.poll()
    each_once(shipper, numbered(0, 200), numbered(500, 600))


MEMORY = """
import resource, sys, threading
from incoop.inchdfs import DatasetStore
from incoop.inchdfs.ingest.follow import IngestOptions, ingest
ingest(DatasetStore("store"), ["small.log"], "logs", IngestOptions(), tell=print)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
done = ingest(DatasetStore("store"), ["large.log"], "logs", IngestOptions(), tell=print)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, done.bytes)
"""


def test_memory_does_not_grow_with_what_there_is_to_take(tmp_path: Path) -> None:
    (tmp_path / "small.log").write_bytes(numbered(0, 10))
    block = numbered(0, 50_000)
    with (tmp_path / "large.log").open("wb") as file:
        for number in range(150):
            file.write(b"block %d\n" % number + block)
    words = [sys.executable, "-c", MEMORY]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    grown, taken = map(int, done.stdout.split())
    assert taken == (tmp_path / "large.log").stat().st_size > 150 << 20
    assert grown < 64


@pytest.mark.parametrize("taken", [0, 300], ids=["a new log", "one that is known"])
@pytest.mark.parametrize("regrown", [200, 3000], ids=["shorter", "longer"])
def test_a_log_that_is_copied_and_truncated_while_it_is_read(
    shipper: Shipper, logs: Path, monkeypatch: pytest.MonkeyPatch, taken: int, regrown: int
) -> None:
    if taken:
        add(logs / "a.log", numbered(0, taken))
        shipper.poll()
    add(logs / "a.log", numbered(taken, 2000))
    shipper.look()
    monkeypatch.setattr("incoop.inchdfs.ingest.whole_lines._PIECE", 5000)
    real, reads = LogFile.read_into, 0

    def read_into(file: LogFile, position: int, target: memoryview) -> int:
        nonlocal reads
        reads += len(target) == 5000
        if reads == 3 and len(target) == 5000:
            copytruncate(logs / "a.log", logs / "a.log.1")
            add(logs / "a.log", numbered(5000, 5000 + regrown))
        return real(file, position, target)

    with monkeypatch.context() as patch:
        patch.setattr(LogFile, "read_into", read_into)
        shipper.take()
    assert reads >= 3
    for _ in range(2):
        shipper.poll()
    each_once(shipper, numbered(0, 2000), numbered(5000, 5000 + regrown))


def test_a_copy_that_was_seen_beside_its_log_is_read_to_its_end_when_the_log_is_truncated(
    shipper: Shipper, logs: Path
) -> None:
    add(logs / "a.log", numbered(0, 100))
    shipper.poll()
    add(logs / "a.log", numbered(100, 200))
    shutil.copyfile(logs / "a.log", logs / "a.log.1")
    shipper.look()
    os.truncate(logs / "a.log", 0)
    shipper.poll()
    each_once(shipper, numbered(0, 200))


def test_a_copy_of_what_was_never_taken_is_taken_when_its_log_is_another_one(shipper: Shipper, logs: Path) -> None:
    add(logs / "a.log", numbered(0, 100))
    shutil.copyfile(logs / "a.log", logs / "a.log.1")
    shipper.look()
    os.truncate(logs / "a.log", 0)
    add(logs / "a.log", numbered(500, 800))  # longer than it was
    for _ in range(2):
        shipper.poll()
    each_once(shipper, numbered(0, 100), numbered(500, 800))
