"""What a user runs: a mapper, a combiner and a reducer, with a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incoop.base.errors import BadCall
from incoop.base.stage_path import SEPARATOR, StagePath
from incoop.inchdfs.cutting.records import Lines, RecordFormat

Pairs = Iterable[tuple[Any, Any]]
Mapper = Callable[[Any, Any], Pairs]
Reducer = Callable[[Any, Iterable[Any]], Pairs]

#: Shards of a job unless told otherwise: enough for the cores of a small cluster, few enough that a one-record update
#: on one machine does not spend its time on going through them.
DEFAULT_SHARDS = 16

#: Shards of a job none of whose chunks has many keys: a part costs as much as combining some dozen keys in it, and two
#: still use two cores.
FEW_SHARDS = 2

_MOST_SHARDS = 4096

#: A name is a field of Redis, a part of a record and a line in reports; an RDD program's stages have long ones.
_LONGEST_NAME = 10_000

#: Least and most bytes of a leaf that a job may ask for.
_LEAVES = (1 << 10, 1 << 20)


@dataclass(frozen=True, slots=True)
class Hints:
    """What a way in knows of a job's functions, so that they run well. No result depends on it, so no id names it."""

    #: Above 0 for functions whose work is done by other programs, which their way in follows: up to this many chunks,
    #: if not large, are mapped by threads of the driver's process, and a small tree is contracted there; that saves a
    #: Spark job, or Spark.
    nearby: int = 0
    #: Whether a first chunk is mapped twice, to try the combiner on what it gives.
    tries_combiner: bool = True
    #: Whether mappers of whole chunks are also given, by the name `old`, a function that gives the pairs of each chunk
    #: whose place theirs takes, as a dict of the keys' values. They may save work; what comes out must follow from the
    #: records.
    takes_old: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A map/reduce job. Equal code on equal input is not run twice.

    `mapper(key, value)`, `combiner(key, values)` and `reducer(key, values)` each give pairs. For text the mapper's key
    is None and its value a line without its newline. Without a reducer the mapper's pairs are the result.

    Example:
        >>> def words(_, line):
        ...     for word in line.split():
        ...         yield word, 1
        >>> def total(word, counts):
        ...     yield word, sum(counts)
        >>> Job("word count", mapper=words, combiner=total, reducer=total).name
        'word count'
    """

    name: str
    #: One mapper, or one for each named input.
    mapper: Mapper | Mapping[str, Mapper]
    reducer: Reducer | None = None
    combiner: Reducer | None = None
    #: Stands for the code in place of its fingerprint: results are reused while it is the same.
    version: str | None = field(default=None, kw_only=True)
    #: Files whose content the functions read.
    depends_on: Sequence[str | Path] = field(default=(), kw_only=True)
    #: False runs everything, and keeps nothing.
    memoize: bool = field(default=True, kw_only=True)
    #: Logical reduce partitions, a power of two.
    shards: int | None = field(default=None, kw_only=True)
    records: RecordFormat = field(default_factory=Lines, kw_only=True)
    #: Average bytes of a leaf: what is mapped again when a record changes. 0 keeps results by chunk only, None is 512
    #: (engine/stages/map_contract/leaves.py).
    leaf: int | None = field(default=None, kw_only=True)
    #: For ways in that make several jobs of one: which of them this is.
    stage: str = field(default="", kw_only=True)
    #: For ways in, too.
    hints: Hints = field(default=Hints(), kw_only=True)

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise BadCall("a job needs a name: Job('word count', mapper=…). Its earlier runs are found by it.")
        if SEPARATOR in self.name:
            raise BadCall(f"the name of a job holds no NUL character: {self.name!r:.80}.")
        if len(self.name) > _LONGEST_NAME or any("\ud800" <= each <= "\udfff" for each in self.name):
            raise BadCall(f"a job's name is a text of up to {_LONGEST_NAME} characters, not {self.name!r:.60}.")
        mappers = self.mapper.values() if isinstance(self.mapper, Mapping) else [self.mapper]
        if not mappers:
            raise BadCall(f"job {self.name!r} has no mapper; give a function, or a dict with one for each input.")
        for role, function in (
            *(("mapper", each) for each in mappers),
            ("reducer", self.reducer),
            ("combiner", self.combiner),
        ):
            if not callable(function) and (role == "mapper" or function is not None):
                raise BadCall(f"the {role} of job {self.name!r} is not a function but {function!r:.80}.")
        if self.combiner is not None and self.reducer is None:
            raise BadCall(
                f"job {self.name!r} has a combiner but no reducer; its pairs would be combined by chance only."
            )
        if self.shards is not None and not (1 <= self.shards <= _MOST_SHARDS and self.shards & (self.shards - 1) == 0):
            raise BadCall(f"shards must be a power of two up to {_MOST_SHARDS}, not {self.shards!r}.")

        if self.leaf and not _LEAVES[0] <= self.leaf <= _LEAVES[1]:
            raise BadCall(f"leaf must lie between {_LEAVES[0]} and {_LEAVES[1]} bytes, or be 0, not {self.leaf!r}.")

    @property
    def path(self) -> StagePath:
        """What its runs go by."""
        return StagePath(self.name, self.stage)

    @property
    def shard_count(self) -> int:
        """Shards of a job with many keys."""
        return self.shards or DEFAULT_SHARDS

    @property
    def may_have_few_shards(self) -> bool:
        """Whether the number of shards follows the number of keys.

        Not without a combiner: reducers of few keys then have all values to work on, and are worth spreading.
        """
        return self.shards is None and self.combiner is not None

    def shards_for(self, few_keys: bool) -> int:
        """Shards of a tree all of whose chunks have few keys, or some have many."""
        return FEW_SHARDS if few_keys and self.may_have_few_shards else self.shard_count
