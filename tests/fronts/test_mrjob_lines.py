"""Lines are sorted, grouped and cut as mrjob's own simulation does it; state is seen where there is some."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mrjob.job import MRJob
from mrjob.protocol import StandardJSONProtocol
from mrjob.sim import _sort_lines_in_memory, _split_records

from incoop.fronts.mrjob.lines import joined, line_of, pair_of, place_of_key, sorted_values
from incoop.fronts.mrjob.quick_json import quick
from incoop.fronts.mrjob.sorted_lines import SortedLines
from incoop.fronts.mrjob.statefulness import keeps_state

LINES = st.lists(st.binary(max_size=6).map(lambda data: data.replace(b"\n", b"\t")), max_size=40)


@given(LINES, st.booleans(), st.integers(1, 6))
def test_groups_are_sorted_and_cut_where_mrjob_sorts_and_cuts(
    tmp_path_factory: Any, lines: list[bytes], sort_values: bool, tasks: int
) -> None:
    folder: Path = tmp_path_factory.mktemp("sort")
    (folder / "in").write_bytes(joined(lines))
    _sort_lines_in_memory([str(folder / "in")], str(folder / "out"), sort_values=sort_values)
    expected = (folder / "out").read_bytes()

    values: dict[bytes, list[bytes]] = {}
    for line in lines:
        key, value = pair_of(line)
        values.setdefault(key, []).append(value)
    groups = [
        (place_of_key(key, sort_values), joined(line_of(key, v) for v in (sorted_values(vs) if sort_values else vs)))
        for key, vs in values.items()
    ]
    groups.sort()
    assert b"".join(lines for _, lines in groups) == expected

    with (folder / "out").open("rb") as file:
        splits = _split_records(file, len(expected) // tasks, lambda line: line.split(b"\t")[0])
        assert list(SortedLines.of(groups).cut(tasks)) == [b"".join(split) for split in splits]


PLACES = st.binary(max_size=4)
GROUPS = st.dictionaries(PLACES, st.binary(max_size=6))


@given(GROUPS, st.dictionaries(PLACES, st.none() | st.binary(max_size=6), max_size=8), st.booleans())
def test_sorted_lines_that_changed_are_those_that_are_sorted_anew(
    groups: dict[bytes, bytes], changes: dict[bytes, bytes | None], begins_with_place: bool
) -> None:
    def lines_of(place: bytes, lines: bytes) -> bytes:
        return place + lines if begins_with_place else lines

    def laid_out(groups: dict[bytes, bytes]) -> SortedLines:
        return SortedLines.of(sorted((place, lines_of(place, lines)) for place, lines in groups.items()))

    before = SortedLines.from_bytes(laid_out(groups).to_bytes())
    now = {**groups, **changes}
    expected = laid_out({place: lines for place, lines in now.items() if lines is not None})
    new = ((place, None if lines is None else lines_of(place, lines)) for place, lines in changes.items())
    changed = before.changed(new)
    assert changed.groups() == expected.groups() and changed.lines == expected.lines
    assert SortedLines.from_bytes(changed.to_bytes()).groups() == expected.groups()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
def test_the_quick_json_is_mrjobs(key: Any, value: Any) -> None:
    usual = StandardJSONProtocol()
    read, write = quick(usual.read, usual.write)
    line = usual.write(key, value)
    assert (write(key, value), write(key, value)) == (line, line)
    assert repr(read(line)) == repr(usual.read(line)) == repr(read(line))


@pytest.mark.parametrize("line", [b"", b"1", b"1\t01", b"1\t", b"a\t1", b"1\t-0", b"1\t\xb2", b"1\t1\t2", b"1\t 7"])
def test_the_quick_json_fails_where_mrjobs_fails(line: bytes) -> None:
    usual = StandardJSONProtocol()
    read, _ = quick(usual.read, usual.write)
    answers = []
    for one in (usual.read, read):
        try:
            answers.append(repr(one(line)))
        except ValueError as error:
            answers.append(repr(error))
    assert answers[0] == answers[1]


def test_other_protocols_are_left_as_they_are() -> None:
    class Own(StandardJSONProtocol):  # type: ignore[misc]
        pass

    own = Own()
    assert quick(own.read, own.write) == (own.read, own.write)


TABLE = {"a": 1}
SEEN: set[str] = set()


def helper(word: str) -> int:
    return TABLE.get(word, 0)


def remembering_helper(word: str) -> int:
    SEEN.add(word)
    return len(SEEN)


class Job(MRJob):  # type: ignore[misc]
    limits = (1, 2)
    cache: dict[str, int] = {}  # noqa: RUF012

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.names = ["x"]
        self.limit = 3

    def sums(self, word: str, counts: Any) -> Any:
        total = Counter(counts)
        total.update({word: helper(word)})
        self.increment_counter("a", "b")
        yield word, [sum(total.values()), self.limit, self.limits, self.options.runner]

    def calls_method(self, word: str, counts: Any) -> Any:
        yield from self.numbered(word)

    def numbered(self, word: str) -> Any:
        self.number = getattr(self, "number", 0) + 1
        yield word, self.number

    def reads_list(self, word: str, counts: Any) -> Any:
        yield word, self.names

    def fills_cache(self, word: str, counts: Any) -> Any:
        yield word, self.cache.setdefault(word, len(self.cache))

    def remembers(self, word: str, counts: Any) -> Any:
        yield word, remembering_helper(word)

    def hides(self, word: str, counts: Any) -> Any:
        setattr(self, word, 1)
        yield word, 1

    def starts(self) -> None:
        self.heap: list[str] = []

    def uses_start(self, word: str, counts: Any) -> Any:
        self.heap.append(word)
        yield word, len(self.heap)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("sums", False),
        ("calls_method", True),
        ("reads_list", True),
        ("fills_cache", True),
        ("remembers", True),
        ("hides", True),
    ],
)
def test_state_is_seen_in_code(name: str, state: bool) -> None:
    job = Job([])
    assert keeps_state(job, getattr(job, name)) == state


def test_state_that_an_init_made_is_seen() -> None:
    job = Job([])
    assert keeps_state(job, job.uses_start, job.starts)
    assert not keeps_state(job, job.sums, job.starts)
    assert keeps_state(job, print)


def test_a_line_comes_back_from_its_pair() -> None:
    for line in (b"", b"a", b"\t", b"a\t", b"a\tb\tc"):
        assert line_of(*pair_of(line)) == line
    assert len({key for key, _ in groupby([b"a", b"a\t"], key=lambda line: pair_of(line)[0])}) == 2
