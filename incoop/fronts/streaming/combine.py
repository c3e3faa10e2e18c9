"""Combiners: run over sorted lines, and their lines kept by bucket.

Contract: a bucket holds the lines of some keys of one partition; what a combiner gives for a bucket follows from the
bucket's lines alone. A stored bucket is a digest of the lines that a mapper printed for it, then the combined lines:
where the digest is that of an earlier chunk, the combiner need not run. Buckets of nodes have an empty digest.

What a combiner counts is what it counts in a run over all that the mapper printed for a chunk, which follows from the
chunk alone; its runs further up the tree are not counted, since how many there are depends on what ran before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.base.content_ids import content_id
from incoop.fronts.common.combiners import CombinerGivesOtherKeys
from incoop.fronts.streaming.aggregate import aggregate
from incoop.fronts.streaming.line_keys import LineKeys
from incoop.fronts.streaming.lines import KeyRule, LineOrder, in_pieces, joined, lines_of, repeated
from incoop.fronts.streaming.partitions import Partitioner
from incoop.fronts.streaming.program import Program, count_all
from incoop.fronts.streaming.properties import task_variables

_DIGEST_BYTES = 16
_NO_DIGEST = bytes(_DIGEST_BYTES)

#: With a larger share of the buckets changed, the combiner runs over all lines: choosing them costs as much.
_MANY = 1 / 2

Numbers = npt.NDArray[np.int64]

#: What is kept of the chunks that a changed one takes the place of.
Old = Callable[[], Iterable[dict[int, list[bytes]]]]


@dataclass(frozen=True, slots=True)
class Combined:
    """What a combiner gave: lines as the mapper would have printed them, their keys, and what it counted."""

    lines: list[bytes]
    keys: LineKeys
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LineCombiner:
    """A combiner over sorted lines."""

    program: Program | str
    order: LineOrder
    #: Between key and value of what it reads, and how what it prints is read.
    input_separator: bytes
    printed: KeyRule

    def lines(self, given: list[bytes], given_keys: LineKeys, counts: Sequence[int] | None = None) -> Combined:
        """Combine lines that are in order; `counts` says how often each line is given."""
        rule = self.order.rule
        if isinstance(self.program, str):
            combined = aggregate(repeated(given, counts), rule, combine=True)
            return Combined(combined, rule.keys_of(combined), {})
        fed = rule.rewritten(given, self.input_separator)
        done = self.program.run(in_pieces(fed, counts), task_variables("m", 0))
        found = lines_of(done.output)
        keys = self.printed.keys_of(found)
        if not keys.same_as(given_keys) and not keys.same_as(given_keys.without_repeats()):
            known = set(given_keys.to_list())
            for key in keys.to_list():
                if key not in known:
                    raise CombinerGivesOtherKeys(f"{key!r:.200}")
        if self.printed == rule:
            return Combined(found, keys, done.counters)
        combined = self.printed.rewritten(found, rule.separator)
        for line, key in zip(combined, keys.to_list(), strict=True):
            if rule.split(line)[0] != key:  # a value behind a key of too few fields
                raise CombinerGivesOtherKeys(f"{line!r:.200}")
        return Combined(combined, keys, done.counters)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Places in a list by a number that each has: all places of the first number, then of the next."""

    order: Numbers
    numbers: list[int]
    #: Where the places of each number begin and end in `order`.
    bounds: Numbers

    @classmethod
    def by(cls, numbers: Numbers) -> Grouped:
        """Group the places 0, 1, … by their numbers; in one group they stay in order."""
        # Which numpy sorts by counting.
        small = numbers.astype(np.uint16) if len(numbers) and numbers.max() < 1 << 16 else numbers
        order = np.argsort(small, kind="stable")
        ordered = numbers[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else order
        return cls(order, ordered[begins].tolist(), np.append(begins, len(ordered)))

    def texts(self, lines: list[bytes]) -> list[bytes]:
        """The lines of each number as one text."""
        ordered = pick(lines, self.order)
        text = joined(ordered)
        ends = np.zeros(len(ordered) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, ordered), np.int64, len(ordered)) + 1, out=ends[1:])
        return [text[begin:end] for begin, end in pairwise(ends[self.bounds].tolist())]


def by_number(lines: list[bytes], numbers: Numbers) -> Iterator[tuple[int, bytes]]:
    """Lines as one text for each number, in their order."""
    places = Grouped.by(numbers)
    return zip(places.numbers, places.texts(lines), strict=True)


def pick(values: Sequence[Any], places: Numbers) -> list[Any]:
    """The values at these places."""
    return list(itemgetter(*places.tolist())(values)) if len(places) > 1 else [values[at] for at in places.tolist()]


@dataclass(frozen=True, slots=True)
class CombineChunk:
    """Combines what a mapper printed for a chunk."""

    combine: LineCombiner
    partitioner: Partitioner

    def __call__(self, printed: Mapping[bytes, int], old: Old) -> Iterator[tuple[int, bytes]]:
        """Buckets of the lines that were printed; those whose lines an old chunk has, too, are taken from there.

        (1) Every line stands once, with how often it was printed; buckets are told apart by a digest of those.
        (2) Buckets with a digest that an old chunk has too need not be combined.
        (3) The lines of all others are, in one process.
        (4) Where the combiner counts something, all lines are combined, as if there were no old chunk. Its buckets
            are kept without their digests, so that the next chunk is combined as a whole, too.
        """
        lines, counts = self.combine.order.counted(printed)  # step (1)
        keys = self.combine.order.rule.keys_of(lines)
        numbers = self.partitioner.buckets(keys)
        digests = _digests(lines, np.array(counts, np.int64), Grouped.by(numbers))
        known = self._known(digests, old)  # step (2)
        done = self._combined(lines, counts, keys, numbers, known)  # step (3)
        if known and done.counters:  # step (4)
            known = {}
            done = self._combined(lines, counts, keys, numbers, known)
        count_all(done.counters)
        names = self.partitioner.bucket_keys
        own = numbers if done.keys.same_as(keys) else self.partitioner.buckets(done.keys)
        for number, text in by_number(done.lines, own):
            yield names[number], (_NO_DIGEST if done.counters else digests[number]) + text
        yield from known.items()

    def _known(self, digests: Mapping[int, bytes], old: Old) -> dict[int, bytes]:
        """Buckets of old chunks that need not be combined again, by their keys; none where they are few."""
        wanted = {self.partitioner.bucket_keys[number]: digest for number, digest in digests.items()}
        known: dict[int, bytes] = {}
        for buckets in old():
            known |= {key: text for key, (text,) in buckets.items() if key in wanted and text.startswith(wanted[key])}
        return known if len(known) >= len(digests) * _MANY else {}

    def _combined(
        self, lines: list[bytes], counts: list[int], keys: LineKeys, numbers: Numbers, known: Mapping[int, bytes]
    ) -> Combined:
        """Combine the lines of all buckets that are not known."""
        if known:
            chosen = np.flatnonzero(~np.isin(numbers, [self.partitioner.bucket_of(key) for key in known]))
            lines, counts = pick(lines, chosen), pick(counts, chosen)
            keys = self.combine.order.rule.keys_of(lines)
        return self.combine.lines(lines, keys, counts) if lines else Combined([], keys, {})


def _digests(lines: list[bytes], counts: Numbers, buckets: Grouped) -> dict[int, bytes]:
    counts = counts[buckets.order]
    return {
        number: content_id(text + counts[begin:end].tobytes())
        for number, text, (begin, end) in zip(
            buckets.numbers, buckets.texts(lines), pairwise(buckets.bounds.tolist()), strict=True
        )
    }


@dataclass(frozen=True, slots=True)
class CombineStage:
    """Combines buckets of several chunks, all of them in one process."""

    combine: LineCombiner
    partitioner: Partitioner

    def __call__(self, groups: Iterable[tuple[int, list[bytes]]]) -> Iterator[tuple[int, bytes]]:
        data = b"".join(text[_DIGEST_BYTES:] for _, texts in groups for text in texts)
        lines = self.combine.order.sorted(data)
        done = self.combine.lines(lines, self.combine.order.rule.keys_of(lines))
        names = self.partitioner.bucket_keys
        for number, text in by_number(done.lines, self.partitioner.buckets(done.keys)):
            yield names[number], _NO_DIGEST + text


def passed_on(number: int, buckets: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The reducer of the stage that combines."""
    for bucket in buckets:
        yield number, bucket[_DIGEST_BYTES:]
