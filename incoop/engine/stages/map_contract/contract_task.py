"""Steps 3 and 4, contract and reduce: the touched nodes of some shards, then their touched keys. Runs in a Spark task.

Contract: a shard's tree and output hold the pairs that a run from scratch gives. A task loads the headers of the
runs it needs, goes through its shards one after the other, writes one pack, and returns rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incoop.base.errors import IncoopError
from incoop.code import Functions, Observed, Shipment, unwatched
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.shards import shard_bounds
from incoop.contraction.parts.headers import RunHeader, RunRef, StoredChange, read_region
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import BlockLost, PackBuilder
from incoop.contraction.parts.part import ChunkRuns, Part
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import OTHER, SHARD_ROW, as_row, with_own_pack
from incoop.contraction.parts.write import write_part
from incoop.contraction.tree.combine import Combiner, CombinerError
from incoop.contraction.tree.folds import recognise
from incoop.contraction.tree.node import NodeTask, ShardContraction
from incoop.contraction.tree.node_of_shards import contract_node
from incoop.contraction.tree.sums import Delta
from incoop.engine.running.counters import take_counts
from incoop.engine.running.user_code import own_error, said_of, trace_of
from incoop.engine.stages.map_contract.column_reducer import ColumnReducer
from incoop.engine.stages.map_contract.flat import Gathered, gathered_changes, gathered_whole
from incoop.engine.stages.map_contract.reducing import ReducerError, counted_by, reduced_keys
from incoop.engine.stored import BlobReader
from incoop.job import Reducer
from incoop.memo import WorkerConfig

_SHOWN = 300


@dataclass(frozen=True, slots=True)
class ContractSpec:
    """What all contract tasks of a run share."""

    #: Packed, on the way to a worker; open, where the tasks run.
    code: Functions | Shipment
    shards: int
    worker: WorkerConfig
    #: Touched nodes, bottom up. Without a combiner there is one, the root, and it is not stored.
    nodes: tuple[NodeTask, ...]
    root: bytes
    #: The last generation's root and output; None to reduce every key.
    old_root: bytes | None
    old_output: RunRef | None
    #: Where every run that the nodes need is stored.
    refs: dict[bytes, RunRef]
    #: Whether nodes have so many children that only sums of integers are to be contracted so.
    wide: bool = False
    #: For chunks that were made from older ones: how they differ.
    changes: dict[bytes, StoredChange] = field(default_factory=dict)


@dataclass(slots=True)
class ShardDone:
    """One shard's part of every touched node, and of the output."""

    shard: int
    #: SHARD_ROWs of the nodes, then of the output, as bytes.
    rows: list[bytes]
    #: For each of them, the older packs that it refers to.
    refs: list[bytes]
    combined: int
    reduced_keys: int
    contract_seconds: float
    reduce_seconds: float
    counters: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReduceFailed:
    """A key whose combiner or reducer raised."""

    key: str
    error: str
    trace: str
    #: The key itself, where it is a whole number or a text.
    plain_key: int | str | bytes | None = None
    #: The error itself, where it is one of incoop's own.
    cause: IncoopError | None = None


def contract_shards(
    spec: ContractSpec, shards: Sequence[int]
) -> list[ShardDone | Observed] | ReduceFailed | IncoopError:
    """Contract and reduce some shards; what goes wrong is returned, for the driver to decide."""
    try:
        opened = spec.code.open()
        functions = opened.functions
        with opened.at_work() as observed:
            done = _contract_shards(spec, functions, shards)
        return opened.doubts() or [*done, *observed]
    except (ReducerError, CombinerError) as failed:
        cause = failed.__cause__
        assert cause is not None
        if isinstance(failed, CombinerError):
            said = said_of("combiner", functions.combiner, cause)
        else:
            said = said_of("reducer", functions.reducer, cause)
        plain = failed.key if type(failed.key) in (int, str, bytes) else None
        return ReduceFailed(repr(failed.key)[:_SHOWN], said, trace_of(cause), plain, own_error(cause))
    except IncoopError as error:
        return error


def _contract_shards(spec: ContractSpec, functions: Functions, shards: Sequence[int]) -> list[ShardDone]:
    with unwatched():
        blobs = spec.worker.open()
    reader = BlobReader(blobs)
    headers = _Headers(spec, reader)
    output = RunHeader.load(spec.old_output, spec.shards, reader) if spec.old_output is not None else None
    changes = _changes(spec, reader)
    pack = PackBuilder()
    runs = ChunkRuns()
    cut = [(children, _by_shard(change, shards, spec.shards)) for children, change in changes.items()]
    combiner = Combiner.of(functions.combiner)
    trees = [
        _tree(spec, combiner, shard, headers, {children: each[at] for children, each in cut}, reader, pack, runs)
        for at, shard in enumerate(shards)
    ]
    outputs = [_Reduced(output.rows[shard], output.refs[shard]) if output is not None else None for shard in shards]
    gathered: Sequence[tuple[Hashes, Gathered | Run] | None] = [None] * len(shards)
    started = time.perf_counter()
    if combiner.function is not None:
        take_counts()
        for node in spec.nodes:
            contract_node(trees, node)
        take_counts()  # how often a tree combines depends on what ran before: not counted
    contracted = time.perf_counter()
    if combiner.function is None and spec.nodes and all(old is not None and not old.row["bare"] for old in outputs):
        gathered = gathered_changes(trees, spec.nodes[0], isinstance(functions.reducer, ColumnReducer))
    seconds = (contracted - started) / len(shards), (time.perf_counter() - contracted) / len(shards)
    done = [_reduce_shard(spec, functions, *each, seconds) for each in zip(trees, outputs, gathered, strict=True)]
    if pack.parts:
        with unwatched():
            name = blobs.write(pack.parts)
        for each in done:
            each.rows = [with_own_pack(np.frombuffer(row, SHARD_ROW), name).tobytes() for row in each.rows]
    return done


class _Headers:
    """The headers of all runs, each read when it is asked for: an update needs few of them."""

    def __init__(self, spec: ContractSpec, reader: BlobReader) -> None:
        self._refs, self._shards, self._reader = spec.refs, spec.shards, reader
        self._loaded: dict[bytes, RunHeader] = {}

    def __contains__(self, id_: object) -> bool:
        return id_ in self._refs

    def __getitem__(self, id_: bytes) -> RunHeader:
        if id_ not in self._loaded:
            try:
                self._loaded[id_] = self._load(id_)
            except BlockLost:
                raise self._all_losses() from None
        return self._loaded[id_]

    def _load(self, id_: bytes) -> RunHeader:
        return RunHeader.load(self._refs[id_], self._shards, self._reader)

    def _all_losses(self) -> BlockLost:
        """Where one is lost others may be; found all at once, they are mended at once."""
        losses: list[BlockLost] = []
        for id_ in self._refs:
            try:
                self._load(id_)
            except BlockLost as lost:
                losses.append(lost)
        return BlockLost.of_all(losses)


class _OfShard(dict[bytes, Any]):
    """Something of one shard of each run, taken from its header when it is asked for."""

    def __init__(self, headers: _Headers, taken: Callable[[RunHeader], Any]) -> None:
        super().__init__()
        self._headers, self._taken = headers, taken

    def __contains__(self, id_: object) -> bool:
        return super().__contains__(id_) or id_ in self._headers

    def __missing__(self, id_: bytes) -> Any:
        return self.setdefault(id_, self._taken(self._headers[id_]))


def _changes(spec: ContractSpec, reader: BlobReader) -> dict[tuple[bytes, bytes], Run | Overlay]:
    """What is known of how new chunks differ from old ones; one that is lost is found out by comparing the two."""
    by_digest = {ref.digest: id_ for id_, ref in spec.refs.items()}
    found: dict[tuple[bytes, bytes], Run | Overlay] = {}
    for new, stored in spec.changes.items():
        old = by_digest.get(stored.base)
        if old is not None and new in spec.refs:
            with suppress(BlockLost):
                read = Run.from_bytes if stored.summed else Overlay.from_bytes
                found[old, new] = read(read_region(stored.ref, reader))
    return found


def _by_shard(change: Run | Overlay, shards: Sequence[int], count: int) -> Sequence[Delta | Overlay]:
    """What a change says of each of some shards."""
    if isinstance(change, Overlay):
        return change.cut(0, count.bit_length() - 1, shards)
    bounds = shard_bounds(change, count)
    return [Delta.of_run(change.slice(bounds[shard], bounds[shard + 1])) for shard in shards]


def _tree(
    spec: ContractSpec,
    combiner: Combiner,
    shard: int,
    headers: _Headers,
    changes: dict[tuple[bytes, bytes], Delta | Overlay],
    reader: BlobReader,
    pack: PackBuilder,
    runs: ChunkRuns,
) -> ShardContraction:
    """One shard, to be contracted."""
    rows, refs = (
        _OfShard(headers, lambda header: header.rows[shard]),
        _OfShard(headers, lambda header: header.refs[shard]),
    )
    tree = ShardContraction(shard, spec.shards, rows, refs, combiner, reader, pack, spec.wide, runs)
    for (old_child, new_child), change in changes.items():
        if isinstance(change, Overlay):
            tree.learn(old_child, new_child, change)
        else:
            tree.deltas[old_child, new_child] = change
    return tree


def _reduce_shard(
    spec: ContractSpec,
    functions: Functions,
    tree: ShardContraction,
    old: _Reduced | None,
    gathered: tuple[Hashes, Gathered | Run] | None,
    seconds: tuple[float, float],
) -> ShardDone:
    """Reduce a shard, which is contracted; `gathered` are its changed keys where there is no combiner.

    `seconds` are its part of contracting, and of gathering.
    """
    started = time.perf_counter()
    take_counts()
    flat = functions.combiner is None and bool(spec.nodes)
    reducer: Reducer = functions.reducer
    if not flat and _is_output(tree.rows[spec.root], reducer):
        reduced = _root_as_output(tree, spec)
    elif old is None or old.row["bare"] or (flat and gathered is None):
        reduced = _reduce_all(tree, spec, reducer, flat)
    else:
        assert spec.old_root is not None
        reduced = _reduce_changed(tree, reducer, old, gathered or tree.changed_pairs(spec.old_root, spec.root))
    stored = () if flat else spec.nodes
    return ShardDone(
        shard=tree.shard,
        rows=[*(tree.rows[node.id].tobytes() for node in stored), reduced.row.tobytes()],
        refs=[*(tree.refs[node.id] for node in stored), reduced.refs],
        combined=tree.executed,
        reduced_keys=reduced.keys,
        contract_seconds=seconds[0],
        reduce_seconds=seconds[1] + time.perf_counter() - started,
        counters=reduced.counters,
    )


@dataclass(frozen=True, slots=True)
class _Reduced:
    """One shard of the output."""

    row: Any
    #: The older packs that it refers to.
    refs: bytes
    #: How many keys were reduced.
    keys: int = 0
    counters: dict[str, int] = field(default_factory=dict)


def _is_output(root: Any, reducer: Reducer) -> bool:
    """Whether every key's output is the key and its value: a sum, minimum or maximum of one integer is that integer.

    Not of a chunk's run, the root of an input of one chunk: its part holds the keys of all shards.
    """
    return bool(root["sums"] != OTHER and not root["whole"] and recognise(reducer) is not None)


def _root_as_output(tree: ShardContraction, spec: ContractSpec) -> _Reduced:
    """The root's part as it is; nothing is written."""
    row = tree.rows[spec.root].copy()
    row["bare"] = True
    keys = len(tree.changed_pairs(spec.old_root, spec.root)[1]) if spec.old_root is not None else int(row["keys"])
    return _Reduced(row, tree.refs[spec.root], keys)


def _reduce_all(tree: ShardContraction, spec: ContractSpec, reducer: Reducer, flat: bool) -> _Reduced:
    """Reduce every key, there being no output that could be updated."""
    values: Run | Gathered
    if flat:
        values = gathered_whole(tree, spec.nodes[0], isinstance(reducer, ColumnReducer))
    else:
        values = tree.part(spec.root).whole()
    outputs = reduced_keys(reducer, values)
    return _Reduced(as_row(write_part(outputs, tree.shard_bits, tree.pack)), b"", len(values), counted_by(outputs))


def _reduce_changed(
    tree: ShardContraction, reducer: Reducer, old: _Reduced, changes: tuple[Hashes, Run | Gathered]
) -> _Reduced:
    """Reduce the keys that changed; the others stay as they are in the old output."""
    changed, fresh = changes
    if not len(changed):
        return old
    outputs = reduced_keys(reducer, fresh)
    part = Part.load(old.row, tree.shard_bits, tree.reader)
    counters = counted_by(outputs)
    before = part.select(changed)
    for name, count in counted_by(before).items():
        counters[name] = counters.get(name, 0) - count
    row, packs = rewrite_part(part, changed, outputs, len(before), tree.pack)
    return _Reduced(as_row(row), b"".join(packs), len(fresh), counters)
