"""The ways in which benchmarks change inputs: what they must leave alone, and that they are deterministic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import changes
from incoop.inchdfs import ChunkSettings, Splitter

#: An example compares half a megabyte.
FEW = settings(max_examples=25)
SEEDS = st.integers(0, 1000)
#: Some thousand different records of different lengths, and as many others.
CONTENT = b"".join(b"old %d %s\n" % (number, b"x" * (number * 37 % 90)) for number in range(8000))
FRESH = b"".join(b"new %d %s\n" % (number, b"y" * (number * 41 % 90)) for number in range(6000))


def lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


def replaced(content: bytes) -> int:
    """How many of the records of CONTENT are gone."""
    return sum((Counter(lines(CONTENT)) - Counter(lines(content))).values())


@FEW
@given(st.floats(0, 0.5), SEEDS)
def test_replacing_chunks_replaces_that_share_of_them_by_content_of_the_same_size(share: float, seed: int) -> None:
    bounds = changes.boundaries(CONTENT)
    count = max(1, round((len(bounds) - 1) * share))
    changed = changes.replace_chunks(CONTENT, share, FRESH, seed)

    touched = [
        number for number in range(len(bounds) - 1) if CONTENT[bounds[number] : bounds[number + 1]] not in changed
    ]
    longest = max(map(len, lines(FRESH)))
    assert len(touched) == count
    assert abs(len(changed) - len(CONTENT)) <= count * longest
    assert Counter(lines(changed)) - Counter(lines(CONTENT)) <= Counter(dict.fromkeys(lines(FRESH), count))


def test_chunks_that_were_not_replaced_are_found_again() -> None:
    splitter = Splitter(ChunkSettings.for_input(len(CONTENT)))
    before = {chunk.id for chunk in splitter.split_bytes(CONTENT)}
    after = {chunk.id for chunk in splitter.split_bytes(changes.replace_chunks(CONTENT, 0.1, FRESH, 1))}
    # Behind each replaced chunk some more change, until boundaries meet again.
    assert len(before) // 2 <= len(before & after) < len(before)


@FEW
@given(st.floats(0, 1), SEEDS)
def test_changing_records_changes_that_share_of_them(share: float, seed: int) -> None:
    changed = changes.change_records(CONTENT, share, FRESH, seed)
    total = len(lines(CONTENT))
    assert len(lines(changed)) == total
    assert replaced(changed) == max(1, round(total * share))


@FEW
@given(SEEDS, st.integers(1, 40))
def test_permuting_sections_keeps_all_records_and_moves_some(seed: int, sections: int) -> None:
    changed = changes.permute_sections(CONTENT, seed, sections)
    assert sorted(lines(changed)) == sorted(lines(CONTENT))
    assert (changed != CONTENT) == (sections > 1)


@FEW
@given(SEEDS)
def test_one_record_is_inserted_or_deleted(seed: int) -> None:
    record = b"new 1 \n"
    assert Counter(lines(changes.insert_record(CONTENT, seed, record))) - Counter(lines(CONTENT)) == Counter([record])
    assert replaced(changes.insert_record(CONTENT, seed)) == 0
    shorter = changes.delete_record(CONTENT, seed)
    assert (len(lines(shorter)), replaced(shorter)) == (len(lines(CONTENT)) - 1, 1)


@given(st.floats(0, 1))
def test_an_append_leaves_the_beginning_alone(share: float) -> None:
    longer = changes.append(CONTENT, share / 2, FRESH)
    assert longer.startswith(CONTENT)
    assert len(longer) - len(CONTENT) >= int(len(CONTENT) * share / 2)
    assert longer.endswith(b"\n")


@pytest.mark.parametrize(
    "change",
    [
        lambda seed: changes.replace_chunks(CONTENT, 0.1, FRESH, seed),
        lambda seed: changes.change_records(CONTENT, 0.01, FRESH, seed),
        lambda seed: changes.permute_sections(CONTENT, seed),
        lambda seed: changes.delete_record(CONTENT, seed),
        lambda seed: changes.insert_record(CONTENT, seed),
        lambda seed: changes.change_every(CONTENT, 4096, seed),
    ],
    ids=["chunks", "records", "sections", "delete", "insert", "every"],
)
def test_a_change_follows_from_its_seed(change: Callable[[int], bytes]) -> None:
    assert change(3) == change(3)
    assert len({change(seed) for seed in range(6)}) > 1


def test_too_little_fresh_content_is_refused() -> None:
    with pytest.raises(ValueError, match="twice its size"):
        changes.replace_chunks(CONTENT, 0.1, FRESH[:1000], 1)
