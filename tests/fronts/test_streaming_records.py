"""Keys, order and partitions of Streaming's lines, against plain references."""

from __future__ import annotations

import functools
import itertools
import subprocess
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.base.errors import BadCall
from incoop.contraction.columns.keys import hash_of
from incoop.fronts.streaming.key_fields import KeyField, number_of, parse_fields
from incoop.fronts.streaming.line_keys import LineKeys
from incoop.fronts.streaming.lines import KeyRule, LineCounts, LineOrder, joined, lines_of, repeated
from incoop.fronts.streaming.partitions import (
    REDUCE_SHARDS,
    Partitioner,
    shards_of,
    spread_keys,
    text_hashes,
    tree_shards,
)

LINES = st.lists(st.binary(max_size=8).map(lambda line: line.replace(b"\n", b"")), max_size=30)
FEW = st.lists(st.text(alphabet="ab.\t 1-", max_size=8).map(str.encode), max_size=30)
SEPARATORS = st.sampled_from([b"\t", b".", b" ", b"\x00", b"ab"])


def split_by_hand(line: bytes, separator: bytes, fields: int) -> tuple[bytes, bytes]:
    at = -len(separator)
    for _ in range(fields):
        at = line.find(separator, at + len(separator))
        if at < 0:
            return line, b""
    return line[:at], line[at + len(separator) :]


@given(LINES | FEW, SEPARATORS, st.integers(1, 4))
def test_a_key_ends_at_the_nth_separator(lines: list[bytes], separator: bytes, fields: int) -> None:
    rule = KeyRule(separator, fields)
    expected = [split_by_hand(line, separator, fields) for line in lines]
    assert [(key, value) for key, _, value in map(rule.split, lines)] == expected
    assert rule.keys_of(lines).to_list() == [key for key, _ in expected]
    assert b"".join(rule.split(b"x" + separator + b"y")) == b"x" + separator + b"y"
    assert rule.rewritten(lines, b"|", trailing=True) == [key + b"|" + value for key, value in expected]


@given(LINES | FEW, SEPARATORS, st.integers(1, 3))
def test_lines_are_ordered_by_key_and_then_by_value(lines: list[bytes], separator: bytes, fields: int) -> None:
    rule = KeyRule(separator, fields)
    found = LineOrder(rule).sorted(joined(lines))
    assert sorted(found) == sorted(lines)
    assert [split_by_hand(line, separator, fields) for line in found] == sorted(
        split_by_hand(line, separator, fields) for line in lines
    )
    assert lines_of(joined(lines)) == lines
    once, counts = LineOrder(rule).counted(Counter(lines * 3))
    assert once == list(dict.fromkeys(found)) and joined(once, counts) == joined(repeated(once, counts))
    assert repeated(once, counts) == LineOrder(rule).sorted(joined(lines * 3))


@given(LINES | FEW)
def test_keys_that_are_like_the_one_before_are_left_out(lines: list[bytes]) -> None:
    keys = LineKeys.of(lines)
    expected = [key for key, _ in itertools.groupby(lines)]
    assert keys.without_repeats().to_list() == expected
    assert keys.without_repeats().same_as(keys) == (expected == lines)
    assert not keys.same_as(LineKeys.of([*lines, b""])) and keys.same_as(LineKeys.of(lines))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-20, 20), st.sampled_from("xyz")), max_size=20))
def test_a_comparator_orders_as_the_sort_command_does(rows: list[tuple[str, int, str]]) -> None:
    text = "".join(f"{name}.{number}.{rest}\n" for name, number, rest in rows).encode()
    order = LineOrder(KeyRule(b"\t", 1), parse_fields("-k1,1r -k2,2n"), b".")
    sort = ["sort", "-t", ".", "-k1,1r", "-k2,2n"]
    expected = subprocess.run(sort, input=text, capture_output=True, check=True, env={"LC_ALL": "C"}).stdout
    assert joined(order.sorted(text)) == expected


def compared_in_hadoop(one: bytes, other: bytes, field: KeyField) -> int:
    parts = [field.cut(key, b".") for key in (one, other)]
    if parts[0] is None or parts[1] is None:
        result = (parts[0] is not None) - (parts[1] is not None)
    else:
        result = (parts[0] > parts[1]) - (parts[0] < parts[1])
    return -result if field.reverse else result


@given(FEW, st.sampled_from(["-k1,1", "-k2", "-k2,2r", "-k1.2,1.3 -k2r", "-r"]))
def test_keys_without_the_field_come_first_or_in_reverse_last(lines: list[bytes], option: str) -> None:
    fields = parse_fields(option)

    def compare(one: bytes, other: bytes) -> int:
        keys = KeyRule().split(one)[0], KeyRule().split(other)[0]
        found = [compared_in_hadoop(*keys, field) for field in fields]
        return next((each for each in found if each), (KeyRule().split(one) > KeyRule().split(other)) * 2 - 1)

    expected = sorted(sorted(lines, key=KeyRule().split), key=functools.cmp_to_key(compare))
    assert LineOrder(KeyRule(), fields, b".").sorted(joined(lines)) == expected


def hash_by_hand(key: bytes, initial: int) -> int:
    value = initial
    for byte in key:
        value = (31 * value + (byte - 256 if byte > 127 else byte)) & 0xFFFF_FFFF
    return value


@given(st.lists(st.binary(max_size=20), max_size=20), st.integers(2, 7))
def test_partitions_are_those_of_hadoop(keys: list[bytes], reducers: int) -> None:
    given_keys = LineKeys.of(keys)
    assert given_keys.java_hashes(1).tolist() == [hash_by_hand(key, 1) for key in keys]
    expected = [(hash_by_hand(key, 1) & 0x7FFFFFFF) % reducers for key in keys]
    partitioner = Partitioner(reducers)
    assert partitioner.partitions(given_keys).tolist() == expected
    assert (partitioner.buckets(given_keys) >> partitioner.bucket_bits).tolist() == expected


@given(st.integers(1, 40))
def test_partitions_are_spread_over_the_shards_of_the_engine(reducers: int) -> None:
    keys = spread_keys(reducers)
    assert [key % reducers for key in keys] == list(range(reducers))
    shards = [hash_of(key) * REDUCE_SHARDS >> 64 for key in keys]
    assert shards[:4] == [0, 8, 4, 12][:reducers] and len(set(shards)) == min(reducers, REDUCE_SHARDS)


@given(st.integers(1, 40) | st.sampled_from([256, 300]))
def test_the_buckets_of_a_partition_are_in_its_own_shards_of_the_tree(reducers: int) -> None:
    partitioner, shards = Partitioner(reducers), tree_shards(reducers)
    keys = partitioner.bucket_keys
    assert [partitioner.bucket_of(key) for key in keys] == list(range(reducers << partitioner.bucket_bits))
    found: dict[int, set[int]] = {}
    for number, key in enumerate(keys):
        found.setdefault(number >> partitioner.bucket_bits, set()).add(hash_of(key) * shards >> 64)
    assert found == {partition: set(shards_of(partition, reducers)) for partition in range(reducers)}
    assert reducers > shards or sum(map(len, found.values())) == len(set().union(*found.values()))


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_lines_are_counted_as_they_come(pieces: list[bytes]) -> None:
    counts = LineCounts()
    for piece in pieces:
        counts.feed(piece * 3_000)  # more than is counted at once
    assert counts.close() == Counter(lines_of(b"".join(piece * 3_000 for piece in pieces)))


def test_known_hashes_of_java() -> None:
    # String.hashCode of these is printed in many books; "Aa" and "BB" are the usual collision.
    assert text_hashes([b"hello", b"Aa", b"BB", b""]).tolist() == [99162322, 2112, 2112, 0]
    partitioner = Partitioner(1000, parse_fields("-k1,2"), b".")
    assert len(set(partitioner.partitions(LineKeys.of([b"11.12.1", b"11.12.2", b"11.12"])).tolist())) == 1
    assert partitioner.partitions(LineKeys.of([b"11.12.1"])) == [hash_by_hand(b"11.12", 0) % 1000]


def test_key_fields_are_read_as_hadoop_writes_them() -> None:
    assert parse_fields("-k 2,2nr") == parse_fields("-k2,2nr") == (KeyField(2, 1, 2, 0, True, True),)
    assert parse_fields("-nr -k1,1 -k2,2r") == (KeyField(1, 1, 1, 0, True, True), KeyField(2, 1, 2, 0, False, True))
    assert parse_fields("") == ()
    assert KeyField(1, 2, 1, 3).cut(b"abcdef.x", b".") == b"bc"
    assert KeyField(3).cut(b"a.b", b".") is None
    assert [number_of(text) for text in (b"10", b"9.5x", b"-3", b".5", b"", b"-")] == [10, 9.5, -3, 0.5, 0, 0]
    for wrong in ("-k", "-kx", "-k0", "k1", "-k1,2z"):
        with pytest.raises(BadCall, match="key fields"):
            parse_fields(wrong)


def test_separators_that_cannot_work_are_refused() -> None:
    for wrong in (lambda: KeyRule(b""), lambda: KeyRule(b"\n"), lambda: KeyRule(b"\t", 0)):
        with pytest.raises(BadCall):
            wrong()
