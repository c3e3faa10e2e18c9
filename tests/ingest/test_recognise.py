"""What a file is, where content leaves a choice: the pure decision, and the names that it asks."""

from __future__ import annotations

import time

import pytest

from incoop.base.file_stamps import Stamp
from incoop.inchdfs.ingest.names import is_rotated, live_name, may_be_copy
from incoop.inchdfs.ingest.recognise import Match, Matching, decide
from incoop.inchdfs.ingest.streams import Stream


@pytest.mark.parametrize(
    ("name", "live"),
    [
        ("a.log", "a.log"),
        ("a.log.1", "a.log"),
        ("a.log.12.gz", "a.log"),
        ("a.log.gz", "a.log"),
        ("a.log-20240131", "a.log"),
        ("a.log-20240131-1706659200.zst", "a.log"),
        ("a.log.2024-01-31", "a.log"),
        ("a.log.2024-01-31.2", "a.log"),
        ("a-20240131.log", "a.log"),
        ("a_2024-01-31T10:00.log.bz2", "a.log"),
        ("a.log.old", "a.log"),
        ("syslog", "syslog"),
        ("syslog.7.gz", "syslog"),
        ("web-1.log", "web-1.log"),
        ("web-2", "web-2"),
        ("app1.log", "app1.log"),
        (".1", ".1"),
        ("20240131.log", "20240131.log"),
    ],
)
def test_a_rotated_name_leads_to_the_live_one(name: str, live: str) -> None:
    assert live_name(f"/var/log/{name}") == live
    assert is_rotated(name) == (name != live)


def test_a_long_hostile_name_takes_no_time() -> None:
    began = time.process_time()
    live_name("a-2024" + "1" * 240 + "x")
    live_name("a-202401" + "-1" * 120 + "!")
    assert time.process_time() - began < 0.1


def test_logs_of_two_hosts_are_no_copies_of_each_other() -> None:
    assert not may_be_copy("/one/access.log", "/two/access.log")
    assert not may_be_copy("web-1.log", "web-2.log")
    assert may_be_copy("/old/access.log.1", "/var/log/access.log")


def stream(path: str, inode: int = 1, size: int = 0) -> Stream:
    made = Stream(path, path, stamp=Stamp(size, 0, 0, inode, 1))
    made.size = size
    return made


HERE, THERE = (1, 1), (1, 2)

#: What it says; the file's path and inode; what it matches: path and inode of the stream, how, whether it lives.
CASES = [
    ("nothing alike: a new log", "a.log", HERE, [], None, False),
    ("renamed", "a.log.1", HERE, [("a.log", 1, Match.ALL, False)], 0, False),
    ("renamed, and its inode too (copied to another disk)", "b/x", HERE, [("a.log", 9, Match.ALL, False)], 0, False),
    ("being copied", "a.log.1", THERE, [("a.log", 1, Match.BEGINNING, True)], 0, True),
    ("copied", "a.log.1", THERE, [("a.log", 1, Match.ALL, True)], 0, True),
    ("copied, and truncated since", "a.log.1", THERE, [("a.log", 1, Match.ALL, False)], 0, False),
    ("copied before the last lines came", "a.log.1.gz", THERE, [("a.log", 1, Match.BEGINNING, False)], 0, True),
    ("written anew with the same first lines", "a.log", HERE, [("a.log", 1, Match.BEGINNING, False)], None, False),
    ("another log with the same header", "b.log", THERE, [("a.log", 1, Match.BEGINNING, True)], None, False),
    ("another log, equal so far", "b.log", THERE, [("a.log", 1, Match.ALL, True)], None, False),
    ("a new log, equal to one that was rotated", "a.log", THERE, [("a.log.7.gz", 1, Match.ALL, False)], None, False),
    ("a log that was rotated back", "a.log", HERE, [("a.log.1", 1, Match.ALL, False)], 0, False),
    ("of two, the one in this inode", "x", THERE, [("x", 1, Match.ALL, False), ("y", 2, Match.ALL, False)], 1, False),
    ("of two, the one at this path", "x", THERE, [("y", 1, Match.ALL, False), ("x", 3, Match.ALL, False)], 1, False),
]


@pytest.mark.parametrize(("path", "inode", "matches", "which", "copy"), [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])  # fmt: skip
def test_what_a_file_is(
    path: str,
    inode: tuple[int, int],
    matches: list[tuple[str, int, Match, bool]],
    which: int | None,
    copy: bool,
) -> None:
    matching = [Matching(stream(p, i, 10), match, lives) for p, i, match, lives in matches]
    found = decide(path, inode, matching)
    assert found.copy == copy
    assert found.stream is (None if which is None else matching[which].stream)


def test_of_equal_claims_the_longest_stream_is_continued() -> None:
    matching = [Matching(stream(name, 9, size), Match.ALL, False) for name, size in (("p", 3), ("q", 70), ("r", 5))]
    assert decide("x", HERE, matching).stream is matching[1].stream
