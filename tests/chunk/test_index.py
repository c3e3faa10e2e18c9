"""Inputs by reference: files are read only where they changed."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from incoop.base.errors import BadCall
from incoop.base.file_stamps import Stamp
from incoop.inchdfs import (
    ChunkSettings,
    Csv,
    DatasetStore,
    Lines,
    Manifest,
    Splitter,
    collect,
    index_input,
    locate,
    read_chunk,
)
from incoop.inchdfs.cutting import settings
from incoop.inchdfs.errors import FileChangedWhileRead, InputNotFound, InputUnreadable
from tests.chunk.samples import RABIN, text


def content_of(store: DatasetStore, manifest: Manifest) -> bytes:
    return b"".join(read_chunk(where) for where in locate(store, manifest))


def assert_equals_from_scratch(store: DatasetStore, manifest: Manifest, *contents: bytes) -> None:
    chunks = [chunk.id for content in contents for chunk in Splitter(manifest.settings).split_bytes(content)]
    assert manifest.rows["id"].tolist() == chunks
    assert content_of(store, manifest) == b"".join(contents)


def bytes_read_by(action: Callable[[], object]) -> int:
    """Bytes that this process asks the system for while `action` runs."""

    def so_far() -> int:
        counters = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return int(counters["rchar"])

    cost_of_asking = -so_far() + so_far()
    before = so_far()
    action()
    return so_far() - before - cost_of_asking


@pytest.fixture(autouse=True)
def _settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the stamps of files that the test has just written."""
    monkeypatch.setattr("incoop.base.file_stamps.SETTLED_NS", -60 * 10**9)


def test_an_index_equals_chunking_from_scratch_and_gives_the_bytes_back(tmp_path: Path, store: DatasetStore) -> None:
    contents = [text(1, 100_000), b"", b"x", text(2, 50_000)]
    for number, content in enumerate(contents):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"part-{number}").write_bytes(content)
    manifest = index_input(store, tmp_path / "in")
    assert_equals_from_scratch(store, manifest, *contents)
    assert [Path(entry.name) for entry in manifest.files] == sorted((tmp_path / "in").iterdir())
    assert [entry.size for entry in manifest.files] == [100_000, 0, 1, 50_000]


def test_an_unchanged_file_is_not_read(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 2_000_000))
    first = index_input(store, path)
    index_size = next(store.inputs.iterdir()).stat().st_size
    read = bytes_read_by(lambda: index_input(store, path))
    assert read <= index_size + 10_000
    assert bytes_read_by(lambda: index_input(store, path, paranoid=True)) >= 2_000_000
    assert index_input(store, path).root == first.root


def test_the_stamp_alone_decides_unless_every_file_is_to_be_verified(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 50_000))
    first = index_input(store, path)
    path.write_bytes(text(2, 50_000))
    entry, stamp = first.files[0], Stamp.of(path)
    assert entry.stamp is not None and stamp.inode == entry.stamp.inode
    # The change time cannot be set back, so the index is given the new stamp with the old rows.
    file = next(store.inputs.iterdir())
    forged = Manifest(
        first.settings,
        first.records_tag,
        (type(entry)(entry.name, entry.size, entry.chunks, stamp, entry.kept, trusted=True),),
        first.rows,
        first.notes,
    )
    file.write_bytes(forged.to_bytes(store.signer, file.name))
    assert index_input(store, path).root == first.root
    with pytest.raises(FileChangedWhileRead):
        content_of(store, index_input(store, path))
    mended = index_input(store, path, paranoid=True)
    assert_equals_from_scratch(store, mended, text(2, 50_000))
    assert_equals_from_scratch(store, index_input(store, path), text(2, 50_000))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_bytes(text(5, 100_000)), id="other bytes, same size"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes() + b"more\n"), id="appended"),
        pytest.param(lambda path: os.truncate(path, 5000), id="cut short"),
        pytest.param(lambda path: os.truncate(path, 0), id="emptied"),
        pytest.param(
            lambda path: ((path.parent / "new").write_bytes(text(9, 70_000)), (path.parent / "new").rename(path)),
            id="replaced by a renamed file",
        ),
    ],
)
def test_a_changed_file_is_indexed_as_from_scratch(tmp_path: Path, store: DatasetStore, change) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "input"
    path.write_bytes(text(1, 100_000))
    sizes = index_input(store, path).settings
    change(path)
    again = index_input(store, path)
    assert again.settings == sizes
    assert_equals_from_scratch(store, again, path.read_bytes())


def test_a_file_written_just_before_is_verified_again(
    tmp_path: Path, store: DatasetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    path = tmp_path / "input"
    path.write_bytes(text(1, 2_000_000))
    os.utime(path, (1, 1))  # its change time is recent all the same
    index_input(store, path)
    assert bytes_read_by(lambda: index_input(store, path)) >= 2_000_000


def test_a_renamed_file_is_verified_not_searched(
    tmp_path: Path, store: DatasetStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A log is rotated: log -> log.1, and a new log begins."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "log").write_bytes(text(1, 200_000))
    before = index_input(store, str(folder / "log*"), settings=RABIN)
    (folder / "log").rename(folder / "log.1")
    (folder / "log").write_bytes(text(2, 1000))
    with caplog.at_level(logging.DEBUG, "incoop.inchdfs"):
        after = index_input(store, str(folder / "log*"), settings=RABIN)
    assert f"{folder / 'log.1'}: resync against {len(before.rows)} known chunks" in caplog.text
    assert_equals_from_scratch(store, after, text(2, 1000), text(1, 200_000))


def test_files_rewritten_by_an_editor_are_resynced_against_their_own_past(
    tmp_path: Path, store: DatasetStore, caplog: pytest.LogCaptureFixture
) -> None:
    """`sed -i` writes new files; file systems give them the inodes that the old ones had."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(4):
        (folder / str(number)).write_bytes(text(number, 20_000 + 10_000 * number))
    before = index_input(store, folder, settings=RABIN)
    for number in range(4):
        (tmp_path / "new").write_bytes(text(number, 20_000 + 10_000 * number)[:-500] + b"edited\n")
        (tmp_path / "new").rename(folder / str(number))
    with caplog.at_level(logging.DEBUG, "incoop.inchdfs"):
        after = index_input(store, folder, settings=RABIN)
    for entry in before.files:
        assert f"{entry.name}: resync against {entry.chunks} known chunks" in caplog.text
    assert_equals_from_scratch(store, after, *((folder / str(number)).read_bytes() for number in range(4)))


def test_a_copied_file_is_resynced_against_its_original(
    tmp_path: Path, store: DatasetStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A log is rotated by copying and truncating: log.1 is new, log is empty."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "log").write_bytes(text(1, 100_000))
    before = index_input(store, folder, settings=RABIN)
    (folder / "log.1").write_bytes(text(1, 100_000))
    (folder / "log").write_bytes(b"")
    with caplog.at_level(logging.DEBUG, "incoop.inchdfs"):
        after = index_input(store, folder, settings=RABIN)
    assert f"{folder / 'log.1'}: resync against {len(before.rows)} known chunks" in caplog.text
    assert_equals_from_scratch(store, after, b"", text(1, 100_000))


def test_settings_follow_from_what_the_input_is_not_from_what_it_was(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 10_000))
    small = index_input(store, path).settings
    path.write_bytes(text(1, 9_000_000))
    grown = index_input(store, path)
    assert small == ChunkSettings.for_input(10_000) != grown.settings == ChunkSettings.for_input(9_000_000)
    assert index_input(store, path, settings=RABIN).settings == RABIN
    assert_equals_from_scratch(store, index_input(store, path), path.read_bytes())
    assert index_input(store, path).settings == grown.settings


def test_who_maps_whole_chunks_has_smaller_ones_of_a_large_input_in_an_index_of_their_own(
    tmp_path: Path, store: DatasetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "LARGEST_AVERAGE", 64 << 10)
    path = tmp_path / "input"
    path.write_bytes(text(1, 1_000_000))
    assert index_input(store, path).settings == index_input(store, path, whole=True).settings
    assert len(list(store.inputs.glob("*.manifest"))) == 1, "no other chunks, no other index"
    path.write_bytes(text(1, 2_000_000))
    by_leaf, whole = index_input(store, path), index_input(store, path, whole=True)
    assert (by_leaf.settings.average, whole.settings.average) == (64 << 10, 16 << 10)
    for each in (by_leaf, whole):
        assert_equals_from_scratch(store, each, path.read_bytes())
    stamps = [each.stat().st_mtime_ns for each in sorted(store.inputs.glob("*.manifest"))]
    assert [index_input(store, path).root, index_input(store, path, whole=True).root] == [by_leaf.root, whole.root]
    assert [each.stat().st_mtime_ns for each in sorted(store.inputs.glob("*.manifest"))] == stamps, "both are kept"


def test_another_record_format_has_an_index_of_its_own(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "input.csv"
    path.write_bytes(b'a,"x\ny"\n' * 1000)
    lines, rows = index_input(store, path), index_input(store, path, records=Csv())
    assert (lines.records_tag, rows.records_tag) != (rows.records_tag, lines.records_tag)
    assert len(list(store.inputs.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"not a manifest", None], ids=["empty", "garbage", "a flipped bit"])
def test_a_damaged_index_is_rebuilt_with_a_warning(
    tmp_path: Path, store: DatasetStore, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 50_000))
    first = index_input(store, path)
    index = next(store.inputs.iterdir())
    if damage is None:
        flipped = bytearray(index.read_bytes())
        flipped[-5] ^= 1
        damage = bytes(flipped)
    index.write_bytes(damage)
    again = index_input(store, path)
    assert again.root == first.root
    assert "chunked from scratch" in caplog.text
    caplog.clear()
    index_input(store, path)
    assert caplog.text == ""


def test_inputs_that_cannot_be_read_say_which_and_what_to_do(tmp_path: Path, store: DatasetStore) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputNotFound, match="no such file or folder"):
        index_input(store, tmp_path / "missing")
    with pytest.raises(InputNotFound, match="holds no input file"):
        index_input(store, tmp_path / "empty")
    with pytest.raises(BadCall, match="no input"):
        index_input(store, [])
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputNotFound, match="link"):
        index_input(store, tmp_path / "in")


def test_a_file_that_is_gone_or_changed_when_a_chunk_is_read_is_an_error(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, 50_000))
    manifest = index_input(store, path)
    path.write_bytes(text(2, 50_000))
    with pytest.raises(FileChangedWhileRead):
        content_of(store, manifest)
    path.unlink()
    with pytest.raises(InputUnreadable, match="gone"):
        content_of(store, manifest)


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "plain.gz": gzip.compress,
    "members.gz": lambda data: gzip.compress(data[:9999]) + gzip.compress(b"") + gzip.compress(data[9999:]),
    "plain.bz2": bz2.compress,
    "streams.bz2": lambda data: bz2.compress(data[:9999]) + bz2.compress(data[9999:]),
    "plain.zst": zstandard.compress,
    "frames.zst": lambda data: (
        zstandard.compress(data[:9999])
        + zstandard.compress(b"")
        + b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"  # a frame to be skipped, as pzstd writes
        + zstandard.compress(data[9999:])
    ),
}


@pytest.mark.parametrize("name", COMPRESSORS)
def test_a_compressed_file_is_chunked_as_its_content(tmp_path: Path, store: DatasetStore, name: str) -> None:
    content = text(1, 200_000)
    path = tmp_path / name
    path.write_bytes(COMPRESSORS[name](content))
    manifest = index_input(store, path, settings=RABIN)
    assert_equals_from_scratch(store, manifest, content)
    # Unchanged: neither read nor stored again.
    packs = sorted(store.packs.iterdir())
    assert index_input(store, path, settings=RABIN).root == manifest.root
    assert sorted(store.packs.iterdir()) == packs
    # Its chunks are alive for the collector while the file exists.
    collect(store)
    assert content_of(store, manifest) == content
    # When the packs are lost, they are made again.
    for pack in packs:
        pack.unlink()
    assert_equals_from_scratch(store, index_input(store, path, settings=RABIN), content)
    path.unlink()
    collect(store)
    assert list(store.packs.iterdir()) == []


@pytest.mark.parametrize("other", ["a", "z"])
def test_a_link_to_a_compressed_file_is_read_by_its_own_name(tmp_path: Path, store: DatasetStore, other: str) -> None:
    """One file by two names, of which one says that it is compressed: unchanged, they stay two contents."""
    content, folder = text(3, 50_000), tmp_path / "in"
    folder.mkdir()
    (folder / "log.gz").write_bytes(gzip.compress(content))
    (folder / other).symlink_to("log.gz")
    packed = (folder / "log.gz").read_bytes()
    for _ in range(2):
        manifest = index_input(store, folder)
        sizes = {Path(entry.name).name: entry.size for entry in manifest.files}
        assert sizes == {"log.gz": len(content), other: len(packed)}
        assert_equals_from_scratch(store, manifest, *((packed, content) if other == "a" else (content, packed)))


def test_a_compressed_file_with_no_content_is_an_empty_input(tmp_path: Path, store: DatasetStore) -> None:
    for name, content in {"a.gz": gzip.compress(b""), "b.zst": b"", "c.bz2": b""}.items():
        (tmp_path / name).write_bytes(content)
        assert len(index_input(store, tmp_path / name).rows) == 0


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("damage", ["cut short", "cut at the last byte", "flipped in the middle"])
def test_a_damaged_compressed_file_is_an_error_never_less_content(
    tmp_path: Path, store: DatasetStore, name: str, damage: str
) -> None:
    data = bytearray(COMPRESSORS[name](text(1, 200_000)))
    if damage == "cut short":
        data = data[: len(data) // 2]
    elif damage == "cut at the last byte":
        del data[-1]
    else:
        data[len(data) // 2] ^= 0x10
    path = tmp_path / name
    path.write_bytes(data)
    if name.endswith(".zst") and damage == "flipped in the middle":
        # Frames without a checksum (zstandard's default) may decompress to other bytes; then nobody can tell.
        data[4] ^= 0xFF
        path.write_bytes(data)
    with pytest.raises(InputUnreadable, match="cannot read"):
        index_input(store, path)


def test_a_zstd_frame_with_a_checksum_detects_flipped_bits(tmp_path: Path, store: DatasetStore) -> None:
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    data = bytearray(compressor.compress(text(1, 200_000)))
    data[len(data) // 2] ^= 0x10
    path = tmp_path / "checked.zst"
    path.write_bytes(data)
    with pytest.raises(InputUnreadable):
        index_input(store, path)


def test_a_small_zstd_file_that_stands_for_much_is_read_in_pieces(tmp_path: Path, store: DatasetStore) -> None:
    path = tmp_path / "zeros.zst"
    with path.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw) as writer:
        for _ in range(64):
            writer.write((b"\0" * 99 + b"\n") * 10_000)
    manifest = index_input(store, path)
    assert manifest.size == 64_000_000
    assert path.stat().st_size < 20_000


def test_a_pipe_is_read_once_and_its_content_kept(tmp_path: Path, store: DatasetStore) -> None:
    fifo, content = tmp_path / "fifo", text(1, 300_000)
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(content,))
    writer.start()
    manifest = index_input(store, fifo, settings=RABIN)
    writer.join()
    assert_equals_from_scratch(store, manifest, content)


def test_a_file_whose_size_nobody_knows_is_read_to_its_end(store: DatasetStore) -> None:
    """Files in /proc have size 0 and content all the same."""
    first = index_input(store, "/proc/version", records=Lines())
    again = index_input(store, "/proc/version", paranoid=True)
    assert first.size > 0
    assert first.root == again.root


def test_ten_thousand_small_files_are_indexed_and_then_not_opened(tmp_path: Path, store: DatasetStore) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(10_000):
        (folder / f"{number:05d}").write_bytes(b"%d\n" % number)
    manifest = index_input(store, folder)
    assert len(manifest.files) == len(manifest.rows) == 10_000
    assert content_of(store, manifest) == b"".join(b"%d\n" % number for number in range(10_000))
    index_size = next(store.inputs.iterdir()).stat().st_size
    (folder / "00007").write_bytes(b"changed\n")
    assert bytes_read_by(lambda: index_input(store, folder)) < index_size + 100_000


def test_a_job_in_another_process_reads_what_was_located(tmp_path: Path, store: DatasetStore) -> None:
    """Locations are plain values with absolute paths: they mean the same elsewhere."""
    import pickle
    import sys

    path = tmp_path / "input"
    path.write_bytes(text(1, 30_000))
    places = pickle.dumps(locate(store, index_input(store, path)))
    program = (
        "import pickle, sys\nfrom incoop import inchdfs\n"
        "for where in pickle.load(sys.stdin.buffer): sys.stdout.buffer.write(inchdfs.read_chunk(where))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=places, capture_output=True, cwd="/", check=True)
    assert io.BytesIO(done.stdout).getvalue() == text(1, 30_000)
