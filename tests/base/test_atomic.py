"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.base.atomic import name_aside, write_atomically, written_aside


def test_a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "note"
    for content in (b"ash", b"larch"):
        write_atomically(path, [content, b"!"])
        assert path.read_bytes() == content + b"!"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_half_way_leaves_what_was_there(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"oak"
        raise RuntimeError

    path = tmp_path / "note"
    path.write_bytes(b"elm")
    with pytest.raises(RuntimeError):
        write_atomically(path, parts(), durable=False)
    assert path.read_bytes() == b"elm"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_written_aside_is_private_before_it_has_its_name(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with written_aside(tmp_path / "secret", [b"oak"], private=True) as aside:
            assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert not list(tmp_path.iterdir())


def test_a_durable_file_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (steps.append("fsync"), sync(handle))[1])
    monkeypatch.setattr(Path, "replace", lambda path, target: (steps.append("replace"), replace(path, target))[1])
    write_atomically(tmp_path / "note", [b"oak"])
    write_atomically(tmp_path / "note", [b"oak"], durable=False)
    assert steps == ["fsync", "replace", "replace"]


def test_a_name_aside_is_nobodys_and_says_what_it_is_for(tmp_path: Path) -> None:
    names = {name_aside(tmp_path / "part-00000", mark="_").name for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith("_part-00000.") for name in names)
