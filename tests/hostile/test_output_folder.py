"""Notes of an output folder that somebody else wrote: nothing but part files of that folder is touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import incoop
from incoop.page import write_page

from .conftest import Deed


def words(_: None, line: str) -> list[tuple[str, int]]:
    return [(word, 1) for word in line.split()]


def total(word: str, counts: list[int]) -> list[tuple[str, int]]:
    return [(word, sum(counts))]


JOB = incoop.Job("count", words, total, total, shards=4)


def saved(folder: Path) -> str:
    return "".join(path.read_text() for path in sorted(folder.glob("part-*")))


@pytest.fixture
def result(tmp_path: Path):  # type: ignore[no-untyped-def]
    (tmp_path / "words.txt").write_text("ash oak\noak larch\n" * 50)
    with incoop.connect(tmp_path / "store") as session:
        yield session.run(JOB, tmp_path / "words.txt")


def test_names_that_lead_elsewhere_are_not_unlinked(tmp_path: Path, result: incoop.Result) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept, too")
    notes: dict[str, list[object]] = {
        str(precious): [],
        "../precious": [],
        "mine.txt": [],
        "part-00099/../mine.txt": [],
    }
    (out / "_incoop.json").write_text(json.dumps(notes))
    with pytest.raises(incoop.IncoopError, match=r"mine\.txt, which no earlier run wrote"):
        result.save(out)
    (out / "mine.txt").unlink()
    result.save(out)
    assert precious.read_text() == "kept"
    assert "oak\t100" in saved(out)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("content", [b"", b"[", b"[1]", b"\xff", b'{"part-00000": 5}', b"[" * 100_000, None, "a hole"])
def test_damaged_notes_mean_that_every_part_is_written_again(
    tmp_path: Path, result: incoop.Result, content: bytes | str | None
) -> None:
    out = tmp_path / "out"
    result.save(out)
    whole = saved(out)
    (out / "_incoop.json").unlink()
    if isinstance(content, bytes):
        (out / "_incoop.json").write_bytes(content)
    elif content is None:
        os.mkfifo(out / "_incoop.json")
    else:
        (out / "_incoop.json").touch()
        os.truncate(out / "_incoop.json", 1 << 42)
    (out / "part-00000").write_text("altered")
    assert len(result.save(out)) == 4
    assert saved(out) == whole
    assert result.save(out) == [], "and nothing the next time"


def test_a_folder_in_place_of_a_part_is_one_sentence(tmp_path: Path, result: incoop.Result) -> None:
    out = tmp_path / "out"
    result.save(out)
    (out / "part-00001").unlink()
    (out / "part-00001").mkdir()
    with pytest.raises(incoop.IncoopError, match="cannot write part files"):
        result.save(out)
    (out / "part-00001").rmdir()
    result.save(out)
    assert "oak\t100" in saved(out)


def test_nor_are_part_files_where_another_users_link_leads(
    tmp_path: Path, commons: Path, as_other: Callable[[Deed], None], result: incoop.Result
) -> None:
    result.save(tmp_path / "kept")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    as_other(lambda: (commons / "out").symlink_to(tmp_path / "kept"))
    with pytest.raises(incoop.IncoopError, match="it is a link which another user made"):
        result.save(commons / "out")
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()} == before
    (commons / "own").symlink_to(tmp_path / "kept")
    assert result.save(commons / "own") == []


def test_a_page_is_not_written_where_another_users_link_leads(
    tmp_path: Path, commons: Path, as_other: Callable[[Deed], None], result: incoop.Result
) -> None:
    ours = tmp_path / "kept"
    ours.write_text("ours")
    as_other(lambda: (commons / "report.html").symlink_to(ours))
    with pytest.raises(incoop.BadCall, match="a link which another user made"):
        write_page(commons / "report.html", result)
    assert ours.read_text() == "ours"
    (commons / "own.html").symlink_to(ours)
    write_page(commons / "own.html", result)
    assert ours.read_text().startswith("<!DOCTYPE html>")
