"""Records of generations: each holds under its own job and number, and nowhere else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from incoop.base.checksums import Signer
from incoop.memo import collect
from incoop.memo.events import DidRejectGeneration
from incoop.memo.generations import GenerationHead, decode_head, encode_head, field_of

from .places import Place, task_id

SIGNER = Signer(b"a secret")
HEAD = GenerationHead("job", 7, 1.5, (3, 0, 0), (b"d" * 16,) * 3, None, b"abc")


def test_a_head_holds_under_its_own_job_and_number_alone() -> None:
    raw = encode_head(HEAD, SIGNER)
    assert decode_head(field_of("job", 7), raw, SIGNER) == HEAD
    for field in (field_of("job", 8), field_of("job", 6), field_of("other", 7), field_of("job2", 7), b""):
        assert decode_head(field, raw, SIGNER) is None
    assert decode_head(field_of("job", 7), raw, Signer(b"another secret")) is None


@pytest.fixture
def place(folder: Path) -> Iterator[Place]:
    with contextlib.closing(Place(folder, None)) as place:
        yield place


@pytest.mark.parametrize("size", [10, 100_000], ids=["in Redis", "in a pack"])
@pytest.mark.parametrize("to", [3, 2], ids=["to a number that no run got", "over a later one"])
def test_a_generation_copied_to_another_number_does_not_become_the_newest(place: Place, size: int, to: int) -> None:
    store = place.open()
    for record in (b"1" * size, b"2" * size):
        store.commit_generation("job", store.begin_generation("job"), record, [task_id(1)])
    keys = store.keys
    with contextlib.closing(place.raw(store)) as client:
        client.hset(keys.generations, field_of("job", to), client.hget(keys.generations, field_of("job", 1)))
        client.zadd(keys.numbers_of("job"), {str(to): to})
        last = store.last_generation("job")
        assert last is not None
        assert (last.number, last.record[:1]) == ((2, b"2") if to == 3 else (1, b"1"))
        assert [event.number for event in store.events.of(DidRejectGeneration)] == [to]
        collect(store)
        assert not client.hexists(keys.generations, field_of("job", to)), "a damaged one is collected"


def test_a_generation_copied_to_another_job_is_not_its_own(place: Place) -> None:
    store = place.open()
    store.commit_generation("job", store.begin_generation("job"), b"mine", [task_id(1)])
    store.commit_generation("other", store.begin_generation("other"), b"theirs", [task_id(1)])
    keys = store.keys
    with contextlib.closing(place.raw(store)) as client:
        client.hset(keys.generations, field_of("other", 1), client.hget(keys.generations, field_of("job", 1)))
    assert store.last_generation("other") is None
