"""A map-only job: of chunks that changed a few leaves are mapped, and who reads its result is told what changed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import incoop
from incoop import inchdfs

#: Chunks of many stretches, so that a changed one is read in a few places only.
LARGE = inchdfs.ChunkSettings(average=64 << 10)


def fields(_: Any, line: str) -> Iterator[tuple[str, Any]]:
    """No pair of some lines, two of others."""
    key, number, *rest = line.split()
    if number.endswith("7"):
        return
    yield key, int(number)
    if rest[0].endswith("99"):
        yield key, (line, None)


def even(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, int) or value % 2 == 0:
        yield key, value


def numbers(key: str, value: Any) -> Iterator[tuple[str, int]]:
    yield key, value if isinstance(value, int) else len(value[0])


def total(key: str, values: Iterable[int]) -> Iterator[tuple[str, int]]:
    yield key, sum(values)


FIELDS = incoop.Job("fields", fields)
EVEN = incoop.Job("even", even)
TOTALS = incoop.Job("totals", numbers, total, total)


def long_list() -> list[str]:
    rng = random.Random(5)
    return [f"k{rng.randrange(9000)} {rng.randint(0, 99)} {number}" for number in range(30_000)]


def edited_everywhere(lines: list[str], day: int) -> list[str]:
    changed = list(lines)
    for at in range(500 + day, len(changed), 1500):
        changed[at] = f"k{at % 9000} {day} a line of some length, as lines are: {at} {day}"
    del changed[20_000]
    changed.insert(10_000, "k5 7 gives nothing")
    return changed


def by_hand(lines: list[str]) -> list[tuple[str, Any]]:
    return [pair for line in lines for pair in fields(None, line)]


def packed_bytes(store: Path) -> int:
    return sum(path.stat().st_size for path in store.rglob("*") if path.is_file() and "packs" in path.parts)


def shown(changes: Iterable[incoop.Change]) -> Counter[str]:
    """Values that went and came, by key."""
    found: Counter[str] = Counter()
    for change in changes:
        for sign, value in (("-", change.old), ("+", change.new)):
            found.update(f"{sign}{change.key} {each}" for each in (value if isinstance(value, list) else [value]))
    return Counter({text: count for text, count in found.items() if not text.endswith(" None")})


def differences(old: list[tuple[str, Any]], new: list[tuple[str, Any]]) -> Counter[str]:
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    return Counter({f"-{key} {value}": n for (key, value), n in gone.items()}) + Counter(
        {f"+{key} {value}": n for (key, value), n in come.items()}
    )


def test_days_of_scattered_edits_cost_what_changed_and_give_what_plain_python_does(base: Path, tmp_path: Path) -> None:
    store, out, file = tmp_path / "store", tmp_path / "out", tmp_path / "list.txt"
    lines = long_list()
    with incoop.connect(store, chunks=LARGE) as session:
        for day in range(4):
            before, lines = lines, edited_everywhere(lines, day) if day else lines
            file.write_text("".join(f"{line}\n" for line in lines))
            had = packed_bytes(store)
            result = session.run(FIELDS, str(file))
            written = packed_bytes(store) - had
            expected = by_hand(lines)
            assert result.collect() == expected
            even_ones, totals = session.run(EVEN, result), session.run(TOTALS, result)
            assert even_ones.collect() == [each for pair in expected for each in even(*pair)]
            sums: Counter[str] = Counter()
            for pair in expected:
                sums.update(dict(numbers(*pair)))
            assert totals.as_dict() == dict(sums)
            saved = result.save(out)
            assert "".join(path.read_text() for path in sorted(out.glob("part-*"))) == "".join(
                f"{key}\t{value}\n" for key, value in expected
            )
            if not day:
                continue
            changed = sum(len(line) for line in (Counter(lines) - Counter(before)).elements())
            assert written <= 100 * changed
            assert shown(result.changes()) == differences(by_hand(before), expected)
            assert result.report.map.executed > result.report.map.tasks / 2
            assert len(saved) == result.report.map.executed
            for each in (result, even_ones, totals):
                assert each.report.fresh_bytes < each.report.input_bytes / 8
    with incoop.connect(tmp_path / "other", chunks=LARGE) as session:
        scratch = session.run(FIELDS, str(file))
        assert scratch.root == result.root
        assert [block.id for block in scratch.output_blocks()] == [block.id for block in result.output_blocks()]
        assert session.run(TOTALS, scratch).root == totals.root


def test_a_line_that_gives_nothing_changes_no_part(base: Path, tmp_path: Path) -> None:
    file, lines = tmp_path / "list.txt", long_list()
    with incoop.connect(tmp_path / "store", chunks=LARGE) as session:
        for now in (lines, [*lines[:9000], f"{lines[9000].split()[0]} 77 x", *lines[9000:]]):
            file.write_text("".join(f"{line}\n" for line in now))
            result = session.run(FIELDS, str(file))
            saved, totals = result.save(tmp_path / "out"), session.run(TOTALS, result)
        assert (result.report.map.executed, saved, list(result.changes())) == (1, [], [])
        assert totals.report.map.executed == 0


@pytest.mark.parametrize("lost", ["the first pack", "the last pack"])
def test_a_lost_pack_is_mapped_again(lost: str, base: Path, tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "list.txt"
    lines = long_list()
    with incoop.connect(store, chunks=LARGE) as session:
        for day in range(2):
            lines = edited_everywhere(lines, day)
            file.write_text("".join(f"{line}\n" for line in lines))
            result = session.run(FIELDS, str(file))
        packs = sorted(
            (path.stat().st_mtime_ns, path) for path in (store / "memo" / "packs").rglob("*") if path.is_file()
        )
        packs[0 if lost == "the first pack" else -1][1].unlink()
        assert result.collect() == by_hand(lines)
