"""Step 2, map: fresh chunks become runs. This file is what runs in a Spark task.

Contract: a task reads its chunks' bytes itself, writes one or more packs, and returns only small descriptions. What a
chunk gives depends on its bytes and the job's code alone. A user's error is returned, not raised, so that the chunks
that were finished are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incoop.base.errors import IncoopError
from incoop.code import Functions, Observed, Shipment, unwatched
from incoop.contraction.parts.headers import RunRef, StoredChange
from incoop.contraction.parts.packs import OpenPack, PackBuilder
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.engine.blocks import Block
from incoop.engine.running.counters import take_counts
from incoop.engine.running.user_code import own_error, said_of, trace_of
from incoop.engine.stages.map_contract.chunk_sources import ChunkSource, ChunkSources
from incoop.engine.stages.map_contract.grouping import map_chunk
from incoop.engine.stages.map_contract.map_only import MapOnly
from incoop.engine.stages.map_contract.mapping import UserError
from incoop.engine.stages.map_contract.soundness import check_combiner
from incoop.engine.stages.map_contract.write_chunk import (
    KnownBase,
    WrittenChunk,
    write_by_nearest,
    write_by_recut,
    write_mapped,
)
from incoop.engine.stored import BlobReader
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

    def source(self, task: ChunkTask) -> ChunkSource:
        """A task's chunk, with the mapper that takes a record of it; nothing is read yet."""
        sources = ChunkSources(self.functions, self.reader, self.spec.leaf, self.spec.takes_old)
        return sources.of(task.block, task.mapper, task.old)


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
    source = work.source(task)
    if functions.reducer is None:
        only = MapOnly(source, task.id, task.block.length, task.old, task.base, work.reader, pack)
        chunk, stretches = only.write()
        return _Written(chunk, stretches=stretches)
    tried = 0
    if tried_on is not None and functions.combiner is not None and not isinstance(functions.combiner, LawfulCombiner):
        tried = check_combiner(_sample(work, source, tried_on), functions.combiner, functions.reducer)
        take_counts()
    combiner = Combiner.of(functions.combiner)
    cutting = source.cutting
    if cutting is None:
        mapped = map_chunk(source.mapper, source.whole, combiner)
        return _Written(write_mapped(mapped, combiner, None, pack), tried)
    if task.base is not None:
        written = write_by_recut(source.mapper, task.base, cutting, combiner, task.id, work.reader, pack)
        if written is not None:
            return _Written(written, tried)
    leaves = cutting.cut()
    size = int(leaves.ends[-1]) if leaves is not None else 0
    if leaves is not None:
        written = write_by_nearest(source.mapper, leaves, combiner, task.old, task.id, work.reader, pack)
        if written is not None:
            # Pairs have other lengths encoded than stored: what counts is which share of the block they are.
            share = replace(written, mapped=-(-written.mapped * task.block.length // size))
            return _Written(share, tried, cutting.stretches())
    mapped = map_chunk(source.mapper, source.whole, combiner, leaves)
    # A table of a size that was asked for is kept, whatever it costs.
    most = size if work.spec.leaf is None else None
    return _Written(write_mapped(mapped, combiner, most, pack), tried, cutting.stretches())


def _sample(work: _Work, source: ChunkSource, others: Iterable[ChunkTask]) -> Iterator[Iterator[tuple[Mapper, Any]]]:
    """Records, each with its mapper: of a chunk, then of others; each is made for this, when it is asked for."""
    yield ((source.mapper, record) for piece in source.whole for record in piece.records())
    for task in others:
        yield from _sample(work, work.source(task), ())


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
