"""What the engine calls to map a chunk of a streaming job.

Contract: lines travel as text, many in one value, so that Python handles no line by itself where it need not. With a
combiner the key of a value is a bucket, which is what an update touches; without one it is the partition, whose lines
are gathered from all chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import xxhash

from incoop.fronts.streaming.combine import CombineChunk, Old, by_number
from incoop.fronts.streaming.lines import KeyRule, LineCounts, LineOrder, joined
from incoop.fronts.streaming.partitions import Partitioner, spread_keys
from incoop.fronts.streaming.program import Program, count_all
from incoop.fronts.streaming.properties import task_variables
from incoop.fronts.streaming.reduce import finished
from incoop.inchdfs.cutting.records import Lines

_LINES = Lines(encoding=None)


class ChunkText(bytes):
    """A chunk's bytes, shown by size and beginning."""

    def __repr__(self) -> str:
        return f"{len(self):,} bytes from {bytes(self[:60])!r} on"


@dataclass(frozen=True, slots=True)
class WholeChunks:
    """Chunks cut behind newlines, each read as one record."""

    cut_as: ClassVar[Lines] = _LINES

    def ends_around(self, data: bytes | bytearray, start: int, position: int, end: int) -> tuple[int, int]:
        return _LINES.ends_around(data, start, position, end)

    def records(self, chunk: bytes) -> list[ChunkText]:
        return [ChunkText(chunk)]


def as_lines(chunk: bytes) -> bytes:
    r"""A chunk as Hadoop's reader gives it to a command: lines end with one newline, the last one too.

    Example:
        >>> as_lines(b"a\r\nb")
        b'a\nb\n'
    """
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return chunk if chunk.endswith(b"\n") or not chunk else chunk + b"\n"


@dataclass(frozen=True, slots=True)
class MapStage:
    """Runs the mapper over a chunk, and the combiner over what it printed."""

    program: Program | None
    order: LineOrder
    partitioner: Partitioner
    combine: CombineChunk | None = None
    #: The name that the mapper is given of its input, which is then part of its identity.
    input_file: str | None = None
    #: Between key and value of KeyValueTextInputFormat; None for plain lines.
    key_value_separator: bytes | None = None

    def __call__(self, records: Sequence[ChunkText], old: Old = tuple) -> Iterator[tuple[int, bytes]]:
        (chunk,) = records
        if self.combine is None:
            return by_partition(self.order.sorted(self.printed(chunk)), self.order.rule, self.partitioner)
        lines = LineCounts()
        self.run(chunk, lines.feed)
        return self.combine(lines.close(), old)

    def printed(self, chunk: bytes) -> bytes:
        """What the mapper prints for a chunk."""
        pieces: list[bytes] = []
        self.run(chunk, pieces.append)
        return b"".join(pieces)

    def run(self, chunk: bytes, take: Callable[[bytes], object]) -> None:
        """Run the mapper over a chunk; `take` is given what it prints, while it goes on."""
        data = as_lines(chunk)
        if self.key_value_separator is not None:
            rule = KeyRule(self.key_value_separator)
            data = joined(rule.rewritten(data.split(b"\n")[:-1], b"\t", trailing=True))
        if self.program is None:
            take(data)
            return
        # A chunk has no number that stays when others come or go; its content gives it one.
        variables = self._variables(xxhash.xxh3_64_intdigest(chunk) % 1_000_000)
        count_all(self.program.run((data,), variables, take).counters)

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

    def __call__(self, records: Sequence[ChunkText]) -> Iterator[tuple[None, bytes]]:
        (chunk,) = records
        if output := finished(self.stage.printed(chunk), self.printed, self.separator, self.trailing):
            yield None, output


def by_partition(lines: list[bytes], rule: KeyRule, partitioner: Partitioner) -> Iterator[tuple[int, bytes]]:
    """Lines as one text for each partition, in their order."""
    keys = spread_keys(partitioner.reducers)
    if partitioner.reducers > 1:
        for partition, text in by_number(lines, partitioner.partitions(rule.keys_of(lines))):
            yield keys[partition], text
    elif lines:
        yield keys[0], joined(lines)
