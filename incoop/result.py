"""What `run` gives: pairs that are read lazily, changes since the run before, part files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from incoop.base.errors import IncoopError
from incoop.base.paths import local_path
from incoop.contraction.columns.encoding import encode
from incoop.contraction.columns.normal import name_of
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.failures import ChangesLost
from incoop.engine.output import Output, OutputBlock, Pair, Unreduced, differing, portions, read_blocks, read_part
from incoop.engine.report import RunReport
from incoop.engine.running.workforce import Workforce
from incoop.engine.save import Printer, save_parts
from incoop.engine.stored import BlobReader
from incoop.memo import BlobStore

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

    from incoop.engine.events import Events
    from incoop.engine.record import Basis, PastRun
    from incoop.engine.stage import Outcome
    from incoop.memo import WorkerConfig

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Change:
    """One key of the output whose value is not what it was. `old` or `new` is None where there is no such key."""

    key: Any
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Before:
    """What a result's changes are changes of."""

    output: Output
    #: Why it is not known what the run before gave; empty where it is.
    lost: str = ""


class Result:
    """(key, value) pairs, in the same order for the same data: within a shard by key where keys compare, else by their
    bytes; those of a map-only job in input order.
    """

    def __init__(
        self,
        outcome: Outcome,
        blobs: BlobStore,
        worker: WorkerConfig,
        workforce: Workforce,
        recover: Callable[[BlockLost, bytes], Outcome],
    ) -> None:
        self._outcome = outcome
        self._reader = BlobReader(blobs)
        self._worker, self._workforce = worker, workforce
        self._recover = recover

    @property
    def report(self) -> RunReport:
        """What the run did."""
        return self._outcome.report

    @property
    def events(self) -> Events:
        """What happened in the run, in order: what ran, what was reused, what was stored."""
        return self._outcome.events

    @property
    def history(self) -> tuple[PastRun, ...]:
        """The runs of the job: the first, and the last ones up to this."""
        return self._outcome.history

    @property
    def root(self) -> bytes:
        """Hash of the contraction tree's root: equal for equal input and code, whatever ran before."""
        return self._read(lambda: self._outcome.finished.root())

    @property
    def basis(self) -> Basis:
        """What the result came of; a run that finds the same would give the same."""
        return self._outcome.basis

    @property
    def output(self) -> Output:
        """The stored parts behind the pairs."""
        return self._outcome.finished.output

    def __iter__(self) -> Iterator[Pair]:
        for part in range(len(self.output)):
            yield from self._read(partial(self._pairs, part))

    def by_block(self) -> Iterator[Pair]:
        """All pairs in the order in which the map tasks of a next stage meet them."""
        for part in range(len(self.output)):
            yield from self._read(partial(self._pairs_of_blocks, part))

    def collect(self) -> list[Pair]:
        """All pairs, as a list."""
        return list(self)

    def as_dict(self) -> dict[Any, Any]:
        """All pairs, as a dict; of several pairs with one key the last stays."""
        return dict(self)

    @property
    def before(self) -> Before:
        """What the job's previous run gave: `changes` of a later result may be told since then, too."""
        old = self._outcome.old_output
        return Before(old if old is not None else Unreduced(), self._outcome.changes_lost)

    def changes(self, since: Result | Before | None = None) -> Iterator[Change]:
        """What is not as it was after the job's previous run that gave a result. Only blocks that differ are read.

        With `since`, what is not as in that earlier result, whoever ran the job meanwhile. Of a key that several
        reducer calls emit, `old` and `new` are the values that went and came. After a first run every key is new.
        Raises ChangesLost where it is not known what the previous run gave.
        """
        before = Before(since.output) if isinstance(since, Result) else since or self.before
        if before.lost:
            raise ChangesLost(self.report.job, before.lost)
        return self._changes(before.output)

    def _changes(self, old: Output) -> Iterator[Change]:
        gone: list[Pair] = []
        come: list[Pair] = []
        for portion in range(portions(old, self.output)):
            own, others = self._compared(lambda: differing(old, self.output, portion, self._reader))  # noqa: B023
            yield from self._compared(lambda: list(_changes(*own)))  # noqa: B023
            gone += others[0]
            come += others[1]
        yield from self._compared(lambda: list(_changes(_without(gone, come), _without(come, gone))))

    def _compared(self, compare: Callable[[], Read]) -> Read:
        """Read, or compare, what the run before gave."""
        try:
            return self._read(compare)
        except BlockLost as lost:
            raise ChangesLost(self.report.job, str(lost)) from lost
        except IncoopError:
            raise
        except Exception as error:  # of old objects, whose class has another name by now, or other attributes
            why = f"its keys or values do not fit the program's classes any more ({type(error).__name__}: {error})"
            raise ChangesLost(self.report.job, why) from error

    def save(self, folder: str | Path) -> list[Path]:
        """Write part files and `_SUCCESS`; those whose content did not change are left alone. Returns the rewritten."""
        return self.save_printed(folder, None)

    def save_printed(self, folder: str | Path, printer: Printer | None, output: Output | None = None) -> list[Path]:
        """The same with another text for pairs, or for those of another output that was made of these."""
        path = Path(local_path(folder))
        tools = (self._worker, self._workforce, self._reader, printer)
        return self._read(lambda: save_parts(output if output is not None else self.output, path, *tools))

    def rdd(self) -> RDD[Pair]:
        """The pairs as an RDD; Python workers read the blocks themselves."""
        worker = self._worker
        blocks = self.part_blocks()

        def read(part: list[OutputBlock]) -> list[Pair]:
            return read_blocks(part, BlobReader(worker.open()))

        return self._workforce.spark.session.sparkContext.parallelize(blocks, max(1, len(blocks))).flatMap(read)

    def dataframe(self, schema: Any = ("key", "value")) -> DataFrame:
        """The pairs as a DataFrame with the columns `key` and `value`, or with a Spark schema."""
        session = self._workforce.spark.session
        return session.createDataFrame(self.rdd(), list(schema) if isinstance(schema, tuple) else schema)

    def output_blocks(self) -> list[OutputBlock]:
        """Every stored block, in order: the chunks of a next stage."""
        return [block for blocks in self.part_blocks() for block in blocks]

    def part_blocks(self) -> list[list[OutputBlock]]:
        """The stored blocks of every part, in order."""
        return [self._read(partial(self._blocks, part)) for part in range(len(self.output))]

    def recover(self, lost: BlockLost) -> None:
        """Compute again what a lost pack held."""
        recovered = self._recover(lost, self._outcome.finished.id)
        # The last run is now the one that was recovered; changes are still those since the one before.
        before = self._outcome
        self._outcome = replace(recovered, old_output=before.old_output, changes_lost=before.changes_lost)

    def _pairs(self, part: int) -> list[Pair]:
        return read_part(self.output, part, self._reader)

    def _pairs_of_blocks(self, part: int) -> list[Pair]:
        return [pair for block in self._blocks(part) for pair in block.pairs(self._reader)]

    def _blocks(self, part: int) -> list[OutputBlock]:
        return self.output.blocks(part, self._reader)

    def _read(self, read: Callable[[], Read]) -> Read:
        try:
            return read()
        except BlockLost as lost:
            self.recover(lost)
            return read()


def _by_key(pairs: list[Pair]) -> dict[bytes, tuple[Any, list[Any]]]:
    found: dict[bytes, tuple[Any, list[Any]]] = {}
    for key, value in pairs:
        found.setdefault(name_of(key), (key, []))[1].append(value)
    return found


def _changes(old: list[Pair], new: list[Pair]) -> Iterator[Change]:
    before, after = _by_key(old), _by_key(new)
    for name in sorted(before.keys() | after.keys()):
        (old_key, olds), (new_key, news) = before.get(name, (None, [])), after.get(name, (None, []))
        if encode(olds) != encode(news):
            yield Change(new_key if news else old_key, _single(olds), _single(news))


def _without(pairs: list[Pair], others: list[Pair]) -> list[Pair]:
    """The pairs that are not among the others, counted."""
    spare = Counter((name_of(key), encode(value)) for key, value in others)
    left: list[Pair] = []
    for key, value in pairs:
        name = name_of(key), encode(value)
        if spare[name] > 0:
            spare[name] -= 1
        else:
            left.append((key, value))
    return left


def _single(values: list[Any]) -> Any:
    """A key's value; None for no value, a list for several."""
    return None if not values else values[0] if len(values) == 1 else values
