"""Step 2, map: fresh chunks become runs. This file is what runs in a Spark task.

Contract: a task reads its chunks' bytes itself, writes one or more packs, and returns only small descriptions. What a
chunk gives depends on its bytes and the job's code alone. A user's error is returned, not raised, so that the chunks
that were finished are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from incoop.base.checksums import block_hash
from incoop.base.errors import USERS_ERRORS, IncoopError
from incoop.code import Functions, Observed, Shipment, unwatched
from incoop.contraction.columns.column import Column
from incoop.contraction.columns.column_bytes import write_column
from incoop.contraction.columns.run import Run
from incoop.contraction.parts.headers import NO_REGION, RunRef, StoredDelta, read_leaf_region, read_run, write_header
from incoop.contraction.parts.packs import BlockLost, OpenPack, PackBuilder
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.known_combiners import LawfulCombiner
from incoop.engine.output import OutputBlock
from incoop.engine.running.counters import take_counts
from incoop.engine.running.user_code import own_error, said_of, trace_of
from incoop.engine.stages.map_contract.grouping import group_pieces
from incoop.engine.stages.map_contract.leaf_table import LeafTable
from incoop.engine.stages.map_contract.leaves import LARGEST_TABLE, leaf_bytes, leaf_splitter, most_keys
from incoop.engine.stages.map_contract.mapping import Mapped, Piece, UserError
from incoop.engine.stages.map_contract.patching import known_leaves, patched, worth_patching
from incoop.engine.stages.map_contract.soundness import check_combiner
from incoop.engine.stages.map_contract.summing import sum_pieces
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.store.packs import Location, read_chunk
from incoop.job import Mapper
from incoop.memo import WorkerConfig

#: A failing record is shown up to this length.
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class MapSpec:
    """What all map tasks of a run share."""

    #: Packed, on the way to a worker; open, where the tasks run.
    code: Functions | Shipment
    shards: int
    #: Whether a run of few keys is kept as one part, so that its tree may have fewer shards.
    may_be_small: bool
    worker: WorkerConfig
    #: Average bytes of a leaf, 0 for none, None for the default.
    leaf: int | None = None
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
    where: Location | OutputBlock
    #: Which of the job's mappers.
    mapper: int = 0
    #: Runs of the chunks that this one takes the place of; their leaves may be in it.
    old: tuple[RunRef, ...] = ()


@dataclass(frozen=True, slots=True)
class _Written:
    """A chunk's results in the pack that is being built; regions are digest, offset and length."""

    header: tuple[bytes, int, int]
    counters: dict[str, int]
    base: bytes = b""
    delta: tuple[bytes, int, int] | None = None
    #: Values on which the combiner was tried, of keys with several.
    tried: int = 0


@dataclass(frozen=True, slots=True)
class MapDone:
    """A mapped chunk."""

    id: bytes
    ref: RunRef
    size: int
    seconds: float
    host: str
    counters: dict[str, int] = field(default_factory=dict)
    #: How its sums differ from those of an older run, if it was made from one.
    delta: StoredDelta | None = None
    #: Values on which the combiner was tried, of keys with several.
    tried: int = 0

    def under(self, id_: bytes) -> MapDone:
        """The same by another id."""
        return replace(self, id=id_)


@dataclass(frozen=True, slots=True)
class MapFailed:
    """A chunk whose mapper or combiner raised."""

    where: Location | OutputBlock
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
    host = blobs.holder
    results: list[MapDone | MapFailed | IncoopError | Observed] = []

    def write(parts: list[bytes]) -> bytes:
        with unwatched():
            return blobs.write(parts)

    def keep(named: list[tuple[bytes, tuple[bytes, _Written, int, float]]]) -> None:
        for name, (id_, written, size, seconds) in named:
            delta = StoredDelta(written.base, RunRef(name, *written.delta)) if written.delta else None
            header = RunRef(name, *written.header)
            results.append(MapDone(id_, header, size, seconds, host, written.counters, delta, written.tried))

    pack: OpenPack[tuple[bytes, _Written, int, float]] = OpenPack(write)
    failure: MapFailed | IncoopError | None = None
    with opened.at_work() as observed:
        for task in group:
            started, size = time.perf_counter(), pack.builder.size
            take_counts()
            try:
                tried_on = group[1:] if spec.check_combiner and task is group[0] else None
                written = _map_and_write(work, task, pack.builder, tried_on)
                keep(pack.added((task.id, written, pack.builder.size - size, time.perf_counter() - started)))
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
    spec, functions = work.spec, work.functions
    mapper, pieces, limit = _source(work, task)
    if functions.reducer is None:
        out: list[bytes | memoryview] = []
        write_column(Column.of(_map_only(mapper, pieces)), out)
        data = b"".join(out)
        return _Written((block_hash(data), pack.add(data), len(data)), take_counts())
    tried = 0
    if tried_on is not None and functions.combiner is not None and not isinstance(functions.combiner, LawfulCombiner):
        tried = check_combiner(_sample(work, mapper, pieces, tried_on), functions.combiner, functions.reducer)
        take_counts()
    combiner = Combiner.of(functions.combiner)
    make = partial(patched, mapper, pieces, combiner, most_keys=limit)
    base, mapped = _patched(work, task, make, pieces) if len(pieces) > 1 else (b"", None)
    if mapped is None and combiner.fold is Fold.SUM:
        mapped = sum_pieces(mapper, pieces)
        # Sums of other values are no integers to be taken apart, and are of the chunk as a whole.
        pieces = [Piece(b"", partial(_all_records, pieces))]
    if mapped is None:
        mapped = group_pieces(mapper, pieces, combiner, limit)
    rows = mapped.runs.write(spec.shards, spec.may_be_small, combiner, pack)
    table = mapped.leaves.to_bytes() if mapped.leaves is not None else b""
    small = spec.leaf is not None or len(table) <= task.where.length * LARGEST_TABLE
    leaves = pack.add_region(table) if table and small else NO_REGION
    header = write_header(rows, [b""] * len(rows), pack, leaves)
    if mapped.delta is None:
        return _Written(header, mapped.counters, tried=tried)
    return _Written(header, mapped.counters, base, pack.add_region(mapped.delta.to_run().to_bytes()), tried)


def _sample(
    work: _Work, mapper: Mapper, pieces: Sequence[Piece], others: Iterable[ChunkTask]
) -> Iterator[Iterator[tuple[Mapper, Any]]]:
    """Records, each with its mapper: of a chunk, then of others; each is made for this, when it is asked for.

    A mapper whose combiner is not to be tried has none.
    """
    if not isinstance(mapper, ChunkMapper) or mapper.tries_combiner:
        yield ((mapper, record) for piece in pieces for record in piece.records())
    for task in others:
        following, more, _ = _source(work, task)
        yield from _sample(work, following, more, ())


def _source(work: _Work, task: ChunkTask) -> tuple[Mapper, list[Piece], int | None]:
    """The pieces of a task's chunk, the mapper that takes a record of them as its value, and `group_pieces`' limit."""
    spec, reader, records = work.spec, work.reader, work.functions.records
    mapper = work.functions.mappers[task.mapper]
    if isinstance(mapper, ChunkMapper):
        if mapper.takes_old:
            mapper = replace(mapper, function=partial(mapper.function, old=partial(_old_pairs, work, task)))
        return mapper, [Piece(b"", partial(_whole, records, task.where, reader))], None
    if isinstance(task.where, OutputBlock):
        return partial(_on_pair, mapper), [Piece(b"", partial(task.where.pairs, reader))], None
    content = _content(task.where)
    splitter = leaf_splitter(leaf_bytes(spec.leaf, work.functions.combiner), len(content), records)
    if splitter is None:
        return mapper, [Piece(b"", partial(_records, records, content))], None
    leaves = list(splitter.split_bytes(content))
    pieces = [Piece(leaf.id, partial(_records, records, content[leaf.offset : leaf.end])) for leaf in leaves]
    return mapper, pieces, None if spec.leaf is not None else most_keys(leaves[0].length)


def _whole(form: RecordFormat, where: Location | OutputBlock, reader: BlobReader) -> list[Sequence[Any]]:
    """All records of a chunk as the only one."""
    return [where.pairs(reader) if isinstance(where, OutputBlock) else _records(form, _content(where))]


def _content(where: Location) -> bytes:
    with unwatched():
        return read_chunk(where)


def _all_records(pieces: Sequence[Piece]) -> list[Any]:
    return [record for piece in pieces for record in piece.records()]


def _old_pairs(work: _Work, task: ChunkTask) -> Iterator[dict[Any, list[Any]]]:
    """What is kept of the chunks that this one takes the place of."""
    for ref in task.old:
        with suppress(BlockLost):
            yield dict(read_run(ref, work.spec.shards, work.reader).groups())


def _records(form: RecordFormat, content: bytes) -> Sequence[Any]:
    records = form.records(content)
    return records if isinstance(records, list) else list(records)


def _patched(
    work: _Work,
    task: ChunkTask,
    make: Callable[[LeafTable, Run], Mapped | None],
    pieces: Sequence[Piece],
) -> tuple[bytes, Mapped | None]:
    """The chunk made from one that it takes the place of, with the digest of that one's header.

    None where none serves, or what is stored of it is lost.
    """
    best: tuple[int, RunRef, LeafTable] | None = None
    for ref in task.old:
        with suppress(BlockLost):
            region = read_leaf_region(ref, work.reader)
            table = LeafTable.from_bytes(region) if region else None
            known = known_leaves(pieces, table) if table is not None else 0
            if table is not None and known > (best[0] if best is not None else 0):
                best = known, ref, table
    if best is not None and worth_patching(best[0], len(pieces)):
        _, ref, table = best
        with suppress(BlockLost):
            return ref.digest, make(table, read_run(ref, work.spec.shards, work.reader))
    return b"", None


def _on_pair(mapper: Mapper, _: Any, pair: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return mapper(*pair)


def _failure(functions: Functions, task: ChunkTask, failed: UserError) -> MapFailed:
    cause = failed.__cause__
    assert cause is not None
    said = said_of("combiner", functions.combiner, cause)
    if failed.number >= 0:
        said = said_of("mapper", functions.mappers[task.mapper], cause)
    return MapFailed(task.where, failed.number, _shown(failed.record), said, trace_of(cause), own_error(cause))


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
