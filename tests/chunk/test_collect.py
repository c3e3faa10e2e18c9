"""Collection removes what no version needs, and nothing else; verification finds all damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from incoop.inchdfs import Dataset, DatasetStore, append, collect, expand, put, verify
from incoop.inchdfs.errors import StoreBusy, StoreDamaged
from tests.chunk.samples import FASTCDC, RABIN, checked, text
from tests.chunk.test_store import cat, put_bytes, stored_bytes

NAMES = ("a", "b", "a/below")


class StoreMachine(RuleBasedStateMachine):
    """A store and a dict of what it should hold, through any sequence of commands."""

    @initialize(sizes=st.sampled_from([RABIN, FASTCDC]))
    def start(self, sizes) -> None:  # type: ignore[no-untyped-def]
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.store = DatasetStore(Path(self.folder.name) / "store")
        self.sizes = sizes
        self.model: dict[str, dict[int, bytes]] = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def _source(self, content: bytes):  # type: ignore[no-untyped-def]
        path = Path(self.folder.name) / "source"
        path.write_bytes(content)
        return expand(path)

    @rule(name=st.sampled_from(NAMES), seed=st.integers(0, 3), size=st.sampled_from([0, 1, 700, 9000]), z=st.booleans())
    def put(self, name: str, seed: int, size: int, z: bool) -> None:
        versions = self.model.setdefault(name, {})
        done = put(self.store, self._source(text(seed, size)), name, settings=self.sizes, compress=z)
        assert done.version.version is not None
        assert done.version.version == max(versions, default=0) + 1
        versions[done.version.version] = text(seed, size)

    @rule(name=st.sampled_from(NAMES), seed=st.integers(0, 9), size=st.sampled_from([0, 1, 700, 3000]))
    def append(self, name: str, seed: int, size: int) -> None:
        versions = self.model.setdefault(name, {})
        newest = versions[max(versions)] if versions else b""
        done = append(self.store, self._source(text(seed, size)), name)
        assert done.version.version is not None
        versions[done.version.version] = newest + text(seed, size)

    @precondition(lambda self: any(self.model.values()))
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        stored = [(name, version) for name, versions in self.model.items() for version in versions]
        name, version = data.draw(st.sampled_from(stored))
        self.store.remove(f"{name}@{version}")
        del self.model[name][version]

    @rule(dry_run=st.booleans())
    def collect(self, dry_run: bool) -> None:
        before = stored_bytes(self.store) if self.store.folder.exists() else 0
        done = collect(self.store, dry_run=dry_run)
        after = stored_bytes(self.store) if self.store.folder.exists() else 0
        if dry_run:
            assert after == before
        elif done.rewritten_packs == 0:
            assert after == before - done.bytes
        if not dry_run and not any(self.model.values()):
            assert after == 0

    @invariant()
    def every_version_reads_back(self) -> None:
        if not hasattr(self, "store"):
            return
        for name in NAMES:
            versions = self.model.get(name, {})
            assert self.store.versions(name) == sorted(versions)
            for version, content in versions.items():
                assert cat(self.store, f"{name}@{version}") == content


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(checked, max_examples=25, stateful_step_count=20)


def test_a_pack_that_is_mostly_dead_is_written_anew(store: DatasetStore) -> None:
    content = text(1, 100_000)
    put_bytes(store, "old", content, settings=RABIN)
    put_bytes(store, "kept", content[:20_000], settings=RABIN)
    store.remove("old")
    done = collect(store)
    assert (done.rewritten_packs, done.packs) == (1, 0)
    assert stored_bytes(store) < 25_000
    assert cat(store, "kept") == content[:20_000]


def test_a_pack_that_is_half_alive_is_left_alone(store: DatasetStore) -> None:
    content = text(1, 100_000)
    put_bytes(store, "old", content, settings=RABIN)
    put_bytes(store, "kept", content[:70_000], settings=RABIN)
    store.remove("old")
    assert collect(store).rewritten_packs == 0
    assert stored_bytes(store) > 100_000


def test_compressed_packs_stay_compressed_when_written_anew(store: DatasetStore) -> None:
    content = text(1, 100_000)
    put_bytes(store, "old", content, settings=RABIN, compress=True)
    put_bytes(store, "kept", content[:20_000], settings=RABIN)
    store.remove("old")
    assert collect(store).rewritten_packs == 1
    assert stored_bytes(store) < 18_000
    assert cat(store, "kept") == content[:20_000]


def test_a_reader_survives_a_pack_that_is_written_anew_under_it(store: DatasetStore) -> None:
    content = text(1, 100_000)
    put_bytes(store, "old", content, settings=RABIN)
    put_bytes(store, "kept", content[:20_000], settings=RABIN)
    chunks = Dataset(store, "kept").chunks()
    first = next(chunks)
    store.remove("old")
    assert collect(store).rewritten_packs == 1
    assert first + b"".join(chunks) == content[:20_000]


def test_a_dry_run_says_what_a_collection_would_do(store: DatasetStore) -> None:
    put_bytes(store, "a", text(1, 50_000))
    (store.temporary / "left.pack").write_bytes(b"x" * 100)
    store.remove("a")
    would, files = collect(store, dry_run=True), sorted(store.folder.rglob("*"))
    assert files == sorted(store.folder.rglob("*"))
    assert collect(store) == would
    assert would.temporary_files == 1
    assert would.packs == 1


def test_what_interrupted_writers_leave_is_removed(tmp_path: Path, store: DatasetStore) -> None:
    put_bytes(store, "a", text(1, 5000))
    for left in (
        store.temporary / "1-2.pack",
        store.temporary / ".3-4.manifest.5-6",
        store.packs / ".x.index.7-8",
        store.packs / ("0" * 32 + ".pack"),
        store.inputs / ".y.manifest.9",
        store.folder / ".FORMAT.1",
    ):
        left.write_bytes(b"left")
    done = collect(store)
    assert (done.temporary_files, done.packs) == (5, 1)
    assert (
        len([path for path in store.folder.rglob("*") if path.is_file()]) == 6
    )  # FORMAT, secret, lock, manifest, pack, index
    assert cat(store, "a") == text(1, 5000)


def test_collecting_a_store_that_does_not_exist_does_nothing(store: DatasetStore) -> None:
    assert collect(store).bytes == 0
    assert not store.folder.exists()


def test_nothing_is_collected_while_a_put_runs(store: DatasetStore) -> None:
    put_bytes(store, "a", text(1, 5000))
    with store.writing(), pytest.raises(StoreBusy, match="Nothing was removed"):
        collect(store)
    collect(store)


def test_a_collection_refuses_when_a_manifest_is_damaged(store: DatasetStore) -> None:
    """What a damaged version named cannot be known, so nothing may go."""
    put_bytes(store, "a", text(1, 5000))
    put_bytes(store, "b", text(2, 5000))
    manifest = next(store.folder.glob("datasets/a/*.manifest"))
    content = manifest.read_bytes()
    manifest.write_bytes(content[:-1])
    with pytest.raises(StoreDamaged):
        collect(store)
    manifest.write_bytes(content)
    assert cat(store, "a") == text(1, 5000)


def test_a_pack_with_a_damaged_index_is_not_collected(store: DatasetStore) -> None:
    put_bytes(store, "a", text(1, 5000))
    index = next(store.packs.glob("*.index"))
    content = index.read_bytes()
    index.write_bytes(content[:-1])
    collect(store)
    index.write_bytes(content)
    assert cat(store, "a") == text(1, 5000)


def test_verify_counts_what_is_sound(store: DatasetStore) -> None:
    put_bytes(store, "a", text(1, 50_000), settings=RABIN)
    put_bytes(store, "a", text(1, 60_000))
    seen: list[int] = []
    found = verify(store, seen.append)
    assert (found.versions, found.damage, found.damaged_chunks) == (2, [], 0)
    assert found.bytes == sum(seen) == stored_bytes(store)
    assert verify(DatasetStore(store.folder.parent / "none")).versions == 0


def test_damage_can_be_dropped_and_mended_by_putting_again(store: DatasetStore) -> None:
    content = text(1, 50_000)
    put_bytes(store, "a", content, settings=RABIN)
    put_bytes(store, "b", text(2, 5000), settings=RABIN)
    where = Dataset(store, "a").locations()[3]
    with Path(where.path).open("r+b") as pack:
        pack.seek(where.offset)
        pack.write(bytes([pack.read(1)[0] ^ 1]))
    found = verify(store, drop=True)
    assert found.damaged_chunks == 1
    assert len(found.damage) == 1
    assert found.damage[0].startswith("a@1: 1 of ")
    with pytest.raises(StoreDamaged, match="no pack holds it"):
        cat(store, "a")
    assert cat(store, "b") == text(2, 5000)
    assert put_bytes(store, "a", content).new_chunks == 1
    assert cat(store, "a@1") == cat(store, "a@2") == content
    assert verify(store).damage == []


def test_a_lost_pack_or_index_is_mended_by_putting_again(store: DatasetStore) -> None:
    content = text(1, 50_000)
    for lost in ("*.index", "*.pack"):
        put_bytes(store, "a", content, settings=RABIN)
        for path in store.packs.glob(lost):
            path.unlink()
        found = verify(store, drop=True)
        assert len(found.damage) == found.versions > 0
        put_bytes(store, "a", content)
        assert cat(store, "a") == content


def test_many_small_packs_are_joined(tmp_path: Path) -> None:
    store = DatasetStore(tmp_path / "store")
    contents = [text(seed, 3000) for seed in range(40)]
    for number, content in enumerate(contents):
        put_bytes(store, f"d{number}", content, settings=RABIN, compress=number % 3 == 0)
    assert len(list(store.packs.glob("*.pack"))) == 40
    assert collect(store, dry_run=True).rewritten_packs == 40
    assert len(list(store.packs.glob("*.pack"))) == 40
    assert collect(store).rewritten_packs == 40
    assert len(list(store.packs.glob("*"))) == 2
    assert [cat(store, f"d{number}") for number in range(40)] == contents
    assert collect(store).rewritten_packs == 0, "once"
    assert verify(store).damaged_chunks == 0
