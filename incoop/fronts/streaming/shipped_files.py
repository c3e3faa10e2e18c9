"""Files that go with a job: what a command finds in its working folder, and what of it counts as its identity.

Contract: a file counts by its name there and its content. A program runs on copies, so that it cannot change the
originals; what it was not given it does not find.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from zipfile import ZipFile, is_zipfile

from incoop.base.errors import BadCall, IncoopError
from incoop.base.paths import local_path
from incoop.fingerprint.files import folder_digest

#: Files above this are linked, not copied: a model of gigabytes is not written again for every run.
_COPIED = 64 << 20


class FileNotShipped(IncoopError):
    """A file that was to go with the job cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path} cannot go with the job: {self.reason}. Check the paths after -files, -file and -archives."


@dataclass(frozen=True, slots=True)
class ShippedFile:
    """A file, a folder or an archive, and its name in the working folder."""

    source: Path
    link: str
    archive: bool = False

    @classmethod
    def parse(cls, text: str, archive: bool = False) -> ShippedFile:
        """Read a path or a file: URI, with `#link` or without.

        Example:
            >>> ShippedFile.parse("/data/words-2.txt#words").link
            'words'
        """
        path, _, link = local_path(text, percent=False).partition("#")
        source = Path(path)
        link = link or source.name
        where = PurePosixPath(link)
        if not link or where.is_absolute() or ".." in where.parts:
            raise BadCall(f"{text!r}: the name behind # is one inside the working folder.")
        return cls(source, link, archive)

    def digest(self) -> bytes:
        self._check()
        return folder_digest(self.source)

    def stage(self, folder: Path) -> None:
        """Put it into a folder, an archive unpacked."""
        self._check()
        target = folder / self.link
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if self.archive:
                _unpack(self.source, target)
            elif self.source.is_dir():
                shutil.copytree(self.source, target)
            elif self.source.stat().st_size > _COPIED:
                target.symlink_to(self.source.absolute())
            else:
                shutil.copy2(self.source, target)
        except (OSError, shutil.Error) as error:
            raise FileNotShipped(str(self.source), str(error)) from error

    def _check(self) -> None:
        if not self.source.exists():
            raise FileNotShipped(str(self.source), "there is no such file")


def _unpack(archive: Path, target: Path) -> None:
    """A zip file keeps its permissions, which Python's own unpacking drops."""
    if not is_zipfile(archive):
        try:
            shutil.unpack_archive(archive, target, filter="data")
        except (shutil.ReadError, ValueError) as error:
            raise FileNotShipped(str(archive), f"it is no archive that can be unpacked ({error})") from error
        return
    with ZipFile(archive) as opened:
        for member in opened.infolist():
            path = Path(opened.extract(member, target))
            if (mode := member.external_attr >> 16) and path.is_file():
                path.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR)


def without_clashes(shipments: Iterable[ShippedFile]) -> list[ShippedFile]:
    """Each name once; two files under one name are refused."""
    found: dict[str, ShippedFile] = {}
    for each in shipments:
        before = found.setdefault(each.link, each)
        if before.source.absolute() != each.source.absolute():
            raise BadCall(f"{before.source} and {each.source} would both be {each.link}; name one with #link.")
    return list(found.values())
