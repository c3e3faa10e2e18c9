"""What is installed of a package: its name, its version, and a digest of what its installer recorded.

Contract: two installations have the same content exactly when the files that they put beside each other have the same
hashes, whatever the machine, the folder and the order; a package that is built and installed again under the same
version is another one. What differs from place to place is left out: scripts outside the folder (their first line is a
path), compiled caches, the installer's own notes, and where on this machine a package was installed from. Where nothing
was recorded, the files themselves are read.

Files that were edited by hand after they were installed are not seen: the record still tells of what was installed.
"""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from incoop.fingerprint.files import folder_digest
from incoop.fingerprint.tokens import digest, str_token

# Written by the installer about itself and its place, or by the interpreter; they come and go without other code.
NOTES = frozenset({"RECORD", "RECORD.jws", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"})

_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class Installed:
    """What a folder of installed packages has under one top-level name."""

    #: Names of the distributions, joined by "+": several share a namespace package.
    name: str
    version: str
    #: A digest of the records, as text.
    content: str


Stamp = tuple[int, int, int]

#: Which metadata folders hold a name, while the folder of packages does not change.
_HOLDERS: dict[tuple[str, Path], tuple[int, list[Path]]] = {}

#: Digests of records, while the file is the same.
_RECORDS: dict[Path, tuple[Stamp, str]] = {}


def installed(top: str, folder: Path, only_recorded: bool = False) -> Installed | None:
    """Return what is installed in `folder` under the top-level name `top`; None if nothing says so.

    A checkout has metadata beside its code, but no record: `only_recorded` leaves such metadata out.

    Example:
        >>> import pathlib, xxhash
        >>> found = installed("xxhash", pathlib.Path(xxhash.__file__).parents[1])
        >>> found.name, found.version == xxhash.VERSION
        ('xxhash', True)
    """
    holders = _holders(top, folder)
    if not holders:
        return None
    facts = sorted((*_name_and_version(info), _content(info)) for info in holders)
    contents = [content for _, _, content in facts if content]
    if len(contents) < len(facts):
        if only_recorded:
            return None
        contents += [folder_digest(path).hex() for path in _files_of(top, folder)]
    joined = "+".join(version for _, version, _ in facts)
    return Installed("+".join(name for name, _, _ in facts), joined, "+".join(contents))


def _holders(top: str, folder: Path) -> list[Path]:
    """Return the metadata folders of the distributions that have `top`."""
    if not folder.is_dir():  # an archive on the path, or nothing
        return []
    changed = folder.stat().st_mtime_ns
    known = _HOLDERS.get((top, folder))
    if known is not None and known[0] == changed:
        return known[1]
    infos = [path for path in folder.iterdir() if path.suffix in (".dist-info", ".egg-info")]
    wanted = _normal(top)
    # A regular package is one distribution's, most often of the same name: the records of all others stay unread.
    found = [info for info in infos if _normal(info.name.partition("-")[0]) == wanted and _provides(info, top)]
    if not found or ((folder / top).is_dir() and not (folder / top / "__init__.py").exists()):
        found = [info for info in infos if _provides(info, top)]
    _HOLDERS[top, folder] = changed, found
    return found


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name.removesuffix(".egg-info").removesuffix(".dist-info")).lower()


def _provides(info: Path, top: str) -> bool:
    listed = _read(info / "top_level.txt")
    if listed is not None:
        return top in listed.split()
    record = _read(info / "RECORD")
    if record is None:
        return _normal(info.name.partition("-")[0]) == _normal(top)
    return re.search(rf'^"?{re.escape(top)}[/.]', record, re.MULTILINE) is not None


def _name_and_version(info: Path) -> tuple[str, str]:
    text = _read(info / "METADATA") or _read(info / "PKG-INFO") or (_read(info) or "")
    fields = dict.fromkeys(("name", "version"), "")
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon:
            break  # the end of the headers
        if key.lower() in fields:
            fields[key.lower()] = value.strip()
    return fields["name"] or info.stem, fields["version"]


def _content(info: Path) -> str:
    """Return the digest of a distribution's record; empty if it has none."""
    record = info / "RECORD"
    try:
        found = record.stat()
    except OSError:
        return ""
    stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
    known = _RECORDS.get(record)
    if known is not None and known[0] == stamp:
        return known[1]
    entries = sorted(_entries(record, info.name))
    origin = _origin(info / "direct_url.json")
    content = digest(b"record" + b"".join(str_token(entry) for entry in (*entries, origin))).hex()
    _RECORDS[record] = stamp, content
    return content


def _entries(record: Path, info: str) -> Iterator[str]:
    """Yield a text for each recorded file that counts: its name and the hash of its bytes."""
    for row in csv.reader((_read(record) or "").splitlines()):
        name, written = (*row, "", "")[:2]
        if not name or name.startswith(("../", "/")) or name.endswith((".pyc", ".pyo")):
            continue
        if name.startswith(f"{info}/") and name.removeprefix(f"{info}/") in NOTES:
            continue
        if not written:  # allowed, though installers write hashes
            file = record.parent.parent / name
            written = base64.b64encode(folder_digest(file)).decode() if file.is_file() else "gone"
        yield f"{name},{written}"


def _origin(path: Path) -> str:
    """Return what `direct_url.json` says of the code that was installed: a commit, the hash of an archive, a URL."""
    try:
        said = json.loads(_read(path) or "{}")
    except ValueError:
        return "unreadable"
    if str(said.get("url", "")).startswith("file:"):  # a place on this machine: what lay there is in the record
        said.pop("url")
    said.pop("dir_info", None)
    return json.dumps(said, sort_keys=True)


def _files_of(top: str, folder: Path) -> list[Path]:
    named = [path for path in (folder / top, folder / f"{top}.py") if path.exists()]
    return named or sorted(folder.glob(f"{top}.*.so"))


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
