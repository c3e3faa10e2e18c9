"""From what a user names to files: paths, globs, folders, links, odd names."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from incoop.inchdfs import Dataset, DatasetStore, Lines, chunk_file, expand, index_input, locate, put, read_chunk
from incoop.inchdfs.errors import InputNotFound, InputUnreadable
from incoop.inchdfs.files.sources import InputFile, total_size
from tests.chunk.samples import RABIN, text


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in ("b/2.txt", "b/1.txt", "a.txt", "c.log", "_SUCCESS", ".hidden", "_temporary/x.txt", "b/.crc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def names(files: list[InputFile]) -> list[str]:
    return [file.name for file in files]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        pytest.param("", ["a.txt", "b/1.txt", "b/2.txt", "c.log"], id="a folder, without hidden files"),
        pytest.param("a.txt", ["a.txt"], id="a file"),
        pytest.param("_SUCCESS", ["_SUCCESS"], id="a hidden file that is named"),
        pytest.param("*.txt", ["a.txt"], id="a glob"),
        pytest.param("*", ["a.txt", "1.txt", "2.txt", "c.log"], id="a glob passes hidden files over and opens folders"),
        pytest.param("**/*.log", ["c.log"], id="a recursive glob"),
        pytest.param("[ab]*/?.txt", ["1.txt", "2.txt"], id="a glob for folders"),
    ],
)
def test_what_is_named_stands_for_files_in_order(tree: Path, named: str, found: list[str]) -> None:
    assert names(expand(str(tree / named))) == found


def test_a_list_keeps_its_order_and_repeats(tree: Path) -> None:
    assert names(expand([tree / "c.log", str(tree / "b"), tree / "c.log"])) == ["c.log", "1.txt", "2.txt", "c.log"]


@pytest.mark.parametrize("named", ["missing", "*.csv", "b/nothing/*", "a.txt/below", "\0"])
def test_what_does_not_exist_is_an_error_that_names_it(tree: Path, named: str) -> None:
    with pytest.raises(InputNotFound) as missed:
        expand(str(tree / named))
    assert str(tree) in str(missed.value)


def test_a_folder_of_hidden_files_holds_no_input(tree: Path) -> None:
    (tree / "hidden").mkdir()
    (tree / "hidden" / "_SUCCESS").touch()
    with pytest.raises(InputNotFound, match="holds no input file"):
        expand(tree / "hidden")


def test_links_are_followed_and_loops_are_not(tree: Path) -> None:
    (tree / "link.txt").symlink_to(tree / "a.txt")
    (tree / "d").symlink_to(tree / "b")
    (tree / "b" / "up").symlink_to(tree)
    (tree / "b" / "self").symlink_to(tree / "b")
    found = names(expand(tree))
    assert found.count("a.txt") == 1
    assert {"link.txt", "b/1.txt", "d/1.txt"} <= set(found)
    assert len(found) < 15


def test_pipes_and_sockets_in_a_folder_are_no_input(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tree / "pipe")
    monkeypatch.chdir(tree)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert names(expand(tree)) == ["a.txt", "b/1.txt", "b/2.txt", "c.log"]


def test_a_link_to_nothing_in_a_folder_is_an_error_not_less_data(tree: Path, store: DatasetStore) -> None:
    (tree / "broken").symlink_to(tree / "nowhere")
    for action in (lambda: put(store, expand(tree), "x"), lambda: total_size(expand(tree))):
        with pytest.raises(InputNotFound, match="broken"):
            action()


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "what[1]*.txt").write_text("x")
    (tmp_path / "what1.txt").write_text("y")
    assert names(expand(str(tmp_path / "what[1]*.txt"))) == ["what[1]*.txt"]


@pytest.mark.parametrize("name", [b"\xff\xfe.txt", "ü ñ\n\t.txt".encode(), b"-rf", b"a'b\"c", b"x" * 255])
def test_files_with_odd_names_are_stored_indexed_and_read(tmp_path: Path, store: DatasetStore, name: bytes) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    path = folder / os.fsdecode(name)
    path.write_bytes(text(1, 5000))
    put(store, expand(folder), "odd")
    assert store.manifest("odd").files[0].name == os.fsdecode(name)
    assert b"".join(Dataset(store, "odd").chunks()) == text(1, 5000)
    assert b"".join(map(read_chunk, locate(store, index_input(store, folder)))) == text(1, 5000)


@pytest.mark.parametrize("size", [0, 1])
def test_the_smallest_files_are_inputs(tmp_path: Path, store: DatasetStore, size: int) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"\n" * size)
    put(store, expand(path), "small")
    assert b"".join(Dataset(store, "small").chunks()) == b"\n" * size
    assert list(Dataset(store, "small").records()) == [""] * size
    assert index_input(store, path).size == size


def test_a_folder_in_place_of_a_file_and_a_file_that_errors_are_unreadable(tmp_path: Path, store: DatasetStore) -> None:
    for path in (tmp_path, Path("/proc/self/mem")):
        with pytest.raises(InputUnreadable, match="cannot read"):
            list(chunk_file(InputFile(path, "x"), RABIN, Lines()))
        with pytest.raises(InputUnreadable, match="Nothing was stored"):
            put(store, [InputFile(path, "x")], "x")
    assert store.names() == []


def test_a_file_that_goes_away_between_naming_and_reading_is_not_found(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "short-lived"
    path.write_text("x")
    files = expand(path)
    path.unlink()
    with pytest.raises(InputNotFound, match="short-lived"):
        put(store, files, "x")
