"""What the engine calls for a streaming job: map a chunk, combine buckets of lines, reduce a partition.

Contract: lines travel as text, many in one value, so that Python handles no line by itself where it need not. With a
combiner the key of a value is (partition, bucket), and a bucket is what an update touches; without one it is the
partition, whose lines are gathered from all chunks. A reducer reads all lines of its partition in one process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash

from inchdfs.records import Lines
from incoop.errors import IncoopError
from incoop.fronts.streaming_aggregate import aggregate
from incoop.fronts.streaming_partition import Partitioner
from incoop.fronts.streaming_programs import Program
from incoop.fronts.streaming_records import KeyRule, Order, joined, lines_of

#: Of `-reducer aggregate`.
AGGREGATE = "aggregate"

#: How the error on a combiner that prints other keys begins.
PRINTED = "the combiner printed the key "

_LINES = Lines(encoding=None)


class CombinerEmitsOtherKeys(IncoopError):
    """A combiner printed a key that it was not given."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return (
            f"{PRINTED}{self.key}, which it was not given. Lines of other keys cannot be "
            "combined again; print the keys that were read, or leave the combiner out."
        )


class Chunk(bytes):
    """A chunk's bytes, shown by size and beginning."""

    def __repr__(self) -> str:
        return f"{len(self):,} bytes from {bytes(self[:60])!r} on"


@dataclass(frozen=True, slots=True)
class WholeChunks:
    """Chunks cut behind newlines, each read as one record."""

    def ends_around(self, data: bytes | bytearray, start: int, position: int, end: int) -> tuple[int, int]:
        return _LINES.ends_around(data, start, position, end)

    def records(self, chunk: bytes) -> list[Chunk]:
        return [Chunk(chunk)]


def as_lines(chunk: bytes) -> bytes:
    r"""A chunk as Hadoop's reader gives it to a command: lines end with one newline, the last one too.

    Example:
        >>> as_lines(b"a\r\nb")
        b'a\nb\n'
    """
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return chunk if chunk.endswith(b"\n") or not chunk else chunk + b"\n"


def task_variables(kind: str, number: int) -> dict[str, str]:
    """What Hadoop tells a task of itself, by today's names and the old ones."""
    task = f"task_local_0001_{kind}_{number:06d}"
    is_map = "true" if kind == "m" else "false"
    today = {"id": task, "attempt_id": f"attempt{task[4:]}_0", "partition": str(number), "ismap": is_map}
    return {
        **{f"mapreduce_task_{name}": value for name, value in today.items()},
        "mapred_tip_id": task,
        "mapred_task_id": f"attempt{task[4:]}_0",
        "mapred_task_partition": str(number),
        "mapred_task_is_map": is_map,
    }


@dataclass(frozen=True, slots=True)
class Combine:
    """A combiner over sorted lines."""

    program: Program | str
    order: Order
    #: Between key and value of what it reads, and how what it prints is read.
    input_separator: bytes
    printed: KeyRule

    def lines(self, data: bytes) -> list[bytes]:
        """The combined lines of a text, as the mapper would have printed them."""
        rule = self.order.rule
        if isinstance(self.program, str):
            return aggregate(self.order.sorted(data), rule, combine=True)
        fed, distinct = self.order.sorted_text(data)
        given = set(rule.keys(distinct))
        if rule.separator != self.input_separator:
            fed = joined(rule.rewritten(lines_of(fed), self.input_separator))
        # How often lines are combined depends on what ran before, so what a combiner counts does not add up.
        printed = self.program.run(fed, task_variables("m", 0), count=False)
        found = lines_of(printed)
        for key in self.printed.keys(found):
            if key not in given:
                raise CombinerEmitsOtherKeys(f"{key!r:.200}")
        if self.printed == rule:
            return found
        combined = self.printed.rewritten(found, rule.separator)
        for line, key in zip(combined, self.printed.keys(found), strict=True):
            if rule.split(line)[0] != key:  # a value behind a key of too few fields
                raise CombinerEmitsOtherKeys(f"{line!r:.200}")
        return combined


@dataclass(frozen=True, slots=True)
class MapStage:
    """Runs the mapper over a chunk, and the combiner over what it printed."""

    program: Program | None
    order: Order
    partitioner: Partitioner
    combine: Combine | None = None
    #: The name that the mapper is given of its input, which is then part of its identity.
    input_file: str | None = None
    #: Between key and value of KeyValueTextInputFormat; None for plain lines.
    key_value_separator: bytes | None = None

    def __call__(self, records: Sequence[Chunk]) -> Iterator[tuple[Any, bytes]]:
        (chunk,) = records
        printed = self.printed(chunk)
        if self.combine is not None:
            yield from by_bucket(self.combine.lines(printed), self.order.rule, self.partitioner)
        else:
            yield from by_partition(self.order.sorted(printed), self.order.rule, self.partitioner)

    def printed(self, chunk: bytes) -> bytes:
        """What the mapper prints for a chunk."""
        data = as_lines(chunk)
        if self.key_value_separator is not None:
            rule = KeyRule(self.key_value_separator)
            data = joined(rule.rewritten(data.split(b"\n")[:-1], b"\t", trailing=True))
        if self.program is None:
            return data
        # A chunk has no number that stays when others come or go; its content gives it one.
        return self.program.run(data, self._variables(xxhash.xxh3_64_intdigest(chunk) % 1_000_000))

    def _variables(self, number: int) -> Mapping[str, str]:
        variables = task_variables("m", number)
        if self.input_file is not None:
            variables |= {"mapreduce_map_input_file": self.input_file, "map_input_file": self.input_file}
        return variables


@dataclass(frozen=True, slots=True)
class MapOnlyStage:
    """Runs the mapper over a chunk; what it prints is the output."""

    stage: MapStage
    #: How printed lines are read, between key and value of the output, and whether it follows every key.
    printed: KeyRule
    separator: bytes
    trailing: bool

    def __call__(self, records: Sequence[Chunk]) -> Iterator[tuple[None, bytes]]:
        (chunk,) = records
        if output := finished(self.stage.printed(chunk), self.printed, self.separator, self.trailing):
            yield None, output


def by_partition(lines: list[bytes], rule: KeyRule, partitioner: Partitioner) -> Iterator[tuple[int, bytes]]:
    """Lines as one text for each partition, in their order."""
    if partitioner.reducers == 1:
        if lines:
            yield 0, joined(lines)
        return
    yield from _grouped(lines, partitioner.partitions(rule.keys(lines)))


def by_bucket(lines: list[bytes], rule: KeyRule, partitioner: Partitioner) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Lines as one text for each bucket of each partition, in their order."""
    keys = rule.keys(lines)
    bits = partitioner.bucket_bits
    for number, text in _grouped(lines, (partitioner.partitions(keys) << bits) + partitioner.buckets(keys)):
        yield (number >> bits, number & ((1 << bits) - 1)), text


def _grouped(lines: list[bytes], numbers: Any) -> Iterator[tuple[int, bytes]]:
    if not lines:
        return
    order = np.argsort(numbers, kind="stable")
    ordered = [lines[at] for at in order.tolist()]
    found, firsts = np.unique(numbers[order], return_index=True)
    ends = [*firsts.tolist()[1:], len(lines)]
    for number, begin, end in zip(found.tolist(), firsts.tolist(), ends, strict=True):
        yield number, joined(ordered[begin:end])


@dataclass(frozen=True, slots=True)
class CombineStage:
    """Combines buckets of several chunks, all of them in one process."""

    combine: Combine
    partitioner: Partitioner

    def __call__(self, groups: Iterable[tuple[Any, list[bytes]]]) -> Iterator[tuple[Any, bytes]]:
        data = b"".join(text for _, texts in groups for text in texts)
        return by_bucket(self.combine.lines(data), self.combine.order.rule, self.partitioner)


def passed_on(key: Any, texts: Iterable[bytes]) -> Iterator[tuple[Any, bytes]]:
    """The reducer of the stage that combines."""
    for text in texts:
        yield key, text


def regrouped(pairs: Sequence[tuple[tuple[int, int], bytes]]) -> list[tuple[int, bytes]]:
    """Buckets of one block as texts of partitions."""
    texts: dict[int, list[bytes]] = {}
    for (partition, _), text in pairs:
        texts.setdefault(partition, []).append(text)
    return [(partition, b"".join(each)) for partition, each in texts.items()]


@dataclass(frozen=True, slots=True)
class ReduceStage:
    """Runs the reducer over all lines of a partition."""

    program: Program | str | None
    order: Order
    input_separator: bytes
    #: How printed lines are read, between key and value of the output, and whether it follows every key.
    printed: KeyRule
    separator: bytes
    trailing: bool

    def __call__(self, partition: int, texts: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        lines = self.order.sorted(b"".join(texts))
        rule = self.order.rule
        if self.program is None or isinstance(self.program, str):
            if self.program is not None:
                lines = aggregate(lines, rule, combine=False)
            yield partition, joined(rule.rewritten(lines, self.separator, self.trailing))
            return
        fed = joined(rule.rewritten(lines, self.input_separator, self.trailing))
        output = self.program.run(fed, task_variables("r", partition))
        yield partition, finished(output, self.printed, self.separator, self.trailing)


def finished(output: bytes, printed: KeyRule, separator: bytes, trailing: bool) -> bytes:
    """What a command printed, as it goes into a part file: each line ended, keys and values apart as asked for."""
    if not output.endswith(b"\n") and output:
        output += b"\n"
    if printed.separator == separator and not trailing:
        return output
    return joined(printed.rewritten(output.split(b"\n")[:-1], separator, trailing))
