"""The entry's bytes: what goes in comes out, and nothing else is believed."""

from __future__ import annotations

import doctest
import gc
import importlib
import struct
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.checksums import Signer, block_hash, verify_block
from incoop.base.ids import split_ids
from incoop.memo import MemoEntry
from incoop.memo.entry import ENTRY_FORMAT, collector_paused, decode_entries, encode_entries, epoch_of

SIGNER = Signer(b"a secret of the tests")
U64 = st.integers(0, 2**64 - 1)
ID = st.binary(min_size=16, max_size=16)
IDS = st.lists(ID, max_size=6).map(b"".join)

ENTRIES = st.builds(
    MemoEntry,
    pack=st.none() | ID,
    offset=U64,
    length=U64,
    digest=st.just(b"") | ID,
    inline=st.binary(max_size=300),
    refs=IDS,
)


def decoded(task: bytes, raw: bytes) -> tuple[MemoEntry | None, list[tuple[bytes, str]]]:
    rejected: list[tuple[bytes, str]] = []
    return decode_entries([task], [raw], SIGNER, rejected)[0], rejected


@given(ID, ENTRIES, U64)
def test_every_entry_comes_back_equal(task: bytes, entry: MemoEntry, epoch: int) -> None:
    (raw,) = encode_entries([(task, entry)], SIGNER, epoch)
    assert decoded(task, raw) == (entry, [])
    assert epoch_of(raw) == epoch


@given(ID, ENTRIES, st.data())
def test_any_single_bit_flip_is_a_miss(task: bytes, entry: MemoEntry, data: st.DataObject) -> None:
    (raw,) = encode_entries([(task, entry)], SIGNER, 1)
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    broken = bytearray(raw)
    broken[bit // 8] ^= 1 << bit % 8
    found, rejected = decoded(task, bytes(broken))
    assert found is None
    assert [key for key, _ in rejected] == [task]


@given(ID, ENTRIES, st.data())
def test_any_cut_or_added_byte_is_a_miss(task: bytes, entry: MemoEntry, data: st.DataObject) -> None:
    (raw,) = encode_entries([(task, entry)], SIGNER, 1)
    at = data.draw(st.integers(0, len(raw) - 1))
    assert decoded(task, raw[:at])[0] is None
    assert decoded(task, raw + b"\0")[0] is None


@given(ID, ID, ENTRIES)
def test_an_entry_holds_only_under_its_own_task(task: bytes, other: bytes, entry: MemoEntry) -> None:
    (raw,) = encode_entries([(task, entry)], SIGNER, 1)
    assert (decoded(other, raw)[0] is None) == (task != other)


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_never_an_entry(raw: bytes) -> None:
    assert decoded(b"t" * 16, raw)[0] is None


def test_an_entry_of_another_layout_is_a_miss_even_when_it_is_signed() -> None:
    task = b"t" * 16
    (raw,) = encode_entries([(task, MemoEntry())], SIGNER, 1)
    body = struct.pack("B", 99) + raw[17:]
    state = SIGNER.entry_state()
    state.update(task + body)
    assert decoded(task, state.digest() + body) == (None, [(task, "entry format 99")])


def test_the_layout_is_pinned() -> None:
    """Another layout has another ENTRY_FORMAT: what older releases wrote is then a miss, never misread."""
    entry = MemoEntry(pack=b"p" * 16, offset=7, length=9, digest=b"d" * 16, inline=b"in", refs=b"r" * 16)
    (raw,) = encode_entries([(b"t" * 16, entry)], SIGNER, 3)
    assert ENTRY_FORMAT == 3
    assert raw[16:] == (
        bytes([3, 3, 0, 0]) + struct.pack("<IQQQ", 1, 7, 9, 3) + b"p" * 16 + b"d" * 16 + b"r" * 16 + b"in"
    )


def test_an_entry_is_laid_out_as_its_module_says() -> None:
    task = b"t" * 16
    entry = MemoEntry(b"p" * 16, 5, 6, b"d" * 16, b"inline", b"r" * 16 + b"s" * 16)
    (raw,) = encode_entries([(task, entry)], SIGNER, 7)
    body = struct.pack("<BBBxIQQQ", 3, 3, 0, 2, 5, 6, 7) + b"p" * 16 + b"d" * 16 + entry.refs + b"inline"
    assert raw[16:] == body
    (bare,) = encode_entries([(task, MemoEntry())], SIGNER, 7)
    assert bare[16:] == struct.pack("<BBBxIQQQ", 3, 0, 0, 0, 0, 0, 7) + bytes(32)


def test_an_entry_that_says_nothing_has_nothing() -> None:
    assert MemoEntry() == MemoEntry(None, 0, 0, b"", b"", b"")


def test_why_an_entry_is_not_believed_is_told() -> None:
    task, other = b"t" * 16, b"o" * 16
    good, wrong = encode_entries([(task, MemoEntry(inline=b"a")), (other, MemoEntry(inline=b"b"))], SIGNER, 1)
    rejected: list[tuple[bytes, str]] = []
    found = decode_entries([task, task, task, task], [None, good[:20], wrong, good], SIGNER, rejected)
    assert found == [None, None, None, MemoEntry(inline=b"a")]
    assert rejected == [(task, "truncated"), (task, "keyed checksum does not match")]


def test_a_task_has_one_answer() -> None:
    with pytest.raises(ValueError):
        decode_entries([b"t" * 16], [], SIGNER, [])


def test_what_is_too_short_for_an_entry_was_never_written() -> None:
    (raw,) = encode_entries([(b"t" * 16, MemoEntry())], SIGNER, 7)
    assert epoch_of(raw) == 7
    assert epoch_of(raw[:-1]) == -1
    assert epoch_of(b"") == -1


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_left_as_it_was(collecting: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with pytest.raises(RuntimeError), collector_paused():
            assert not gc.isenabled()
            raise RuntimeError
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()


def test_a_decoded_entry_is_as_frozen_as_any() -> None:
    (raw,) = encode_entries([(b"t" * 16, MemoEntry(inline=b"h"))], SIGNER, 1)
    found, _ = decoded(b"t" * 16, raw)
    assert type(found) is MemoEntry
    assert hash(found) == hash(MemoEntry(inline=b"h"))
    with pytest.raises(FrozenInstanceError):
        found.inline = b"other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "entry",
    [
        MemoEntry(pack=b"short"),
        MemoEntry(digest=b"short"),
        MemoEntry(refs=b"not ids"),
    ],
)
def test_an_entry_that_cannot_be_stored_is_refused(entry: MemoEntry) -> None:
    with pytest.raises(ValueError):
        encode_entries([(b"t" * 16, entry)], SIGNER, 1)


def test_a_task_is_named_by_an_id() -> None:
    with pytest.raises(ValueError, match="16-byte ids"):
        encode_entries([(b"short", MemoEntry())], SIGNER, 1)


def test_an_entry_names_every_pack_it_needs() -> None:
    entry = MemoEntry(pack=b"p" * 16, refs=b"q" * 16 + b"r" * 16)
    assert entry.packs() == (b"p" * 16, b"q" * 16, b"r" * 16)
    assert MemoEntry().packs() == ()
    with pytest.raises(ValueError):
        split_ids(b"not ids")


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_a_block_is_verified_by_its_content(one: bytes, other: bytes) -> None:
    assert verify_block(memoryview(one), block_hash(bytearray(one)))
    assert verify_block(other, block_hash(one)) == (one == other)


def test_no_kind_of_checksum_passes_for_another_and_no_secret_for_another() -> None:
    other = Signer(b"another")
    marks = {
        SIGNER.entry_state().digest(), SIGNER.pack_state().digest(), SIGNER.sign_generation(b""), SIGNER.key_check,
        other.entry_state().digest(), other.pack_state().digest(), other.sign_generation(b""), other.key_check,
        block_hash(b""),
    }  # fmt: skip
    assert len(marks) == 9


@pytest.mark.parametrize("name", ["base.checksums", "base.ids", "memo.address", "memo.blobs", "memo.retention"])
def test_the_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"incoop.{name}")).failed == 0


def test_a_worker_that_handles_packs_loads_neither_redis_nor_numpy() -> None:
    script = (
        "import sys; from incoop.memo import WorkerConfig, MemoEntry\n"
        "print([name for name in ('redis', 'numpy', 'fsspec', 'pyspark') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
