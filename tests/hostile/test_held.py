"""What was tried against a store and held from the beginning, kept as tests."""

from __future__ import annotations

import itertools
import shutil
import struct
from pathlib import Path

import pytest
import zstandard

import incoop
from incoop.base.checksums import block_hash
from incoop.memo import PackUnreadable, WorkerConfig
from incoop.memo.events import EventLog
from incoop.memo.files import split_name
from incoop.memo.frames import FRAME_BYTES
from tests.memo.places import result_of

from .test_output_folder import JOB

WHOLE = result_of(7, 150_000)


def counted(text: str) -> dict[str, int]:
    words = text.split()
    return {word: words.count(word) for word in set(words)}


def test_an_older_redis_beside_newer_packs_gives_no_older_result(tmp_path: Path) -> None:
    """As somebody restores it from a backup, or puts it back on purpose."""
    texts = [f"ash oak number{number % 2}\n" * 40 + f"larch{number}\n" for number in range(4)]
    log = tmp_path / "store" / "memo" / "server" / "appendonly.aof"
    kept: list[Path] = []
    for number, text in enumerate(texts):
        (tmp_path / "words.txt").write_text(text)
        with incoop.connect(tmp_path / "store") as session:
            assert dict(session.run(JOB, tmp_path / "words.txt")) == counted(text)
        assert log.exists()
        kept.append(Path(shutil.copy(log, tmp_path / f"log{number}")))
    for older, now in itertools.product((0, 2), (0, 1, 3)):
        shutil.copy(kept[older], log)
        (tmp_path / "words.txt").write_text(texts[now])
        before = counted(texts[3])
        with incoop.connect(tmp_path / "store") as session:
            result = session.run(JOB, tmp_path / "words.txt")
            assert dict(result) == counted(texts[now])
            # Of the changes it says that they are lost, or what they are to what was given last; never to another.
            try:
                changes = {change.key: (change.old, change.new) for change in result.changes()}
            except incoop.IncoopError as lost:
                assert type(lost).__name__ == "ChangesLost"
            else:
                keys = {*before, *counted(texts[now])}
                pairs = {key: (before.get(key), counted(texts[now]).get(key)) for key in keys}
                assert changes == {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
        (tmp_path / "words.txt").write_text(texts[3])
        with incoop.connect(tmp_path / "store") as session:
            assert dict(session.run(JOB, tmp_path / "words.txt")) == before


def test_a_good_pack_under_the_name_of_another_is_a_miss(tmp_path: Path) -> None:
    blobs = WorkerConfig(str(tmp_path), b"s" * 32).open(events=EventLog())
    one, two = blobs.write([result_of(1)]), blobs.write([result_of(2)])
    places = [tmp_path / split_name(pack.hex()) for pack in (one, two)]
    shutil.copy(places[1], places[0])
    assert blobs.read_region(one, 0, 3000, block_hash(result_of(1))) is None
    with pytest.raises(PackUnreadable, match="keyed checksum"):
        blobs.check(one)
    assert blobs.read_region(two, 0, 3000, block_hash(result_of(2))) == result_of(2)


TAIL = struct.Struct("<QII8s")


def claims(data: bytes) -> dict[str, bytes]:
    """A compressed pack that says other things of itself."""
    size, step, count, magic = TAIL.unpack(data[-TAIL.size :])
    rest, lengths = data[: -TAIL.size], data[-TAIL.size - 4 * count : -TAIL.size]
    frames = rest[: -4 * count]
    bomb = zstandard.ZstdCompressor().compress(bytes(256 << 20))
    swapped = struct.pack(f"<{count}I", *reversed(struct.unpack(f"<{count}I", lengths)))
    return {
        "more bytes": rest + TAIL.pack(1 << 60, step, count, magic),
        "frames of one byte": rest + TAIL.pack(size, 1, count, magic),
        "frames without end": rest + TAIL.pack(size, 1 << 31, 1, magic),
        "as many frames as fit": rest + TAIL.pack(0xFFFFFFFF * step, step, 0xFFFFFFFF, magic),
        "no frames": rest + TAIL.pack(0, step, 0, magic),
        "lengths in another order": frames + swapped + data[-TAIL.size :],
        "lengths of nothing": frames + bytes(4 * count) + data[-TAIL.size :],
        "a frame that stands for more": bomb + struct.pack("<I", len(bomb)) + TAIL.pack(FRAME_BYTES, step, 1, magic),
        "the tail alone": data[-TAIL.size :],
    }


@pytest.mark.timeout(20)
@pytest.mark.parametrize("what", claims(bytes(8) + TAIL.pack(8, 1 << 16, 1, b"")))
def test_a_compressed_pack_is_not_believed_what_it_says_of_itself(tmp_path: Path, what: str) -> None:
    config = WorkerConfig(str(tmp_path), b"s" * 32, "zstd:1")
    pack = config.open().write([WHOLE])
    path = tmp_path / split_name(f"{pack.hex()}.z")
    path.write_bytes(claims(path.read_bytes())[what])
    blobs = config.open(events=EventLog())
    assert blobs.read_region(pack, 0, len(WHOLE), block_hash(WHOLE)) is None
    with pytest.raises(PackUnreadable):
        blobs.check(pack)
    assert blobs.write([WHOLE]) == pack
    assert blobs.read_region(pack, 0, len(WHOLE), block_hash(WHOLE)) == WHOLE
