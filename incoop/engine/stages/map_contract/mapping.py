"""Call the mapper: records become pairs, key by key and piece by piece, in bounded memory.

Contract: pairs stand in input order. Keys are told apart as a dict does; what else they are is left to who makes a run
of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np

from incoop.base.errors import USERS_ERRORS
from incoop.contraction.columns.column import Column, Ints
from incoop.engine.running.counters import take_counts
from incoop.job import Mapper

#: Pairs held as Python objects before they become a run, some 20 to 100 bytes each: more than a chunk of words has,
#: since one whose pairs were not together has no leaves.
PENDING_PAIRS = 2_000_000

#: Of a record that gives many pairs, so many are taken before it is looked how many there are.
_PORTION = 1 << 16


class UserError(Exception):
    """The user's mapper or combiner raised, at this record of the chunk."""

    def __init__(self, number: int, record: Any) -> None:
        super().__init__(number, record)
        self.number, self.record = number, record


@dataclass(frozen=True, slots=True)
class Piece:
    """A leaf to map, a group of them, or a whole chunk."""

    records: Callable[[], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the mapper gave for some pieces."""

    #: Each key once, by first appearance.
    keys: list[Any]
    #: For each pair, which of the keys it has.
    codes: Ints
    #: A mapper that works on columns may give one.
    values: list[Any] | Column
    #: How many pairs each piece gave.
    sizes: Ints
    #: What the mapper counted in each piece.
    counters: list[dict[str, int]]

    @property
    def column(self) -> Column:
        """The values, encoded."""
        return self.values if isinstance(self.values, Column) else Column.of(self.values)

    @property
    def listed(self) -> list[Any]:
        """The values one by one."""
        return self.values.to_list() if isinstance(self.values, Column) else self.values


@dataclass(frozen=True, slots=True)
class PiecesMapper:
    """A mapper that is given the records of many pieces at once, so that it can work on columns of them.

    What it gives of a piece must follow from that piece alone: later it may be given others beside it, or none. Records
    of an earlier result are pairs.

    Example:
        >>> def sizes(pieces):
        ...     counts, one_each = [len(records) for records in pieces], np.ones(len(pieces), np.int64)
        ...     return Pairs(["all"], one_each - 1, counts, one_each, [{}] * len(pieces))
        >>> collect(PiecesMapper(sizes), [Piece(lambda: ["a", "b"]), Piece(lambda: ["c"])]).values
        [2, 1]
    """

    function: Callable[[Sequence[Sequence[Any]]], Pairs]
    #: What stands for it in ids, in a job with a version.
    version: str = ""
    #: Whether it takes a chunk as one piece: what is kept is kept by chunk.
    whole: bool = False

    def __call__(self, _: Any, record: Any) -> Iterator[tuple[Any, Any]]:
        """The pairs of one record, as of a mapper that is called for each."""
        return pairs_of(self.function([[record]]))


@dataclass(frozen=True, slots=True)
class RecordsMapper:
    """A mapper that is given many records at once, since a call costs more than a record.

    Of records one behind the other it gives what it gives of the first ones, and behind that what it gives of the
    others: it makes no difference how they are divided. Records of an earlier result are pairs.

    Example:
        >>> twice = RecordsMapper(lambda records: [(record, 2) for record in records])
        >>> collect(twice, [Piece(lambda: ["a", "b"]), Piece(lambda: ["a"])]).sizes.tolist()
        [2, 1]
    """

    function: Callable[[Sequence[Any]], Iterable[tuple[Any, Any]]]

    def __call__(self, _: Any, record: Any) -> Iterable[tuple[Any, Any]]:
        """The pairs of one record, as of a mapper that is called for each."""
        return self.function([record])


def pairs_of(made: Pairs) -> Iterator[tuple[Any, Any]]:
    """Pairs one by one."""
    keys = made.keys
    for code, value in zip(made.codes.tolist(), made.listed, strict=True):
        yield keys[code], value


def _collect_at_once(
    mapper: PiecesMapper, pieces: Sequence[Piece], full: Callable[[Pairs], None] | None
) -> Pairs | None:
    """By a mapper that takes all of them."""
    if not pieces:
        return _Making().pairs()
    try:
        made = mapper.function([piece.records() for piece in pieces])
    except USERS_ERRORS as error:
        raise UserError(0, None) from error
    take_counts()
    if len(made.codes) <= PENDING_PAIRS:
        return made
    if full is None:
        return None
    full(made)
    return _Making().pairs()


def collect(mapper: Mapper, pieces: Sequence[Piece], full: Callable[[Pairs], None] | None = None) -> Pairs | None:
    """Map pieces. When there are too many pairs, `full` is given those so far, and others begin; None without it."""
    if isinstance(mapper, PiecesMapper):
        return _collect_at_once(mapper, pieces, full)
    made = _Making()
    alone = len(pieces) == 1  # a leaf is small
    at_once = mapper.function if isinstance(mapper, RecordsMapper) else None
    for which, piece in enumerate(pieces):
        before, number, record = len(made.codes), -1, None
        add_code, add_value, code_of = made.codes.append, made.values.append, made.code_of
        try:
            records = piece.records()
            if at_once is not None or len(records) == 1:  # perhaps a whole chunk, which may give very many pairs
                number, record = 0, None if at_once is not None else records[0]
                given = mapper(None, record) if at_once is None else at_once(records)
                for portion in _portions(iter(given)):
                    for key, value in portion:
                        made.codes.append(made.code_of[key])
                        made.values.append(value)
                    if len(made.codes) > PENDING_PAIRS:
                        if full is None:
                            break
                        full(made.pairs())
                        made, before = _Making(), 0
            else:
                for number, record in enumerate(records):  # noqa: B007 - named when the mapper fails
                    for key, value in mapper(None, record):  # not `map`, which a StopIteration in a mapper would end
                        add_code(code_of[key])
                        add_value(value)
                    if alone and len(made.codes) > PENDING_PAIRS:
                        if full is None:
                            break
                        full(made.pairs())
                        made, before = _Making(), 0
                        add_code, add_value, code_of = made.codes.append, made.values.append, made.code_of
        except USERS_ERRORS as error:
            raise UserError(_records_before(pieces, which) + number, record) from error
        made.sizes.append(len(made.codes) - before)
        made.counters.append(take_counts())
        if len(made.codes) > PENDING_PAIRS:
            if full is None:
                return None
            full(made.pairs())
            made = _Making()
    return made.pairs()


class _Making:
    """Pairs on their way."""

    def __init__(self) -> None:
        self.code_of: defaultdict[Any, int] = defaultdict(count().__next__)
        self.codes: list[int] = []
        self.values: list[Any] = []
        self.sizes: list[int] = []
        self.counters: list[dict[str, int]] = []

    def pairs(self) -> Pairs:
        codes, sizes = np.array(self.codes, np.int64), np.array(self.sizes, np.int64)
        return Pairs(list(self.code_of), codes, self.values, sizes, self.counters)


def _portions(pairs: Iterator[Any]) -> Iterator[list[Any]]:
    while portion := list(islice(pairs, _PORTION)):
        yield portion


def _records_before(pieces: Sequence[Piece], which: int) -> int:
    """How many records of the chunk stand before a piece; counted only when one has failed."""
    return sum(len(piece.records()) for piece in pieces[:which])
