"""The engine's functions for a step of an mrjob job: map a chunk, combine, reduce a key or a whole task.

Contract: an engine key is what a line is sorted by, a value the rest of the line. A result's pairs are (place, lines):
sorted by place they are the output of mrjob's inline runner, part after part. In a step that reads such a result every
value carries its place, so that a reducer gets its values in the order of that output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import xxhash

from incoop.code import known_by_content
from incoop.fronts.common.combiners import CombinerGivesOtherKeys
from incoop.fronts.mrjob.code import Script, is_map
from incoop.fronts.mrjob.lines import joined, line_of, pair_of, place_of_key, sorted_values, split_lines
from incoop.fronts.mrjob.task_files import read_task

#: Lines of an input, pairs of an earlier step's result, or a file that describes one task.
LINES, RESULT, TASK = "lines", "result", "task"

Placed = tuple[bytes, bytes]


def task_number(first: bytes, count: int) -> dict[str, str]:
    """Numbers that tell tasks apart, as Hadoop's do, but follow from what the task reads alone."""
    number = str(xxhash.xxh3_64_intdigest(first, seed=count) >> 33)
    return {
        "mapreduce_task_partition": number,
        "mapred_task_partition": number,
        "mapreduce_task_id": f"task_incoop_{number}",
        "mapred_tip_id": f"task_incoop_{number}",
        "mapreduce_task_attempt_id": f"attempt_incoop_{number}_0",
        "mapred_task_id": f"attempt_incoop_{number}_0",
    }


@dataclass(frozen=True)
class MapTask:
    """One map task: a chunk of lines, a block of an earlier result, or what a task file describes."""

    #: None where the step has no mapper: lines go on as they are.
    script: Script | None
    reads: str
    #: Run in the task itself, on all its lines, where the engine cannot contract it.
    combiner: Script | None
    sort_values: bool
    #: The step ends here: give lines, not pairs for a reducer.
    last: bool
    #: Variables of this input alone, such as the name of its file.
    variables: Mapping[str, str]

    def __call__(self, records: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
        if self.reads == RESULT:
            return self._of_result(records)
        lines, variables, more = read_task(records) if self.reads == TASK else (records, {}, [])
        known_by_content(more)  # the task file has a digest of each
        lines = self._mapped(lines, {**self.variables, **variables}, more)
        return [(b"", joined(lines))] if self.last else map(pair_of, lines)

    def _mapped(self, lines: Sequence[bytes], variables: Mapping[str, str], more: Sequence[str] = ()) -> list[bytes]:
        variables = {**task_number(lines[0] if lines else b"", len(lines)), **variables}
        out = self.script.run(lines, variables, *more) if self.script is not None else list(lines)
        if self.combiner is None:
            return out
        return self.combiner.run(_in_order(out, self.sort_values), variables)

    def _of_result(self, pairs: Sequence[Placed]) -> Iterable[tuple[Any, Any]]:
        """Every line goes with the place of the line that the mapper had read when it gave it."""
        pairs = sorted(pairs, key=itemgetter(0))
        reading = _Reading(pairs)
        if self.combiner is not None or self.script is None or not _reads_on(self.script):
            # What comes out cannot be told apart by what went in: it stands where the block begins.
            first = pairs[0][0] if pairs else b""
            out = [(first, line) for line in self._mapped(list(reading), self.variables)]
            if self.script is None and self.combiner is None:
                out = [(place, line) for place, lines in pairs for line in split_lines(lines)]
        else:
            number = task_number(pairs[0][0] if pairs else b"", len(pairs))
            with self.script.code.place({**is_map(True), **number, **self.variables}):
                out = [(reading.place, line) for line in self.script.written(reading)]
        if self.last:
            return [(place, joined(line for _, line in group)) for place, group in groupby(out, key=itemgetter(0))]
        return ((key, (place, value)) for place, line in out for key, value in [pair_of(line)])


@dataclass(frozen=True)
class MapLines:
    """A mapper without state, called for each line alone: it makes no difference how lines are divided."""

    script: Script

    def __call__(self, lines: Sequence[bytes]) -> Iterable[tuple[Any, Any]]:
        return map(pair_of, self.script.kept().of_lines(lines))


class _Reading:
    """The lines of a result's pairs, and the place of the last one that was read."""

    def __init__(self, pairs: Sequence[Placed]) -> None:
        self.place = pairs[0][0] if pairs else b""
        self._pairs = pairs

    def __iter__(self) -> Iterator[bytes]:
        for place, lines in self._pairs:
            self.place = place
            yield from split_lines(lines)


def _reads_on(script: Script) -> bool:
    """Whether a script reads line by line in this process."""
    return script.description["type"] == "script" and "pre_filter" not in script.description


def _in_order(lines: Iterable[bytes], sort_values: bool) -> list[bytes]:
    """Lines as a combiner gets them."""
    if sort_values:
        return sorted(lines, key=lambda line: line + b"\n")
    return sorted(lines, key=lambda line: pair_of(line)[0])


def _values_of(values: Iterable[Any], placed: bool, sort_values: bool) -> list[bytes]:
    """The values of a key in the order that mrjob gives them to its reducer."""
    if placed:
        values = [value for _, value in sorted(values, key=itemgetter(0))]
    return sorted_values(values) if sort_values else list(values)


@dataclass(frozen=True)
class KeyCombiner:
    """Combines many keys in one call."""

    script: Script
    placed: bool
    sort_values: bool
    #: One job object may serve all calls.
    stateless: bool

    def __call__(self, groups: Iterable[tuple[bytes, list[Any]]]) -> Iterator[tuple[bytes, Any]]:
        groups = sorted(groups, key=lambda group: place_of_key(group[0], self.sort_values))
        # The first place stands for all: what a combiner gives may not depend on the order of its values.
        first = {key: min(place for place, _ in values) for key, values in groups} if self.placed else {}
        for line in self._combined(groups):
            key, value = pair_of(line)
            yield key, (first[key], value) if self.placed else value

    def _combined(self, groups: list[tuple[bytes, list[Any]]]) -> Iterator[bytes]:
        ordered = ((key, _values_of(values, self.placed, self.sort_values)) for key, values in groups)
        if not self.stateless:
            all_lines = [line_of(key, value) for key, values in ordered for value in values]
            number = task_number(all_lines[0] if all_lines else b"", len(all_lines))
            yield from _same_keys({key for key, _ in groups}, self.script.run(all_lines, number))
            return
        kept = self.script.kept()
        for key, values in ordered:
            yield from _same_keys({key}, kept.of_key(key, values))


def _same_keys(keys: set[bytes], lines: list[bytes]) -> list[bytes]:
    for line in lines:
        if pair_of(line)[0] not in keys:
            raise CombinerGivesOtherKeys(repr(pair_of(line)[0])[:200])
    return lines


@dataclass(frozen=True)
class ReduceKey:
    """A reducer without state: called for a key alone."""

    script: Script
    placed: bool
    sort_values: bool
    #: Whether the code may look at its folder or environment.
    looks_around: bool

    def __call__(self, key: bytes, values: Iterable[Any]) -> list[Placed]:
        ordered = _values_of(values, self.placed, self.sort_values)
        if self.looks_around:
            with self.script.code.place({**is_map(False), **task_number(key, 0)}):
                out = self.script.kept().of_key(key, ordered)
        else:
            out = self.script.kept().of_key(key, ordered)
        return [(place_of_key(key, self.sort_values), joined(out))] if out else []


@dataclass(frozen=True)
class Gather:
    """The lines of a key, for a reduce task that sees many keys."""

    placed: bool
    sort_values: bool

    def __call__(self, key: bytes, values: Iterable[Any]) -> list[Placed]:
        ordered = _values_of(values, self.placed, self.sort_values)
        return [(place_of_key(key, self.sort_values), joined(line_of(key, value) for value in ordered))]


@dataclass(frozen=True)
class ReduceTask:
    """A whole reduce task, as a task file describes it."""

    script: Script

    def __call__(self, records: Sequence[bytes]) -> list[Placed]:
        lines, variables, _ = read_task(records)
        number = task_number(lines[0] if lines else b"", len(lines))
        return [(b"", joined(self.script.run(lines, {**number, **variables})))]
