"""Step 2, map: fresh chunks become runs. This file is what runs in a Spark task.

Contract: a task reads its chunks' bytes itself, writes one or more packs, and returns only small descriptions. What a
chunk gives depends on its bytes and the job's code alone. A user's error is returned, not raised, so that the chunks
that were finished are kept.
"""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from contraction.columns import INTEGER, Column
from contraction.combine import Combiner, CombinerChangesKeys, combined_values
from contraction.folds import Fold
from contraction.parts import PackBuilder, write_run
from contraction.run import EMPTY, Run
from contraction.wire import write_column
from inchdfs.packs import Location, read_chunk
from inchdfs.records import RecordFormat
from incoop.counters import take_counts
from incoop.errors import IncoopError
from incoop.job import Mapper, Reducer
from incoop.memo import WorkerConfig, block_hash
from incoop.output import OutputBlock
from incoop.runs import BlobReader, RunRef, write_header
from incoop.soundness import SAMPLE, check_combiner

#: A pack is written when it has grown to this: large enough for few files, small enough for a worker's memory.
_PACK_BYTES = 64 << 20

#: Pairs held as Python objects before they become a run; about 200 bytes each.
_PENDING_PAIRS = 2_000_000

#: A failing record is shown up to this length.
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class MapSpec:
    """What all map tasks of a run share."""

    mappers: tuple[Mapper, ...]
    combiner: Reducer | None
    #: None for a map-only job, whose pairs are kept in input order.
    reducer: Reducer | None
    records: RecordFormat
    shards: int
    worker: WorkerConfig
    #: Try the combiner on a sample of each group's first chunk.
    check_combiner: bool = False


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """One chunk to map."""

    #: The run's id; equal ids have interchangeable results.
    id: bytes
    where: Location | OutputBlock
    #: Which of the job's mappers.
    mapper: int = 0


@dataclass(frozen=True, slots=True)
class MapDone:
    """A mapped chunk."""

    id: bytes
    ref: RunRef
    size: int
    seconds: float
    host: str
    counters: dict[str, int] = field(default_factory=dict)


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


def map_group(spec: MapSpec, group: Sequence[ChunkTask]) -> list[MapDone | MapFailed | IncoopError]:
    """Map chunks one after the other; stop at the first that fails."""
    blobs, host = spec.worker.open(), socket.gethostname()
    results: list[MapDone | MapFailed | IncoopError] = []
    pack = PackBuilder()
    pending: list[tuple[bytes, tuple[bytes, int, int], int, float, dict[str, int]]] = []

    def flush() -> None:
        nonlocal pack
        if pending:
            name = blobs.write(pack.parts)
            for id_, (digest, offset, length), size, seconds, counters in pending:
                results.append(MapDone(id_, RunRef(name, digest, offset, length), size, seconds, host, counters))
        pending.clear()
        pack = PackBuilder()

    for task in group:
        started, size = time.perf_counter(), pack.size
        take_counts()
        try:
            header = _map_and_write(spec, task, BlobReader(blobs), pack, check=spec.check_combiner and task is group[0])
        except UserError as failed:
            flush()
            results.append(_failure(task.where, failed))
            return results
        except IncoopError as error:
            flush()
            results.append(error)
            return results
        pending.append((task.id, header, pack.size - size, time.perf_counter() - started, take_counts()))
        if pack.size >= _PACK_BYTES:
            flush()
    flush()
    return results


def _map_and_write(
    spec: MapSpec, task: ChunkTask, reader: BlobReader, pack: PackBuilder, check: bool
) -> tuple[bytes, int, int]:
    """Map one chunk, add what it gives to the pack; return digest, offset and length of its header."""
    mapper, records = _source(spec, task, reader)
    if spec.reducer is None:
        out: list[bytes] = []
        write_column(Column.of(_map_only(mapper, records)), out)
        data = b"".join(out)
        return block_hash(data), pack.add(data), len(data)
    if check and spec.combiner is not None:
        check_combiner(mapper, records[:SAMPLE], spec.combiner, spec.reducer)
        take_counts()
    run = map_chunk(mapper, records, Combiner.of(spec.combiner))
    return write_header(write_run(run, spec.shards, pack), [b""] * spec.shards, pack)


def _source(spec: MapSpec, task: ChunkTask, reader: BlobReader) -> tuple[Mapper, Sequence[Any]]:
    """The records of a task's chunk, and the mapper that takes one as its value."""
    mapper = spec.mappers[task.mapper]
    if isinstance(task.where, OutputBlock):
        return partial(_on_pair, mapper), task.where.pairs(reader)
    records = spec.records.records(read_chunk(task.where))
    return mapper, records if isinstance(records, list) else list(records)


def _on_pair(mapper: Mapper, _: Any, pair: tuple[Any, Any]) -> Iterable[tuple[Any, Any]]:
    return mapper(*pair)


def _failure(where: Location | OutputBlock, failed: UserError) -> MapFailed:
    cause = failed.__cause__
    assert cause is not None
    trace = "".join(traceback.format_exception(cause))
    return MapFailed(where, failed.number, repr(failed.record)[:_SHOWN], f"{type(cause).__name__}: {cause}", trace)


def _map_only(mapper: Mapper, records: Iterable[Any]) -> list[tuple[Any, Any]]:
    """The mapper's pairs as they come."""
    pairs: list[tuple[Any, Any]] = []
    number, record = -1, None
    try:
        for number, record in enumerate(records):  # noqa: B007 - named when the mapper fails
            pairs += [(key, value) for key, value in mapper(None, record)]
    except Exception as error:
        raise UserError(number, record) from error
    return pairs


def map_chunk(mapper: Mapper, records: Sequence[Any], combiner: Combiner) -> Run:
    """The run of one chunk's records."""
    if combiner.fold is Fold.SUM and (summed := _map_and_sum(mapper, records)) is not None:
        return summed
    take_counts()  # what the attempt to add up counted is counted again
    return map_records(mapper, records, combiner)


class UserError(Exception):
    """The user's mapper or combiner raised, at this record."""

    def __init__(self, number: int, record: Any) -> None:
        super().__init__(number, record)
        self.number, self.record = number, record


def _map_and_sum(mapper: Mapper, records: Iterable[Any]) -> Run | None:
    """Add values up as they come; None when they are not all integers, for which alone that is surely the same."""
    sums: dict[Any, Any] = {}
    get = sums.get
    number, record = -1, None
    try:
        for number, record in enumerate(records):  # noqa: B007 - named when the mapper fails
            for key, value in mapper(None, record):
                sums[key] = get(key, 0) + value
    except TypeError:
        return None  # perhaps values that cannot be added to 0: the combiner itself shall say
    except Exception as error:
        raise UserError(number, record) from error
    run = Run.of_values(sums)
    return run if run.values.kind == INTEGER or not len(run) else None


def map_records(mapper: Mapper, records: Iterable[Any], combiner: Combiner) -> Run:
    """Map all records, and combine the values of each key."""
    runs: list[Run] = []
    for groups in _groups(mapper, records):
        runs.append(_combined(groups, combiner))
    return combiner.combine(runs) if len(runs) > 1 else (runs[0] if runs else EMPTY)


def _groups(mapper: Mapper, records: Iterable[Any]) -> Iterator[dict[Any, list[Any]]]:
    """The mapper's pairs by key, in portions that fit in memory."""
    groups: dict[Any, list[Any]] = {}
    pending = 0
    number, record = -1, None
    iterator = iter(records)
    while True:
        try:
            for record in iterator:
                number += 1
                for key, value in mapper(None, record):
                    try:
                        groups[key].append(value)
                    except KeyError:
                        groups[key] = [value]
                    pending += 1
                if pending > _PENDING_PAIRS:
                    break
            else:
                break
        except Exception as error:
            raise UserError(number, record) from error
        yield groups
        groups, pending = {}, 0
    yield groups


def _combined(groups: dict[Any, list[Any]], combiner: Combiner) -> Run:
    if combiner.function is None:
        return Run.of_groups(groups)
    function: Callable[..., Any] = combiner.function
    out: dict[Any, list[Any]] = {}
    for key, values in groups.items():
        if len(values) == 1:
            out[key] = values
            continue
        try:
            emitted = combined_values(function, key, values)
        except CombinerChangesKeys:
            raise
        except Exception as error:
            raise UserError(-1, (key, values[:5])) from error
        if emitted:
            out[key] = emitted
    return Run.of_groups(out)
