"""A value for each key, in versions: a version is a header, and versions share the blocks that they have in common.

Contract: what was not touched is neither read nor written. Shards in which no key is asked for or changed are not
looked at; in the others, the blocks that such a key falls in. The same change of the same version gives the same
version, under the same names: to apply it twice is to apply it once. Keys are one when a dict says so
(columns/normal.py).

Nothing here is deleted: a version lasts as long as its packs do (`Version.packs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from incoop.base.errors import BadCall
from incoop.contraction.columns.by_hash import changed_hashes, rows_with
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.keys import Hashes, hashes_of
from incoop.contraction.columns.normal import name_of
from incoop.contraction.columns.run import EMPTY, Run
from incoop.contraction.columns.shards import block_numbers
from incoop.contraction.parts.headers import RunHeader, RunRef, write_header
from incoop.contraction.parts.packs import PackBuilder, Reader
from incoop.contraction.parts.part import Part, differing_pairs
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import SHARD_ROW, as_row, with_own_pack
from incoop.contraction.parts.write import write_part

#: As many as a job has: enough for the cores of a small cluster.
DEFAULT_SHARDS = 16


class _Gone:
    """No value."""

    def __repr__(self) -> str:
        return "GONE"


#: In place of a value: there is none, or none any more.
GONE: Final = _Gone()

#: The row of a shard in which no key has a value.
_NO_KEYS = np.zeros(1, SHARD_ROW)[0]

#: Keys with the values that stand for them, by the keys' names.
_Named = dict[bytes, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Version:
    """A state at one moment."""

    #: Where its header is; None where no key has a value yet.
    ref: RunRef | None
    header: RunHeader

    def __len__(self) -> int:
        """How many keys have a value."""
        return int(self.header.rows["keys"].sum())

    def packs(self) -> set[bytes]:
        """Every pack that has to be kept for it."""
        return self.header.packs() | {self.ref.pack} if self.ref is not None else set()


@dataclass(frozen=True, slots=True)
class Difference:
    """A key whose value is not the same in two versions; GONE where there is none."""

    key: Any
    old: Any
    new: Any


class KeyedState:
    """The versions of a state, in packs that `reader` reads and `write` writes and names."""

    def __init__(self, reader: Reader, write: Callable[[list[bytes]], bytes], shards: int = DEFAULT_SHARDS) -> None:
        if shards < 1 or shards & (shards - 1):
            raise BadCall(f"shards must be a power of two, not {shards!r}.")
        self._reader, self._write = reader, write
        self._shards, self._shard_bits = shards, shards.bit_length() - 1

    def version(self, ref: RunRef | None = None) -> Version:
        """A version by its reference; without one, that in which no key has a value. Raises BlockLost."""
        if ref is None:
            return Version(None, RunHeader(np.zeros(self._shards, SHARD_ROW), (b"",) * self._shards))
        return Version(ref, RunHeader.load(ref, self._shards, self._reader))

    def select(self, version: Version, keys: Iterable[Any]) -> dict[Any, Any]:
        """The values of those of the keys that have one, in one reading of each shard."""
        asked = list(keys)
        found: dict[Any, Any] = {}
        for shard, at, hashes in self._by_shard(asked):
            part = self._part(version, shard)
            held = _named(part.select(hashes)) if part is not None else {}
            for key in (asked[index] for index in at):
                if (name := name_of(key)) in held:
                    found[key] = held[name][1]
        return found

    def items(self, version: Version) -> Iterator[tuple[Any, Any]]:
        """All keys with their values, shard by shard."""
        for shard in range(self._shards):
            part = self._part(version, shard)
            yield from _named(part.whole()).values() if part is not None else ()

    def apply(self, version: Version, changes: Mapping[Any, Any]) -> Version:
        """The version in which these keys have these values, GONE for none; the same one where they have them already.

        (1) In each shard that a key falls in, the blocks that may hold it are read.
        (2) Keys that come out as they were are dropped. A hash may be that of several keys: all of these are written.
        (3) The blocks that really change are written, with the headers of their parts; then the header of all shards,
            in which the others stand as they are.
        """
        asked, values = list(changes), list(changes.values())
        rows, refs, pack = version.header.rows.copy(), list(version.header.refs), PackBuilder()
        rows[rows["keys"] == 0] = _NO_KEYS
        touched = False
        for shard, at, hashes in self._by_shard(asked):
            part = self._part(version, shard)
            before = part.select(hashes) if part is not None else EMPTY  # step (1)
            fresh = _updated(before, [(asked[index], values[index]) for index in at])
            really = changed_hashes(before, fresh)  # step (2)
            if len(really):  # step (3)
                touched = True
                fresh, held = fresh.take(rows_with(fresh, really)), len(rows_with(before, really))
                rows[shard], refs[shard] = self._rewritten(part, really, fresh, held, pack)
        if not touched:
            return version
        if not rows["keys"].any():
            return self.version()
        region = write_header(rows, refs, pack)
        name = self._write(pack.parts)
        return Version(RunRef(name, *region), RunHeader(with_own_pack(rows, name), tuple(refs)))

    def changed(self, old: Version, new: Version) -> Iterator[Difference]:
        """The keys whose values are not the same. Shards and blocks that both have in common are not read."""
        differs = old.header.rows["digest"] != new.header.rows["digest"]
        for shard in np.flatnonzero(differs).tolist():
            was, now = self._part(old, shard), self._part(new, shard)
            if was is not None and now is not None:
                before, after = differing_pairs(was, now)
            else:
                before, after = (part.whole() if part is not None else EMPTY for part in (was, now))
            hashes = changed_hashes(before, after)
            mine, theirs = (_named(run.take(rows_with(run, hashes))) for run in (before, after))
            for name in dict.fromkeys([*mine, *theirs]):
                key, value = mine.get(name, (None, GONE))
                other_key, other = theirs.get(name, (None, GONE))
                if not _equal(value, other):
                    yield Difference(key if other is GONE else other_key, value, other)

    def _by_shard(self, keys: list[Any]) -> Iterator[tuple[int, list[int], Hashes]]:
        """For each shard that a key falls in: which keys these are, and their sorted hashes."""
        hashes = hashes_of(keys)
        shards = block_numbers(hashes, 0, self._shard_bits)
        for shard in np.unique(shards).tolist():
            at = np.flatnonzero(shards == shard)
            yield shard, at.tolist(), np.unique(hashes[at])

    def _part(self, version: Version, shard: int) -> Part | None:
        """A shard of a version; None for an empty one."""
        row = version.header.rows[shard]
        return Part.load(row, self._shard_bits, self._reader) if row["keys"] else None

    def _rewritten(
        self, part: Part | None, changed: Hashes, fresh: Run, held: int, pack: PackBuilder
    ) -> tuple[Any, bytes]:
        """The row of a shard in which the pairs of `changed`, of which it holds `held`, are those of `fresh`."""
        if part is None:
            return as_row(write_part(fresh, self._shard_bits, pack)), b""
        if part.keys - held + len(fresh) == 0:
            return _NO_KEYS, b""
        row, packs = rewrite_part(part, changed, fresh, held, pack)
        return as_row(row), b"".join(packs)


def _named(run: Run) -> _Named:
    return {name_of(key): (key, value) for key, (value,) in run.groups()}


def _updated(before: Run, changes: list[tuple[Any, Any]]) -> Run:
    """All keys of some hashes after a change. A key that was there is shown as it was."""
    held = _named(before)
    for key, value in changes:
        name = name_of(key)
        if value is GONE:
            held.pop(name, None)
        else:
            held[name] = held.get(name, (key, None))[0], value
    return Run.of_values(dict(held.values()))


def _equal(old: Any, new: Any) -> bool:
    """Whether two values are stored as the same bytes."""
    return old is not GONE and new is not GONE and encode(old) == encode(new)
