"""Stored datasets: versions, deduplication, append, comparison."""

from __future__ import annotations

import bz2
import gzip
import os
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.errors import BadCall
from incoop.inchdfs import (
    ChunkSettings,
    Csv,
    Dataset,
    DatasetStore,
    FixedLength,
    Lines,
    RecordFormat,
    Splitter,
    VersionName,
    append,
    diff,
    expand,
    put,
)
from incoop.inchdfs.errors import BadDatasetName, DatasetNotFound, FileChangedWhileRead, StoreUnusable
from incoop.inchdfs.files.sources import InputFile
from tests.chunk.samples import (
    FASTCDC,
    RABIN,
    LengthPrefixed,
    checked,
    formatted_contents,
    length_prefixed,
    noise,
    text,
)


def put_bytes(store: DatasetStore, name: str, content: bytes, **options):  # type: ignore[no-untyped-def]
    path = store.folder.parent.parent / "source"
    path.write_bytes(content)
    return put(store, expand(path), name, **options)


def append_bytes(store: DatasetStore, name: str, content: bytes, **options):  # type: ignore[no-untyped-def]
    path = store.folder.parent.parent / "source"
    path.write_bytes(content)
    return append(store, expand(path), name, **options)


def cat(store: DatasetStore, name: str) -> bytes:
    return b"".join(Dataset(store, name, LengthPrefixed()).chunks())


def stored_bytes(store: DatasetStore) -> int:
    return sum(path.stat().st_size for path in store.packs.glob("*.pack"))


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("sizes", [RABIN, FASTCDC, None], ids=["rabin", "fastcdc", "chosen by size"])
def test_every_version_reads_back_as_it_was_put(store: DatasetStore, compress: bool, sizes: ChunkSettings) -> None:
    contents = [text(1, 100_000), b"", text(1, 100_000)[:50_000] + b"new\n" + text(1, 100_000)[50_000:], b"x"]
    for number, content in enumerate(contents, 1):
        done = put_bytes(store, "logs", content, settings=sizes, compress=compress)
        assert (str(done.version), done.bytes) == (f"logs@{number}", len(content))
    assert [cat(store, f"logs@{number}") for number in (1, 2, 3, 4)] == contents
    assert cat(store, "logs") == contents[-1]
    assert store.versions("logs") == [1, 2, 3, 4]
    assert list(store.temporary.iterdir()) == []
    if compress:
        assert stored_bytes(store) < 0.7 * 100_000


def test_what_is_stored_is_not_written_again(store: DatasetStore) -> None:
    content = text(1, 200_000)
    first = put_bytes(store, "a", content, settings=RABIN)
    assert (first.new_chunks, first.new_bytes) == (first.chunks, len(content))
    again = put_bytes(store, "a", content)
    other = put_bytes(store, "other/name", content, settings=RABIN)
    assert (again.new_bytes, other.new_bytes, again.new_chunks) == (0, 0, 0)
    edited = put_bytes(store, "a", content[:90_000] + b"one more line\n" + content[90_000:])
    assert edited.new_chunks <= 4
    assert stored_bytes(store) == len(content) + edited.new_bytes
    assert len(list(store.packs.glob("*.pack"))) == 2


def test_a_chunk_that_occurs_twice_is_stored_once(store: DatasetStore) -> None:
    content = text(1, 50_000)
    done = put_bytes(store, "twice", content + content, settings=RABIN)
    assert cat(store, "twice") == content + content
    assert done.new_bytes < 1.2 * len(content)


def test_settings_and_records_stay_unless_told_otherwise(store: DatasetStore) -> None:
    put_bytes(store, "t", b'a,"b\nc"\n' * 500, settings=RABIN, records=Csv())
    put_bytes(store, "t", b'a,"b\nc"\n' * 5000)
    assert store.manifest("t@2").settings == RABIN
    assert Dataset(store, "t").format == Csv()
    put_bytes(store, "t", b"abc" * 1000, records=FixedLength(3), settings=FASTCDC)
    assert list(Dataset(store, "t").records()) == [b"abc"] * 1000
    assert store.manifest("t@3").settings == FASTCDC


def test_a_folder_keeps_its_files_apart_and_in_order(tmp_path: Path, store: DatasetStore) -> None:
    contents = {"b.txt": b"no newline at the end", "a/1.txt": text(1, 5000), "a/2.txt": b"", "é.txt": b"x\n"}
    for name, content in contents.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(content)
    put(store, expand(tmp_path / "in"), "folder")
    manifest = store.manifest("folder")
    assert [entry.name for entry in manifest.files] == sorted(contents)
    assert cat(store, "folder") == b"".join(contents[name] for name in sorted(contents))
    assert "no newline at the end" in list(Dataset(store, "folder").records())


@given(formatted_contents(6000), st.lists(st.integers(0, 6000), max_size=3), st.sampled_from([RABIN, FASTCDC]))
@checked
def test_appending_equals_putting_the_concatenation(
    tmp_path_factory: pytest.TempPathFactory,
    sample: tuple[RecordFormat, bytes],
    cuts: list[int],
    sizes: ChunkSettings,
) -> None:
    form, content = sample
    store = DatasetStore(tmp_path_factory.mktemp("append") / "store")
    ends = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    parts = [content[start:end] for start, end in pairwise(ends)]
    put_bytes(store, "grown", parts[0], settings=sizes, records=form)
    for part in parts[1:]:
        append_bytes(store, "grown", part, records=form)
    grown, scratch = store.manifest("grown"), Splitter(sizes, form).split_bytes(content)
    assert grown.rows["id"].tolist() == [chunk.id for chunk in scratch]
    assert grown.rows["closed"].tolist() == [chunk.closed for chunk in scratch]
    assert cat(store, "grown") == content
    assert grown.files[0].size == len(content)


def test_an_append_writes_only_the_last_chunk_and_what_is_new(store: DatasetStore) -> None:
    put_bytes(store, "log", text(1, 300_000), settings=RABIN)
    done = append_bytes(store, "log", text(2, 5000))
    assert done.new_bytes <= 5000 + RABIN.maximum
    assert done.bytes == 305_000
    assert cat(store, "log@1") == text(1, 300_000)
    assert cat(store, "log@2") == text(1, 300_000) + text(2, 5000)


def test_an_append_makes_a_dataset_and_takes_many_and_compressed_files(tmp_path: Path, store: DatasetStore) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(text(1, 3000)))
    (tmp_path / "b").write_bytes(text(2, 3000))
    (tmp_path / "c.zst").write_bytes(zstandard.compress(text(3, 3000)))
    assert str(append(store, expand([tmp_path / "b"]), "log").version) == "log@1"
    append(store, expand([tmp_path / "a.gz", tmp_path / "b", tmp_path / "c.zst"]), "log")
    assert cat(store, "log") == text(2, 3000) + text(1, 3000) + text(2, 3000) + text(3, 3000)


def test_a_users_own_format_is_given_again_to_append_and_read(store: DatasetStore) -> None:
    first, second = length_prefixed(1, 5000), length_prefixed(2, 5000)
    put_bytes(store, "own", first, settings=RABIN, records=LengthPrefixed())
    with pytest.raises(BadCall, match="records="):
        append_bytes(store, "own", second)
    with pytest.raises(BadCall, match="same one"):
        append_bytes(store, "own", second, records=Lines())
    append_bytes(store, "own", second, records=LengthPrefixed())
    form = LengthPrefixed()
    assert list(Dataset(store, "own", form).records()) == [*form.records(first), *form.records(second)]


@pytest.mark.parametrize(
    ("name", "compress"), [("x.gz", gzip.compress), ("x.bz2", bz2.compress), ("x.zst", zstandard.compress)]
)
def test_a_compressed_file_is_stored_as_its_content(tmp_path: Path, store: DatasetStore, name: str, compress) -> None:  # type: ignore[no-untyped-def]
    content = text(1, 100_000)
    (tmp_path / name).write_bytes(compress(content))
    put_bytes(store, "plain", content, settings=RABIN)
    done = put(store, expand(tmp_path / name), "packed", settings=RABIN)
    assert done.new_bytes == 0
    assert cat(store, "packed") == content


def test_a_diff_names_the_records_that_differ(store: DatasetStore) -> None:
    lines = [f"line {number} {number * 7919 % 1000}" for number in range(5000)]
    put_bytes(store, "d", "\n".join([*lines, ""]).encode(), settings=RABIN)
    changed = [*lines[:2000], "added one", *lines[2000:3000], "changed", *lines[3001:], "line 7 433"]
    put_bytes(store, "d", "\n".join([*changed, ""]).encode())
    found = diff(Dataset(store, "d@1"), Dataset(store, "d@2"))
    assert found.added_records == ["added one", "changed", "line 7 433"]
    assert found.removed_records == [lines[3000]]
    assert 0 < found.added_chunks < 15
    assert found.added_bytes < 0.1 * found.shared_bytes
    same = diff(Dataset(store, "d@2"), Dataset(store, "d@2"))
    assert (same.added_records, same.removed_records, same.added_chunks, same.removed_bytes) == ([], [], 0, 0)


def test_a_diff_reads_only_chunks_that_are_not_shared(store: DatasetStore) -> None:
    content = text(1, 200_000)
    put_bytes(store, "d", content, settings=RABIN)
    put_bytes(store, "d", content + b"end\n")
    old, new = Dataset(store, "d@1"), Dataset(store, "d@2")
    shared = set(old.manifest.rows["id"].tolist()) & set(new.manifest.rows["id"].tolist())
    first = next(where for where in old.locations() if where.id in shared)
    with Path(first.path).open("r+b") as pack:  # damage a shared chunk: nobody looks at it
        pack.seek(first.offset)
        pack.write(b"\xff\xff\xff")
    assert "end" in diff(old, new).added_records[-1]


def test_a_diff_of_rows_and_of_records_that_cannot_be_hashed(store: DatasetStore) -> None:
    put_bytes(store, "t", b"1,a\n2,b\n", records=Csv())
    put_bytes(store, "t", b"1,a\n2,c\n")
    found = diff(Dataset(store, "t@1"), Dataset(store, "t@2"))
    assert (found.removed_records, found.added_records) == ([["2", "b"]], [["2", "c"]])


def test_removing_a_version_leaves_the_others(store: DatasetStore) -> None:
    for number in (1, 2, 3):
        put_bytes(store, "logs", text(number, 5000))
    assert store.remove("logs@2") == [VersionName("logs", 2)]
    assert store.versions("logs") == [1, 3]
    assert cat(store, "logs@3") == text(3, 5000)
    with pytest.raises(DatasetNotFound, match="version 1, 3"):
        store.remove("logs@2")
    assert len(store.remove("logs")) == 2
    assert store.names() == []
    with pytest.raises(DatasetNotFound, match="none yet"):
        store.resolve("logs")


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "a/..", "../a", "a/./b", "a//b", "/a", "a/", "a b", "a\n", "a\0b", "ü"),
        *("a@", "a@x", "a@-1", "a@1@2", "a@\u0661", "x.manifest", "a/000001.manifest", "n" * 201),
    ],
)
def test_names_that_could_leave_or_confuse_the_store_are_refused(store: DatasetStore, name: str) -> None:
    for action in (store.resolve, store.versions, store.remove, lambda n: put_bytes(store, n, b"x")):
        with pytest.raises(BadDatasetName, match="is not a dataset name"):
            action(name)
    assert not store.folder.exists()


@pytest.mark.parametrize("name", ["a", "a.b-c_D", "a/b/c", "...", "-x", "n" * 200, "000001", "manifest"])
def test_other_names_are_datasets_of_their_own(store: DatasetStore, name: str) -> None:
    put_bytes(store, name, b"mine\n")
    put_bytes(store, f"{name}/below", b"below\n")
    assert store.names() == [name, f"{name}/below"]
    assert (cat(store, name), cat(store, f"inchdfs:/{name}/below@1")) == (b"mine\n", b"below\n")
    store.remove(name)
    assert store.names() == [f"{name}/below"]


def test_a_put_does_not_choose_its_version(store: DatasetStore) -> None:
    with pytest.raises(BadCall, match="name the dataset without @3"):
        put_bytes(store, "a@3", b"x")


def test_opening_a_store_creates_nothing(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    assert (store.names(), store.versions("a")) == ([], [])
    assert not (tmp_path / "store").exists()


def test_a_store_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    source = expand(tmp_path / "file")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        with pytest.raises(StoreUnusable, match="choose another --store"):
            put(DatasetStore(folder), source, "x")


def test_a_file_that_changes_while_it_is_read_is_not_stored(tmp_path: Path, store: DatasetStore) -> None:
    for name, content in {"plain": text(1, 400_000), "zipped.gz": gzip.compress(text(1, 400_000))}.items():
        path = tmp_path / name
        path.write_bytes(content)

        def touch(_: int, path: Path = path) -> None:
            os.utime(path, (2, 2))

        for action in (put, append):
            with pytest.raises(FileChangedWhileRead, match="changed while it was read"):
                action(store, expand(path), "x", progress=touch)
            os.utime(path, (1, 1))
    assert store.names() == []
    assert list(store.temporary.iterdir()) == []
    assert list(store.packs.iterdir()) == []


def test_a_put_with_segments_in_processes_stores_what_was_found(
    store: DatasetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incoop.inchdfs.files.chunking._WORTH_PROCESSES", 100_000)
    content = text(1, 400_000)
    put_bytes(store, "large", content, settings=RABIN)
    assert cat(store, "large") == content
    assert [c.id for c in Splitter(RABIN).split_bytes(content)] == store.manifest("large").rows["id"].tolist()


def test_very_long_records_are_written_one_by_one(store: DatasetStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incoop.inchdfs.store.pack_writer._LARGE_BATCH", 10_000)
    monkeypatch.setattr("incoop.inchdfs.store.pack_writer._BATCH_BYTES", 5_000)
    content = b"".join(bytes([65 + n]) * 20_000 + b"\n" for n in range(20))
    put_bytes(store, "long", content, settings=RABIN)
    assert cat(store, "long") == content


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("batch_bytes", [1, 100, 1000, 5000])
def test_batches_of_any_size_are_written_in_order(
    store: DatasetStore, monkeypatch: pytest.MonkeyPatch, compress: bool, batch_bytes: int
) -> None:
    monkeypatch.setattr("incoop.inchdfs.store.pack_writer._BATCH_BYTES", batch_bytes)
    content = text(1, 30_000) + b"z" * 9000 + b"\n" + noise(2, 30_000)
    put_bytes(store, "data", content, settings=RABIN, compress=compress)
    assert cat(store, "data") == content


def test_a_pipe_is_stored_as_it_comes(tmp_path: Path, store: DatasetStore) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for action in (put, append):
        writer = threading.Thread(target=fifo.write_bytes, args=(text(1, 200_000),))
        writer.start()
        action(store, [InputFile(fifo, "fifo")], "piped")
        writer.join()
    assert cat(store, "piped") == text(1, 200_000) * 2


def test_no_file_is_nothing_to_store(store: DatasetStore) -> None:
    for action in (put, append):
        with pytest.raises(BadCall, match="no file"):
            action(store, [], "nothing")


def test_the_second_put_of_a_file_without_a_known_size_is_whole(store: DatasetStore) -> None:
    """/proc/version has size 0 for stat; resync must not believe it."""
    for _ in range(2):
        put(store, expand("/proc/version"), "version")
    assert cat(store, "version@2") == cat(store, "version@1") == Path("/proc/version").read_bytes()


def test_rows_are_columns_that_numpy_can_join(store: DatasetStore) -> None:
    put_bytes(store, "a", text(1, 50_000), settings=RABIN)
    manifest = store.manifest("a")
    assert int(manifest.rows["length"].sum()) == manifest.size == 50_000
    assert len(np.unique(manifest.rows["tail"])) > 1
