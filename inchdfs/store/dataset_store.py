"""Datasets kept in a store: each put makes a version, chunks are stored once.

    <store>/inchdfs/
        FORMAT                          refuses a store that a later release wrote
        secret                          signs manifests and indexes of packs; for its owner alone
        lock                            shared while writing, exclusive while collecting
        datasets/NAME/000001.manifest   one file a version, never changed
        packs/ID.pack, ID.index         chunk bytes, append only
        inputs/ID.manifest              indexes of inputs given by path (index.py)
        inputs/ID.columns               of those that are read by column (incoop/query/execution/parquet_index.py)
        temporary/                      what an interrupted put left; `incoop gc` removes it

Contract: a version appears whole or not at all; a put never touches an earlier version; two puts at once give two
versions. Chunks go to disk before the manifest that names them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from incoop.base.atomic import make_folder, sync, unique_name, write_atomically, written_aside
from incoop.base.checksums import Signer
from incoop.base.errors import IncoopError
from incoop.base.own_files import (
    SMALL,
    NotAFile,
    clear_way,
    demand_own_folder,
    open_lock,
    own_secret,
    read_regular,
    real,
    remove,
)
from incoop.base.paths import local_path
from incoop.inchdfs.errors import BadDatasetName, DatasetNotFound, DatasetStoreTooNew, StoreBusy, StoreDamaged
from incoop.inchdfs.store.manifest import FORMAT_VERSION, Manifest
from incoop.inchdfs.store.packs import SECRET, PackIndex, signer_of, using_store

_NAME_PART = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}(?<!\.manifest)")
_MANIFEST = re.compile(r"(\d{6,})\.manifest")


#: A version number is read as an integer, of which Python converts some thousand digits.
_MOST_DIGITS = 19


def is_dataset_name(name: str) -> bool:
    """Whether a dataset may be called that."""
    return all(_NAME_PART.fullmatch(part) for part in name.split("/"))


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
        numbered = not at or (version.isascii() and version.isdecimal() and len(version) < _MOST_DIGITS)
        if not numbered or not is_dataset_name(name):
            raise BadDatasetName(text)
        return cls(name, int(version) if at else None)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


class DatasetStore:
    """The datasets of one store folder. Opening it creates nothing; the first put does."""

    def __init__(self, folder: str | os.PathLike[str], *, repair: bool = False) -> None:
        self.folder = Path(local_path(folder)) / "inchdfs"
        self.packs = self.folder / "packs"
        self.temporary = self.folder / "temporary"
        self.inputs = self.folder / "inputs"
        self._datasets = self.folder / "datasets"
        with using_store(self.folder.parent):
            for each in (real(self.folder.parent), self.folder):
                demand_own_folder(each)
            for name in ("packs", "temporary", "inputs", "datasets"):
                demand_own_folder(self.folder / name)
        if not repair:
            self._check_format()

    def names(self) -> list[str]:
        """All datasets, sorted."""
        with using_store(self.folder.parent):
            paths = [path for path in self._datasets.rglob("*.manifest") if _MANIFEST.fullmatch(path.name)]
        found = {path.parent.relative_to(self._datasets).as_posix() for path in paths}
        return sorted(name for name in found if is_dataset_name(name))  # others are not ours

    def folder_of(self, name: str) -> Path:
        """Where the versions of a dataset are."""
        return self._datasets / VersionName.parse(name).name

    def versions(self, name: str) -> list[int]:
        """The versions of a dataset, oldest first; empty when there is no such dataset."""
        folder = self.folder_of(name)
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
                content = read_regular(path)
            except FileNotFoundError:
                if path.is_symlink():
                    raise StoreDamaged(str(path), "it is a link to nothing") from None
                raise DatasetNotFound(str(version), str(self.folder.parent), "no longer that version") from None
            except OSError as error:
                raise StoreDamaged(str(path), str(error.strerror)) from None
        return Manifest.from_bytes(content, str(path), self.signer, str(version))

    @property
    def signer(self) -> Signer:
        """What signs the manifests of this store; made with its first version."""
        return signer_of(self.folder)

    def index(self) -> PackIndex:
        """Where every stored chunk is, as of now."""
        return PackIndex.load(self.packs)

    def input_manifests(self) -> dict[Path, Manifest]:
        """The indexes of inputs given by path; a damaged one is as good as none."""
        found = {}
        for path in sorted(self.inputs.glob("*.manifest")):
            with suppress(StoreDamaged, DatasetStoreTooNew, OSError):
                found[path] = Manifest.from_bytes(read_regular(path), str(path), self.signer, path.name)
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
            lock = os.fdopen(open_lock(self.folder / "lock"), "ab")
        with lock:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._clear_leftovers()  # nobody else writes: these are of writers that were killed
            fcntl.flock(lock, fcntl.LOCK_SH)
            with using_store(self.folder.parent):
                if self._format() != FORMAT_VERSION:
                    clear_way(self.folder / "FORMAT")
                    write_atomically(self.folder / "FORMAT", [f"{FORMAT_VERSION}\n".encode()])
                own_secret(self.folder / SECRET)
            yield

    def leftovers(self) -> list[Path]:
        """What writers that were interrupted left; of no meaning while nobody writes."""
        hidden = (path for folder in (self.folder, self.packs, self.inputs) for path in folder.glob(".*"))
        return [*self.temporary.glob("*"), *hidden]

    def _clear_leftovers(self) -> None:
        for path in self.leftovers():
            with suppress(OSError):
                remove(path)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Be the only process that touches the store, or raise StoreBusy."""
        with using_store(self.folder.parent):
            lock = os.fdopen(open_lock(self.folder / "lock"), "ab")
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
        with using_store(self.folder.parent):
            make_folder(folder)
            while True:
                newest = (self.versions(name) or [0])[-1]
                if after is not None and newest != after:
                    return None
                version = VersionName(name, newest + 1)
                wanted = self.temporary / f"{unique_name()}.manifest"
                with written_aside(wanted, [manifest.to_bytes(self.signer, str(version))]) as temporary:
                    try:
                        # Unlike rename, link fails when the name is taken: a put that was faster keeps its version.
                        self._manifest_path(version).hardlink_to(temporary)
                    except FileExistsError:
                        continue
                sync(folder)
                return version

    def _manifest_path(self, version: VersionName) -> Path:
        return self._datasets / version.name / f"{version.version:06d}.manifest"

    def repair(self) -> list[str]:
        """Set right what cannot be read, by nobody who asks for a version: sentences that say what was done.

        A manifest that is damaged is set aside. Where none is signed by this store, its secret was lost: those that are
        whole are signed again, since whoever asks for this says that the store is theirs.
        """
        found = [VersionName(name, version) for name in self.names() for version in self.versions(name)]
        unread = {version: str(why) for version in found if (why := self._unread(version)) is not None}
        lost_secret = bool(unread) and len(unread) == len(found)
        done = []
        with self.writing():
            for version, reason in unread.items():
                path = self._manifest_path(version)
                if lost_secret and (manifest := self._whole(path)) is not None:
                    write_atomically(path, [manifest.to_bytes(self.signer, str(version))])
                    done.append(f"{version}: signed again; that nobody altered it cannot be known")
                    continue
                aside = self.folder / "set-aside" / f"{version.name.replace('/', '-')}-{path.name}-{unique_name()}"
                with using_store(self.folder.parent):
                    make_folder(aside.parent)
                    path.rename(aside)
                done.append(f"{version}: set aside as {aside} ({reason})")
        return done

    def _unread(self, version: VersionName) -> IncoopError | None:
        try:
            self.manifest(str(version))
        except (StoreDamaged, DatasetStoreTooNew) as error:
            return error
        return None

    def _whole(self, path: Path) -> Manifest | None:
        """A manifest that is not damaged, whoever signed it."""
        try:
            return Manifest.from_bytes(read_regular(path), str(path), None, "")
        except (OSError, StoreDamaged, DatasetStoreTooNew):
            return None

    def _format(self) -> int:
        """The format that the store says it has; 0 where it says none. Every manifest says its own, signed."""
        try:
            content = read_regular(self.folder / "FORMAT", limit=SMALL).strip()
        except (FileNotFoundError, NotADirectoryError, NotAFile):
            return 0
        except OSError as error:
            if error.errno == errno.ELOOP:
                return 0
            raise
        return int(content) if content.isdigit() and len(content) < 10 else 0

    def _check_format(self) -> None:
        with using_store(self.folder.parent):
            found = self._format()
        if found > FORMAT_VERSION:
            raise DatasetStoreTooNew(str(self.folder), found, FORMAT_VERSION)


def all_manifests(store: DatasetStore) -> Sequence[tuple[VersionName, Manifest]]:
    """Every version of every dataset with its manifest."""
    found = [VersionName(name, version) for name in store.names() for version in store.versions(name)]
    return [(version, store.manifest(str(version))) for version in found]
