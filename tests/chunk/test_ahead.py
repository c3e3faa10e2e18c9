"""A thread that compares known chunks from the last one on, while the look begins at the first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.inchdfs import Splitter
from incoop.inchdfs.cutting import ahead, resync
from incoop.inchdfs.cutting.ahead import Ahead
from incoop.inchdfs.cutting.chunk_table import rows_of
from tests.chunk.samples import SIZES, checked, contents, edits, noise


class Finished(Ahead):
    """One that has come as far as it comes before the look begins."""

    def __enter__(self) -> Ahead:
        super().__enter__()
        assert self._thread is not None
        self._thread.join()
        return self


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_WORTH", 1)
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(resync, "Ahead", Finished)


@pytest.mark.parametrize("joins", [True, False], ids=["ahead", "at once"])
@given(st.data(), st.sampled_from(SIZES))
@checked
def test_a_look_with_one_ahead_equals_from_scratch(tmp_path, joins, data, sizes) -> None:  # type: ignore[no-untyped-def]
    splitter = Splitter(sizes)
    content = data.draw(contents())
    known = rows_of(splitter.split_bytes(content))
    content = data.draw(edits(content) | st.binary(max_size=500).map(lambda more: content + more))
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "_WORTH", 1)
        patch.setattr(ahead.os, "cpu_count", lambda: 2)
        if joins and len(known) > 1 and content:
            patch.setattr(resync, "Ahead", Finished)
        found = list(resync.resync(path, len(content), known, splitter))
    assert [chunk for chunk, _ in found] == splitter.split_bytes(content)


@pytest.mark.usefixtures("small_files")
def test_what_was_compared_ahead_is_not_read_again(tmp_path: Path) -> None:
    content = noise(1, 50_000)
    splitter = Splitter(SIZES[0])
    known = rows_of(splitter.split_bytes(content))
    changed = bytearray(content + noise(2, 5_000))
    path = tmp_path / "log"
    for at in (None, len(content) // 2):
        if at is not None:
            changed[at] ^= 1
        path.write_bytes(changed)
        with_bytes, without = [], 0
        for chunk, view in resync.resync(path, len(changed), known, splitter):
            if view is None:
                without += 1
            else:
                assert view == changed[chunk.offset : chunk.end]
                with_bytes.append(chunk)
        # The first one, what came, and the chunk before it, which ended with the file.
        known_again = [chunk for chunk in with_bytes if 0 < chunk.offset < len(content) - SIZES[0].maximum]
        assert len(known_again) <= (0 if at is None else 3)
        assert without > len(known) // 2


@pytest.mark.usefixtures("small_files")
def test_where_all_has_moved_it_stops_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = noise(1, 50_000)
    known = rows_of(Splitter(SIZES[0]).split_bytes(content))
    path = tmp_path / "moved"
    path.write_bytes(b"moved\n" + content)
    read: list[int] = []
    pread = ahead.os.pread
    monkeypatch.setattr(ahead.os, "pread", lambda fd, size, at: read.append(size) or pread(fd, size, at))
    with path.open("rb", buffering=0) as file, Finished(file.fileno(), path.stat().st_size, known):
        pass
    assert len(read) == 4 < len(known)
