"""Datasets kept in a store: each put makes a version, chunks are stored once.

    <store>/inchdfs/
        FORMAT                          refuses a store that a later release wrote
        lock                            shared while writing, exclusive while collecting
        datasets/NAME/000001.manifest   one file a version, never changed
        packs/ID.pack, ID.index         chunk bytes, append only
        inputs/ID.manifest              indexes of inputs given by path (index.py)
        temporary/                      what an interrupted put left; `incoop gc` removes it

Contract: a version appears whole or not at all; a put never touches an earlier version; two puts at once give two
versions. Chunks go to disk before the manifest that names them.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from incoop.base.atomic import make_folder, sync, unique_name, write_atomically, written_aside
from incoop.inchdfs.errors import BadDatasetName, DatasetNotFound, DatasetStoreTooNew, StoreBusy, StoreDamaged
from incoop.inchdfs.store.manifest import FORMAT_VERSION, Manifest
from incoop.inchdfs.store.packs import PackIndex, using_store

_NAME_PART = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}(?<!\.manifest)")
_MANIFEST = re.compile(r"(\d{6,})\.manifest")


@dataclass(frozen=True, slots=True)
class VersionName:
    """`NAME` or `NAME@VERSION`; no version means the newest.

    Example:
        >>> VersionName.parse("logs/web@3")
        VersionName(name='logs/web', version=3)
    """

    name: str
    version: int | None

    @classmethod
    def parse(cls, text: str) -> VersionName:
        name, at, version = text.removeprefix("inchdfs:/").partition("@")
        numbered = not at or (version.isascii() and version.isdecimal())
        if not numbered or not all(_NAME_PART.fullmatch(part) for part in name.split("/")):
            raise BadDatasetName(text)
        return cls(name, int(version) if at else None)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


class DatasetStore:
    """The datasets of one store folder. Opening it creates nothing; the first put does."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder) / "inchdfs"
        self.packs = self.folder / "packs"
        self.temporary = self.folder / "temporary"
        self.inputs = self.folder / "inputs"
        self._datasets = self.folder / "datasets"
        self._check_format()

    def names(self) -> list[str]:
        """All datasets, sorted."""
        found = {path.parent.relative_to(self._datasets).as_posix() for path in self._datasets.rglob("*.manifest")}
        return sorted(found)

    def versions(self, name: str) -> list[int]:
        """The versions of a dataset, oldest first; empty when there is no such dataset."""
        folder = self._datasets / VersionName.parse(name).name
        with using_store(self.folder.parent):
            if not folder.is_dir():
                return []
            return sorted(int(match[1]) for path in folder.iterdir() if (match := _MANIFEST.fullmatch(path.name)))

    def resolve(self, text: str) -> VersionName:
        """A name with its version filled in; an error says what there is instead."""
        wanted = VersionName.parse(text)
        versions = self.versions(wanted.name)
        if not versions:
            known = ", ".join(self.names()[:5]) or "none yet"
            raise DatasetNotFound(wanted.name, str(self.folder.parent), known)
        version = versions[-1] if wanted.version is None else wanted.version
        if version not in versions:
            known = f"version {', '.join(map(str, versions[-8:]))}"
            raise DatasetNotFound(f"{wanted.name}@{version}", str(self.folder.parent), known)
        return VersionName(wanted.name, version)

    def manifest(self, text: str) -> Manifest:
        """The manifest of a version."""
        version = self.resolve(text)
        path = self._manifest_path(version)
        with using_store(self.folder.parent):
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                raise DatasetNotFound(str(version), str(self.folder.parent), "no longer that version") from None
        return Manifest.from_bytes(content, str(path))

    def index(self) -> PackIndex:
        """Where every stored chunk is, as of now."""
        return PackIndex.load(self.packs)

    def input_manifests(self) -> dict[Path, Manifest]:
        """The indexes of inputs given by path; a damaged one is as good as none."""
        found = {}
        for path in sorted(self.inputs.glob("*.manifest")):
            with suppress(StoreDamaged):
                found[path] = Manifest.from_bytes(path.read_bytes(), str(path))
        return found

    def remove(self, text: str) -> list[VersionName]:
        """Remove one version, or with no version named, the dataset. Chunks go with the next `incoop gc`."""
        wanted = VersionName.parse(text)
        self.resolve(text)
        versions = self.versions(wanted.name) if wanted.version is None else [wanted.version]
        removed = [VersionName(wanted.name, version) for version in versions]
        with using_store(self.folder.parent):
            for each in removed:
                self._manifest_path(each).unlink(missing_ok=True)
        return removed

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold off collection while chunks are written that no manifest names yet."""
        with using_store(self.folder.parent):
            for folder in (self.folder.parent, self.folder, self.packs, self.temporary, self.inputs, self._datasets):
                make_folder(folder)
            if not (self.folder / "FORMAT").exists():
                write_atomically(self.folder / "FORMAT", [f"{FORMAT_VERSION}\n".encode()])
            lock = (self.folder / "lock").open("ab")
        with lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Be the only process that touches the store, or raise StoreBusy."""
        with using_store(self.folder.parent):
            lock = (self.folder / "lock").open("ab")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreBusy(str(self.folder.parent)) from None
            yield

    def publish(self, name: str, manifest: Manifest, after: int | None = None) -> VersionName | None:
        """Give a manifest the next version number.

        With `after`, the version must follow that one directly: None is returned when another put was faster.
        """
        folder = self._datasets / name
        manifest.notes.setdefault("created", time.time())
        wanted = self.temporary / f"{unique_name()}.manifest"
        with using_store(self.folder.parent), written_aside(wanted, [manifest.to_bytes()]) as temporary:
            make_folder(folder)
            while True:
                newest = (self.versions(name) or [0])[-1]
                if after is not None and newest != after:
                    return None
                version = VersionName(name, newest + 1)
                try:
                    # Unlike rename, link fails when the name is taken: a put that was faster keeps its version.
                    self._manifest_path(version).hardlink_to(temporary)
                except FileExistsError:
                    continue
                sync(folder)
                return version

    def _manifest_path(self, version: VersionName) -> Path:
        return self._datasets / version.name / f"{version.version:06d}.manifest"

    def _check_format(self) -> None:
        path = self.folder / "FORMAT"
        with using_store(self.folder.parent):
            content = path.read_bytes().strip() if path.exists() else b""
        if content and not content.isdigit():
            raise StoreDamaged(str(path), "not a format number")
        if int(content or 0) > FORMAT_VERSION:
            raise DatasetStoreTooNew(str(self.folder), int(content), FORMAT_VERSION)


def all_manifests(store: DatasetStore) -> Sequence[tuple[VersionName, Manifest]]:
    """Every version of every dataset with its manifest."""
    found = [VersionName(name, version) for name in store.names() for version in store.versions(name)]
    return [(version, store.manifest(str(version))) for version in found]
