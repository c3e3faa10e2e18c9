"""Step 2, map: fresh chunks become runs. This file is what runs in a Spark task.

Contract: a task reads its chunks' bytes itself, writes one or more packs, and returns only small descriptions. What a
chunk gives depends on its bytes and the job's code alone. A user's error is returned, not raised, so that the chunks
that were finished are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from incoop.base.errors import USERS_ERRORS, IncoopError
from incoop.code import Functions, Observed, Shipment, unwatched
from incoop.contraction.columns.column import Column
from incoop.contraction.columns.column_bytes import write_column
from incoop.contraction.parts.headers import RunRef, StoredChange, read_run
from incoop.contraction.parts.packs import BlockLost, OpenPack, PackBuilder
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.engine.blocks import Block, records_of
from incoop.engine.running.counters import take_counts
from incoop.engine.running.user_code import own_error, said_of, trace_of
from incoop.engine.stages.map_contract.grouping import map_chunk
from incoop.engine.stages.map_contract.leaves import GROUP, Leaves, cut_leaves, leaf_bytes
from incoop.engine.stages.map_contract.mapping import Piece, UserError
from incoop.engine.stages.map_contract.soundness import check_combiner
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.engine.stages.map_contract.write_chunk import (
    Cutting,
    KnownBase,
    WrittenChunk,
    write_by_nearest,
    write_by_recut,
    write_mapped,
)
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.stretches import stretch_rows
from incoop.job import Mapper
from incoop.memo import WorkerConfig

#: A failing record is shown up to this length.
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class MapSpec:
    """What all map tasks of a run share."""

    #: Packed, on the way to a worker; open, where the tasks run.
    code: Functions | Shipment
    #: Whether the tree over runs of few keys may have fewer shards.
    may_be_few: bool
    worker: WorkerConfig
    #: Average bytes of a leaf, 0 for none, None for the default.
    leaf: int | None = None
    #: Whether mappers of whole chunks look at those whose place theirs takes.
    takes_old: bool = False
    #: Try the combiner on a sample of each group's first chunk.
    check_combiner: bool = False


@dataclass(frozen=True, slots=True)
class _Work:
    """What the tasks of a group share, once its functions are open."""

    functions: Functions
    spec: MapSpec
    reader: BlobReader


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """One chunk to map."""

    #: The run's id; equal ids have interchangeable results.
    id: bytes
    block: Block
    #: Which of the job's mappers.
    mapper: int = 0
    #: Runs of the chunks that this one takes the place of; their leaves may be in it.
    old: tuple[RunRef, ...] = ()
    #: The one of them that it is known to have most of, and what.
    base: KnownBase | None = None


@dataclass(frozen=True, slots=True)
class _Written:
    """What was written of a chunk."""

    chunk: WrittenChunk
    #: On how many values of keys with several the combiner was tried.
    tried: int = 0
    stretches: bytes = b""


@dataclass(frozen=True, slots=True)
class MapDone:
    """A mapped chunk."""

    id: bytes
    ref: RunRef
    #: Other packs that it refers to.
    refs: bytes = b""
    counters: dict[str, int] = field(default_factory=dict)
    #: How it differs from an older run, if it was made from one.
    change: StoredChange | None = None
    #: Values on which the combiner was tried, of keys with several.
    tried: int = 0
    #: The chunk's stretches as rows, where they were found on the way.
    stretches: bytes = b""
    #: Bytes that were mapped; -1 for all of the chunk.
    mapped: int = -1

    def under(self, id_: bytes) -> MapDone:
        """The same by another id."""
        return replace(self, id=id_)


@dataclass(frozen=True, slots=True)
class MapFailed:
    """A chunk whose mapper or combiner raised."""

    block: Block
    #: How many records of the chunk came before.
    record_number: int
    record: str
    error: str
    #: The user's own traceback.
    trace: str
    #: The error itself, where it is one of incoop's own.
    cause: IncoopError | None = None


def map_group(spec: MapSpec, group: Sequence[ChunkTask]) -> list[MapDone | MapFailed | IncoopError | Observed]:
    """Map chunks one after the other; stop at the first that fails."""
    try:
        opened = spec.code.open()
    except IncoopError as error:
        return [error]
    blobs = spec.worker.open()
    work = _Work(opened.functions, spec, BlobReader(blobs))
    results: list[MapDone | MapFailed | IncoopError | Observed] = []

    def write(parts: list[bytes]) -> bytes:
        with unwatched():
            return blobs.write(parts)

    def keep(named: list[tuple[bytes, tuple[bytes, _Written]]]) -> None:
        for name, (id_, written) in named:
            chunk = written.chunk
            ref, change = chunk.ref(name, spec.may_be_few), chunk.stored_change(name)
            rest = (written.tried, written.stretches, chunk.mapped)
            results.append(MapDone(id_, ref, chunk.refs, chunk.counters, change, *rest))

    pack: OpenPack[tuple[bytes, _Written]] = OpenPack(write)
    failure: MapFailed | IncoopError | None = None
    with opened.at_work() as observed:
        for task in group:
            take_counts()
            try:
                tried_on = group[1:] if spec.check_combiner and task is group[0] else None
                written = _map_and_write(work, task, pack.builder, tried_on)
                keep(pack.added((task.id, written)))
            except UserError as failed:
                failure = _failure(work.functions, task, failed)
                break
            except IncoopError as error:
                failure = error
                break
    # Functions that a task has changed gave results that depend on more than its input.
    if doubt := opened.doubts():
        return [doubt]
    try:
        keep(pack.flush())
    except IncoopError as error:
        failure = failure or error
    return [*results, *observed, *([failure] if failure is not None else [])]


def _map_and_write(work: _Work, task: ChunkTask, pack: PackBuilder, tried_on: Sequence[ChunkTask] | None) -> _Written:
    """Map one chunk, add what it gives to the pack. First try the combiner, on it and as many more as that needs."""
    functions = work.functions
    source = _source(work, task)
    if functions.reducer is None:
        out: list[bytes | memoryview] = []
        write_column(Column.of(_map_only(source.mapper, source.whole)), out)
        return _Written(WrittenChunk(pack.add_region(b"".join(out)), take_counts()))
    tried = 0
    if tried_on is not None and functions.combiner is not None and not isinstance(functions.combiner, LawfulCombiner):
        tried = check_combiner(_sample(work, source, tried_on), functions.combiner, functions.reducer)
        take_counts()
    combiner = Combiner.of(functions.combiner)
    chunk = task.block.chunk()
    if source.cutting is not None and task.base is not None and chunk is not None:
        common = (combiner, task.id, work.reader, pack)
        written = write_by_recut(source.mapper, chunk.where, task.base, source.cutting, *common)
        if written is not None:
            return _Written(written, tried)
    leaves = source.leaves()
    if leaves is not None:
        written = write_by_nearest(source.mapper, leaves, combiner, task.old, task.id, work.reader, pack)
        if written is not None:
            return _Written(written, tried, source.stretches())
    mapped = map_chunk(source.mapper, source.whole, combiner, leaves)
    # A table of a size that was asked for is kept, whatever it costs.
    size = task.block.length if work.spec.leaf is None else None
    return _Written(write_mapped(mapped, combiner, size, pack), tried, source.stretches())


@dataclass(slots=True)
class _Source:
    """A chunk on its way to the mapper."""

    #: Takes a record as its value.
    mapper: Mapper
    #: The chunk as one piece.
    whole: list[Piece]
    #: How leaves are cut, where there are any; and the bytes that they are cut of.
    cutting: Cutting | None = None
    content: Callable[[], bytes] = bytes
    _leaves: Leaves | None = None

    def leaves(self) -> Leaves | None:
        """The chunk's leaves, if it has any."""
        if self.cutting is not None and self._leaves is None:
            self._leaves = cut_leaves(self.content(), self.cutting.leaf, self.cutting.form, self.cutting.group)
        return self._leaves

    def stretches(self) -> bytes:
        """The chunk's stretches as rows, if its leaves were cut by them."""
        if self._leaves is None or not self._leaves.stretch_ends:
            return b""
        return stretch_rows(self.content(), list(self._leaves.stretch_ends)).tobytes()


def _sample(work: _Work, source: _Source, others: Iterable[ChunkTask]) -> Iterator[Iterator[tuple[Mapper, Any]]]:
    """Records, each with its mapper: of a chunk, then of others; each is made for this, when it is asked for."""
    yield ((source.mapper, record) for piece in source.whole for record in piece.records())
    for task in others:
        yield from _sample(work, _source(work, task), ())


def _source(work: _Work, task: ChunkTask) -> _Source:
    """A task's chunk, with the mapper that takes a record of it; nothing is read yet."""
    spec, reader, form = work.spec, work.reader, work.functions.records
    mapper = work.functions.mappers[task.mapper]
    if isinstance(mapper, ChunkMapper):
        if spec.takes_old:
            mapper = replace(mapper, function=partial(mapper.function, old=partial(_old_pairs, work, task)))
        return _Source(mapper, [Piece(partial(_whole, task.block, form, reader))])
    chunk = task.block.chunk()
    if chunk is None:
        return _Source(partial(_on_pair, mapper), [Piece(partial(task.block.records, form, reader))])
    content = cache(chunk.content)
    whole = [Piece(lambda: records_of(form, content()))]
    combiner = work.functions.combiner
    leaf = leaf_bytes(spec.leaf, combiner)
    if work.functions.reducer is None or not leaf:
        return _Source(mapper, whole)
    group = GROUP if combiner is not None and spec.leaf is None else 0
    return _Source(mapper, whole, Cutting(form, leaf, group), content)


def _whole(block: Block, form: RecordFormat, reader: BlobReader) -> list[Sequence[Any]]:
    """All records of a chunk as the only one."""
    return [block.records(form, reader)]


def _old_pairs(work: _Work, task: ChunkTask) -> Iterator[dict[Any, list[Any]]]:
    """What is kept of the chunks that this one takes the place of."""
    for ref in task.old:
        with suppress(BlockLost):
            yield dict(read_run(ref, work.reader).whole().groups())


def _on_pair(mapper: Mapper, _: Any, pair: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return mapper(*pair)


def _failure(functions: Functions, task: ChunkTask, failed: UserError) -> MapFailed:
    cause = failed.__cause__
    assert cause is not None
    said = said_of("combiner", functions.combiner, cause)
    if failed.number >= 0:
        said = said_of("mapper", functions.mappers[task.mapper], cause)
    return MapFailed(task.block, failed.number, _shown(failed.record), said, trace_of(cause), own_error(cause))


def _shown(record: Any) -> str:
    try:
        return repr(record)[:_SHOWN]
    except Exception as error:
        return f"a {type(record).__name__} whose repr fails ({error})"


def _map_only(mapper: Mapper, pieces: Iterable[Piece]) -> list[tuple[Any, Any]]:
    """The mapper's pairs as they come."""
    pairs: list[tuple[Any, Any]] = []
    number, record = -1, None
    records = (record for piece in pieces for record in piece.records())
    try:
        for number, record in enumerate(records):  # noqa: B007 - named when the mapper fails
            for key, value in mapper(None, record):
                pairs.append((key, value))
    except USERS_ERRORS as error:
        raise UserError(number, record) from error
    return pairs
