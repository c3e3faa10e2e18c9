"""Results of jobs with many keys of which few change, again and again: what is kept beside blocks shows nowhere."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import incoop
from incoop import inchdfs
from incoop.contraction.parts.part import Part
from incoop.engine.stored import BlobReader
from incoop.memo import MemoStore, collect

from .places import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def words(_: Any, line: str) -> Iterator[tuple[str, int]]:
    for word in line.split():
        yield word, 1


def total(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, int]]:
    yield key, sum(counts)


def largest_first(key: Any, counts: Iterable[int]) -> Iterator[tuple[Any, tuple[int, str]]]:
    yield key, (-sum(counts), key)


def by_count(word: Any, count: int) -> Iterator[tuple[int, int]]:
    yield count, 1


#: One shard of several blocks; its root is its output, and there are outputs of another kind.
SUMS = incoop.Job("sums", mapper=words, combiner=total, reducer=total, shards=1)
PAIRS = incoop.Job("pairs", mapper=words, combiner=total, reducer=largest_first, shards=1)
BY_COUNT = incoop.Job("by count", mapper=by_count, combiner=total, reducer=total)

LINES = [" ".join(f"word{number}" for number in range(start, start + 10)) for start in range(0, 20_000, 10)]


@pytest.fixture
def large(spark: SparkSession, base: Path) -> Iterator[Place]:
    with contextlib.closing(Place(base, spark, inchdfs.ChunkSettings(average=16 << 10))) as place:
        yield place


def edited(lines: list[str], step: int) -> list[str]:
    """Some lines changed: words counted twice, gone, and new ones, whose hashes are all over the blocks."""
    changed = list(lines)
    for at in range(300 * step, 300 * step + 60):
        changed[at] = f"word{at} new{step}-{at} {lines[at].partition(' ')[2]}"
    return changed


def overlaid(result: incoop.Result) -> int:
    """How many keys of the output are kept beside its blocks."""
    output: Any = result.output
    reader = BlobReader(result._reader.blobs)
    return sum(Part.load(row, 0, reader).overlaid for row in output.header.rows)


@pytest.mark.parametrize("job", [SUMS, PAIRS], ids=["root as output", "output of its own"])
def test_every_way_to_read_a_result_sees_what_changed(job: incoop.Job, large: Place) -> None:
    reduce = {SUMS.name: lambda _, n: n, PAIRS.name: lambda word, n: (-n, word)}[job.name]
    lines, before, kept = LINES, {}, []
    for step in range(3):
        large.write(lines)
        result = large.run(job)
        counts = Counter(word for line in lines for word in line.split())
        after = {word: reduce(word, n) for word, n in counts.items()}
        assert result.as_dict() == after
        assert {each.key: (each.old, each.new) for each in result.changes()} == {
            key: (before.get(key), after.get(key))
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        }
        assert dict(result.rdd().collect()) == after
        result.save(large.folder / "out")
        assert len((large.folder / "out" / "part-00000").read_text().splitlines()) == len(after)
        if job is SUMS:
            assert large.session.run(BY_COUNT, result).as_dict() == Counter(after.values())
        kept.append(overlaid(result))
        with large.scratch() as session:
            assert session.run(job, str(large.input)).root == result.root
        lines, before = edited(lines, step + 1), after
    assert kept[0] == 0 and 0 < kept[1] < kept[2]


def test_a_next_stage_maps_only_blocks_that_an_edit_reaches(large: Place) -> None:
    large.write(LINES)
    large.session.run(BY_COUNT, large.run(SUMS))
    for lines in (edited(LINES, 1), [*edited(LINES, 1)[:-1], "word7"]):
        large.write(lines)
        result = large.run(SUMS)
        assert overlaid(result)
        second = large.session.run(BY_COUNT, result)
        counts = Counter(word for line in lines for word in line.split())
        assert second.as_dict() == Counter(counts.values())
    large.write([*lines, "word7"])
    assert large.session.run(BY_COUNT, large.run(SUMS)).report.map.executed == 1


def test_a_lost_pack_below_an_overlay_is_computed_again(large: Place) -> None:
    large.write(LINES)
    large.run(SUMS)
    large.write(edited(LINES, 1))
    result = large.run(SUMS)
    assert overlaid(result)
    expected = Counter(word for line in edited(LINES, 1) for word in line.split())
    for path in large.packs:
        path.write_bytes(b"")
    assert result.as_dict() == expected
    assert large.run(SUMS).as_dict() == expected


def test_collection_keeps_what_an_overlay_stands_beside(large: Place) -> None:
    large.write(LINES)
    large.run(SUMS)
    for step in (1, 2):
        large.write(edited(LINES, step))
        result = large.run(SUMS)
        with MemoStore.open(large.store, maintenance=True) as store:
            collect(store)
    assert overlaid(result)
    assert result.as_dict() == Counter(word for line in edited(LINES, 2) for word in line.split())


@pytest.mark.parametrize("job", [SUMS, PAIRS], ids=["root as output", "output of its own"])
def test_an_edit_after_closing_and_collecting_finds_every_block_that_stayed(job: incoop.Job, large: Place) -> None:
    """Parts of many blocks, some of them in packs of earlier runs: no session holds those, but the parts name them."""
    lines = LINES
    for step in range(4):
        large.write(lines)
        result = large.run(job)
        assert result.report.warnings == []
        if step:
            assert len(result.events.executed("map")) <= 2
        counts = Counter(word for line in lines for word in line.split())
        assert {key: value if job is SUMS else -value[0] for key, value in result} == counts
        large.close_session()
        with MemoStore.open(large.store, maintenance=True) as store:
            collect(store)
        lines = [*lines[: 40 * step], f"word{step} new{step}", *lines[40 * step + 1 :]]
