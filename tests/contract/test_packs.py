"""Packs that are being filled, and rows that say which pack they lie in once it has a name."""

from __future__ import annotations

import numpy as np
import pytest

from incoop.contraction.columns.run import Run
from incoop.contraction.parts import packs
from incoop.contraction.parts.packs import OpenPack, PackBuilder
from incoop.contraction.parts.rows import OWN_PACK, SHARD_ROW, as_row, with_own_pack
from incoop.contraction.parts.write import write_part


def test_what_waits_gets_the_name_of_the_pack_that_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PACK_BYTES", 8)
    written: list[bytes] = []

    def write(parts: list[bytes]) -> bytes:
        written.append(b"".join(parts))
        return b"pack %d" % len(written)

    pack: OpenPack[str] = OpenPack(write)
    named: list[tuple[bytes, str]] = []
    for item in ("ash", "larch", "oak", "elm", "fir"):
        pack.builder.add(item.encode())
        named += pack.added(item)
    assert named == [
        (b"pack 1", "ash"),
        (b"pack 1", "larch"),
        (b"pack 2", "oak"),
        (b"pack 2", "elm"),
        (b"pack 2", "fir"),
    ]
    assert written == [b"ashlarch", b"oakelmfir"]
    assert pack.flush() == [] and len(written) == 2, "an empty pack is not written"


def test_what_waits_for_a_pack_that_cannot_be_written_goes_on_waiting() -> None:
    fails = True

    def write(parts: list[bytes]) -> bytes:
        if fails:
            raise OSError
        return b"pack"

    pack: OpenPack[str] = OpenPack(write)
    pack.builder.add(b"oak")
    pack.added("oak")
    with pytest.raises(OSError):
        pack.flush()
    fails = False
    assert pack.flush() == [(b"pack", "oak")]


def test_only_rows_of_the_new_pack_get_its_name() -> None:
    own = as_row(write_part(Run.of_values({"oak": 1}), 0, PackBuilder()))
    other = own.copy()
    other["pack"] = np.void(b"o" * 16)
    rows = np.array([own, other], SHARD_ROW)
    placed = with_own_pack(rows, b"n" * 16)
    assert [bytes(pack) for pack in placed["pack"]] == [b"n" * 16, b"o" * 16]
    assert bytes(rows["pack"][0]) == OWN_PACK, "the given rows stay as they are"
    rest = [name for name in SHARD_ROW.names or () if name != "pack"]
    assert (placed[rest] == rows[rest]).all()


def test_parts_of_a_pack_that_is_being_filled_are_read_one_by_one_or_together() -> None:
    pack = PackBuilder()
    offsets = [pack.add(piece) for piece in (b"ash", b"", b"larch", b"oak")]
    assert [pack.read(offsets[at], length) for at, length in ((0, 3), (2, 5), (3, 3))] == [b"ash", b"larch", b"oak"]
    assert pack.read(offsets[0], 11) == b"ashlarchoak"
    assert pack.read(offsets[2], 8) == b"larchoak"
