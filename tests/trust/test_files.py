"""A file that changed is read again, by whatever means it was written; one that did not costs a look at its times.

Every member writes the same number of bytes: sizes tell nothing. The answer is checked against chunking from scratch.
"""

from __future__ import annotations

import ctypes
import gzip
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from incoop.base import file_stamps
from incoop.base.file_digests import FileDigests
from incoop.base.file_stamps import Stamp, Watch, flush_of, layers_at
from incoop.inchdfs import DatasetStore, Manifest, Splitter, index_input
from incoop.inchdfs.store.manifest import FORMAT_VERSION
from tests.chunk.samples import text
from tests.chunk.test_index import bytes_read_by

SIZE = 300_000

#: How far back tests set the moment from which stamps count as settled, in place of waiting for it.
AGE_NS = 60 * 10**9


@pytest.fixture(params=["disk", "tmpfs"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "disk":
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield Path(name)


@pytest.fixture
def store(tmp_path: Path) -> DatasetStore:
    return DatasetStore(tmp_path / "store")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were just written count as old."""
    monkeypatch.setattr(file_stamps, "SETTLED_NS", -AGE_NS)


def assert_from_scratch(manifest: Manifest, content: bytes) -> None:
    chunks = Splitter(manifest.settings).split_bytes(content)
    assert manifest.rows["id"].tolist() == [chunk.id for chunk in chunks]


def opened_map(path: Path) -> mmap.mmap:
    """A mapping whose first page is dirty: further writes to that page move no time until it is written back."""
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    mapped[10:13] = b"dip"
    return mapped


# -- written through a mapping ------------------------------------------------


@pytest.mark.usefixtures("settled")
def test_writes_to_a_page_that_is_dirty_when_the_file_is_indexed(folder: Path, store: DatasetStore) -> None:
    path = folder / "mapped"
    path.write_bytes(text(1, SIZE))
    mapped = opened_map(path)
    assert_from_scratch(index_input(store, path), path.read_bytes())
    for word in (b"one", b"two", b"six"):
        time.sleep(0.02)
        mapped[20:23] = word
        assert path.read_bytes()[20:23] == word
        assert_from_scratch(index_input(store, path), path.read_bytes())


@pytest.mark.usefixtures("settled")
def test_writes_to_a_page_that_was_clean(folder: Path, store: DatasetStore) -> None:
    path = folder / "mapped"
    path.write_bytes(text(1, SIZE))
    index_input(store, path)
    time.sleep(0.02)
    mapped = opened_map(path)
    assert_from_scratch(index_input(store, path), path.read_bytes())
    mapped[SIZE - 10 : SIZE - 7] = b"end"
    time.sleep(0.02)
    assert_from_scratch(index_input(store, path), path.read_bytes())


@pytest.mark.usefixtures("settled")
def test_writes_of_another_process_that_keeps_its_mapping(folder: Path, store: DatasetStore) -> None:
    path = folder / "mapped"
    path.write_bytes(text(1, SIZE))
    program = (
        "import mmap, sys\n"
        "file = open(sys.argv[1], 'r+b'); mapped = mmap.mmap(file.fileno(), 0); mapped[0:3] = b'000'\n"
        "for line in sys.stdin: mapped[0:3] = line.strip().encode(); print('written', flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdin is not None and writer.stdout is not None
        for word in ("aaa", "bbb", "ccc"):
            writer.stdin.write(f"{word}\n")
            writer.stdin.flush()
            assert writer.stdout.readline() == "written\n"
            assert_from_scratch(index_input(store, path), path.read_bytes())
            assert path.read_bytes()[:3] == word.encode()
            time.sleep(0.02)
        writer.stdin.close()


@pytest.mark.usefixtures("settled")
def test_a_compressed_file_written_through_a_mapping(folder: Path, store: DatasetStore) -> None:
    path = folder / "packed.gz"
    versions = [gzip.compress(text(seed, 5000), compresslevel=0, mtime=0) for seed in (1, 2)]
    assert len(versions[0]) == len(versions[1])
    path.write_bytes(versions[0])
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    mapped[:] = versions[0]
    assert_from_scratch(index_input(store, path), text(1, 5000))
    time.sleep(0.02)
    mapped[:] = versions[1]
    assert_from_scratch(index_input(store, path), text(2, 5000))


def test_digests_of_files_given_to_workers_follow_a_mapping(folder: Path, settled: None) -> None:
    path = folder / "side"
    path.write_bytes(text(1, SIZE))
    mapped, digests, seen = opened_map(path), FileDigests(), set()
    for word in (b"one", b"two", b"six"):
        mapped[20:23] = word
        seen.add(digests.of(path))
        assert digests.of(path) == FileDigests().of(path)
        time.sleep(0.02)
    assert len(seen) == 3


# -- times that are too young, set back, or from another clock ----------------


def _write(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.write(content)


def _write_and_set_times_back(path: Path, content: bytes) -> None:
    before = path.stat()
    _write(path, content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace_with_times_of_the_old(path: Path, content: bytes) -> None:
    new = path.with_name("new")
    new.write_bytes(content)
    shutil.copystat(path, new)
    new.replace(path)


def _write_through_a_hard_link(path: Path, content: bytes) -> None:
    other = path.with_name("other")
    os.link(path, other)
    _write(other, content)
    other.unlink()


def _exchange_names(path: Path, content: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(content)
    shutil.copystat(path, other)
    path.rename(path.with_name("old"))
    other.rename(path)


WAYS: list[Callable[[Path, bytes], None]] = [
    _write,
    _write_and_set_times_back,
    _replace_with_times_of_the_old,
    _write_through_a_hard_link,
    _exchange_names,
]


@pytest.mark.parametrize("write", WAYS)
def test_every_version_of_a_file_rewritten_as_fast_as_can_be_is_seen(
    folder: Path, store: DatasetStore, write: Callable[[Path, bytes], None]
) -> None:
    path = folder / "racy"
    path.write_bytes(text(0, 5000))
    for seed in range(1, 30):
        write(path, text(seed, 5000))
        assert_from_scratch(index_input(store, path), text(seed, 5000))


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("write", WAYS)
def test_a_settled_file_that_is_changed_with_its_times_kept(
    folder: Path, store: DatasetStore, write: Callable[[Path, bytes], None]
) -> None:
    path = folder / "input"
    path.write_bytes(text(1, SIZE))
    index_input(store, path)
    time.sleep(0.02)
    write(path, text(2, SIZE))
    assert_from_scratch(index_input(store, path), text(2, SIZE))


def test_a_time_in_the_future_is_no_reason_to_read_a_file_again(
    tmp_path: Path, store: DatasetStore, settled: None
) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, SIZE))
    os.utime(path, (4e9, 4e9))
    index_input(store, path)
    assert bytes_read_by(lambda: index_input(store, path)) < 50_000
    time.sleep(0.02)
    _write(path, text(2, SIZE))
    assert_from_scratch(index_input(store, path), text(2, SIZE))


def test_after_the_clock_was_set_back_no_stamp_is_trusted(
    tmp_path: Path, store: DatasetStore, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, SIZE))
    now = time.time_ns
    with monkeypatch.context() as ahead:
        ahead.setattr(file_stamps.time, "time_ns", lambda: now() + 3600 * 10**9)
        index_input(store, path)
    assert bytes_read_by(lambda: index_input(store, path)) >= SIZE


def test_a_stamp_holds_the_device(tmp_path: Path, store: DatasetStore, settled: None) -> None:
    """Another disk is mounted in the place of one: the same file number, size and times, another content."""
    path = tmp_path / "input"
    path.write_bytes(text(1, SIZE))
    first = index_input(store, path)
    (entry,) = first.files
    assert entry.stamp == Stamp.of(path) and entry.stamp.device == path.stat().st_dev and entry.trusted
    other = Manifest(
        first.settings,
        first.records_tag,
        (replace(entry, stamp=replace(entry.stamp, device=entry.stamp.device + 1)),),
        first.rows,
        first.notes,
    )
    (index,) = store.inputs.iterdir()
    index.write_bytes(other.to_bytes(store.signer, index.name))
    assert bytes_read_by(lambda: index_input(store, path)) >= SIZE


def test_the_index_of_an_earlier_format_is_not_read(tmp_path: Path, store: DatasetStore, settled: None) -> None:
    path = tmp_path / "input"
    path.write_bytes(text(1, SIZE))
    index_input(store, path)
    (index,) = store.inputs.iterdir()
    data = bytearray(index.read_bytes())
    assert data[8:12] == FORMAT_VERSION.to_bytes(4, "little")
    data[8:12] = (FORMAT_VERSION - 1).to_bytes(4, "little")
    index.write_bytes(data)
    assert bytes_read_by(lambda: index_input(store, path)) >= SIZE
    found = Manifest.from_bytes(index.read_bytes(), str(index), store.signer, index.name)
    assert found.files[0].stamp == Stamp.of(path)


# -- which file systems are believed ------------------------------------------


def _is_telling(folder: Path) -> bool:
    """Ask the file system itself: does a mapped write move times, once dirty pages were written?"""
    path = folder / "asked"
    path.write_bytes(b"a" * 10_000)
    mapped = opened_map(path)
    time.sleep(0.02)
    flush = flush_of(path) or (lambda handle: os.fdatasync(handle) is None)
    handle = os.open(path, os.O_RDONLY)
    assert flush(handle)
    os.close(handle)
    before = Stamp.of(path)
    time.sleep(0.02)
    mapped[20:23] = b"now"
    moved = Stamp.of(path) != before
    mapped.close()
    path.unlink()
    return moved


def test_a_file_system_is_trusted_if_its_times_move(folder: Path) -> None:
    path = folder / "file"
    path.touch()
    assert (flush_of(path) is not None) == _is_telling(folder)


def test_what_the_kernel_makes_up_is_not_trusted() -> None:
    for path in ("/proc/self/status", "/sys/kernel/mm", "/dev/null"):
        assert flush_of(Path(path)) is None


def test_an_overlay_is_trusted_as_the_folders_that_it_is_made_of(tmp_path: Path, settled: None) -> None:
    """In a mount namespace of its own: on disk below, then with a layer in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        for upper, trusted in ((tmp_path / "disk", True), (Path(memory), False)):
            for name in ("upper", "work", "lower", "merged"):
                (upper / name).mkdir(parents=True)
            options = f"lowerdir={upper}/lower,upperdir={upper}/upper,workdir={upper}/work"
            program = (
                "from tests.trust.test_files import _is_telling, flush_of; from pathlib import Path; import sys\n"
                "folder = Path(sys.argv[1]); (folder / 'file').touch()\n"
                "print(flush_of(folder / 'file') is not None, _is_telling(folder))"
            )
            inside = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
            mounted = f'mount -t overlay overlay -o "{options}" "{upper}/merged" && exec "$0" -c "$1" "$2"'
            done = subprocess.run(
                [*inside, mounted, sys.executable, program, upper / "merged"],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            if "not permitted" in done.stderr or "denied" in done.stderr:
                assert done.returncode  # nobody mounts overlays here; what is read of one is tested below
            else:
                assert done.stdout.split() == [str(trusted)] * 2, done.stderr


MOUNTS = """\
22 27 0:20 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 27 0:30 / /data rw shared:4 - overlay overlay rw,lowerdir=/one:/two,upperdir=/up\\040per,workdir=/work,uuid=on
32 31 0:31 / /data/inner rw - tmpfs tmpfs rw
33 31 0:32 / /data/new rw master:7 - overlay overlay ro,lowerdir+=/three,lowerdir+=/four,datadir+=/five
34 27 0:33 / /data2 rw - overlay over rw,lowerdir=/six
"""


@pytest.mark.parametrize(
    ("path", "layers"),
    [
        pytest.param("/data/file", ["/one", "/two", "/up per"], id="lower and upper folders"),
        pytest.param("/data/new/a/b", ["/three", "/four", "/five"], id="named one by one"),
        pytest.param("/data/inner/file", [], id="another file system mounted inside"),
        pytest.param("/data2/file", ["/six"], id="a name that begins alike"),
        pytest.param("/home/file", [], id="no overlay"),
    ],
)
def test_the_layers_of_an_overlay_are_read_from_the_list_of_mounts(path: str, layers: list[str]) -> None:
    assert list(map(str, layers_at(Path(path), MOUNTS))) == layers


# -- what it costs ------------------------------------------------------------


def test_a_thousand_unchanged_files_are_neither_opened_nor_flushed(
    tmp_path: Path, store: DatasetStore, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1000):
        (folder / f"{number:04d}").write_bytes(b"%d\n" % number)
    index_input(store, folder)
    size = next(store.inputs.iterdir()).stat().st_size
    asked: list[Path] = []
    monkeypatch.setattr(Watch, "will_tell", lambda self, path, stamp: asked.append(path))
    assert bytes_read_by(lambda: index_input(store, folder)) < size + 50_000
    assert asked == []


def test_without_the_systems_help_nothing_is_trusted(
    tmp_path: Path, store: DatasetStore, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(file_stamps._libc, ctypes.CDLL)
    monkeypatch.setattr(file_stamps, "_libc", None)
    path = tmp_path / "input"
    path.write_bytes(text(1, SIZE))
    index_input(store, path)
    assert bytes_read_by(lambda: index_input(store, path)) >= SIZE
