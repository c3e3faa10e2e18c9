"""What `run` is given as input, as chunks: paths, stored datasets, named inputs.

Contract: an input is an ordered list of content-hashed chunks. Where their bytes are is worked out only for those that
have to be read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from incoop import inchdfs
from incoop.base.errors import BadCall
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import Block, ChunkBlock, PairBlock
from incoop.engine.chosen import ChosenChunks, ChunkTable, ClippedChunk, clipped_id
from incoop.fingerprint import fingerprint
from incoop.inchdfs.cutting.chunk_table import ROW
from incoop.inchdfs.cutting.cut_alike import holds_whole_records
from incoop.inchdfs.cutting.parallel import SegmentRunner
from incoop.inchdfs.cutting.records import RecordFormat
from incoop.inchdfs.cutting.side_by_side import LookHelpers
from incoop.inchdfs.cutting.stretches import ROW as STRETCH_ROW
from incoop.inchdfs.cutting.stretches import Recut
from incoop.inchdfs.store.index import AsBefore, Named
from incoop.inchdfs.store.manifest import Manifest, is_built_in, records_of, tag_of
from incoop.job import Job

#: How a stored dataset is named as an input.
SCHEME = "inchdfs:/"


@runtime_checkable
class BlockSource(Protocol):
    """The result of another run, or what is like it: its blocks are chunks."""

    def output_blocks(self) -> Sequence[PairBlock]: ...

    def recover(self, lost: BlockLost) -> None: ...


class _Pairs:
    """Blocks of pairs, with the rows that a manifest would have for them."""

    def __init__(self, blocks: Sequence[PairBlock]) -> None:
        self.blocks = [block for block in blocks if not block.is_empty]
        self.rows = np.array([(b.id, b.length, 0, b.tail, True) for b in self.blocks], ROW)

    def at(self, indices: list[int]) -> Sequence[Block]:
        return [self.blocks[index] for index in indices]


class _Chunks:
    """The chunks of files."""

    def __init__(self, manifest: Manifest, store: inchdfs.DatasetStore) -> None:
        self.manifest, self._store = manifest, store
        self.rows = manifest.rows

    def at(self, indices: list[int]) -> Sequence[Block]:
        places = inchdfs.locate(self._store, self.manifest)
        return [ChunkBlock(places[index]) for index in indices]


class _Chosen:
    """Some of the chunks of files."""

    def __init__(self, every: Sequence[_Chunks], chosen: ChosenChunks, form: RecordFormat) -> None:
        self._every, self._form = every, form
        files = tuple((entry.name, entry.chunks) for each in every for entry in each.manifest.files)
        rows = np.concatenate([np.empty(0, ROW), *(each.rows for each in every)])
        choice = chosen.choose(ChunkTable(rows, files))
        self._chunks, self._clips = choice.chunks, choice.clips
        self.rows = rows[choice.chunks]
        for at, number in enumerate(choice.chunks.tolist()):
            if number in choice.clips:
                self.rows["id"][at] = np.void(clipped_id(bytes(rows["id"][number]), choice.clips[number]))

    def at(self, indices: list[int]) -> Sequence[Block]:
        numbers = self._chunks[indices].tolist()
        return [
            self._clipped(number, block) for number, block in zip(numbers, _blocks(self._every, numbers), strict=True)
        ]

    def _clipped(self, number: int, block: Block) -> Block:
        chunk = block.chunk()
        if number not in self._clips or chunk is None:
            return block
        return ClippedChunk(chunk.where, self._form, self._clips[number])


_Piece = _Chunks | _Pairs | _Chosen


@dataclass(frozen=True, slots=True)
class ChunkedInput:
    """The chunks of all inputs of a run, and which mapper reads each."""

    rows: npt.NDArray[Any]
    mapper_of: npt.NDArray[np.int64]
    #: The chunks at these indices (ascending), as tasks read them.
    blocks: Callable[[list[int]], Sequence[Block]]
    #: What chunks are read from, where that is an index or a dataset.
    manifests: tuple[Manifest, ...]
    store: inchdfs.DatasetStore

    @property
    def size(self) -> int:
        return int(self.rows["length"].sum(dtype=np.int64))

    def recut(self, chunk: bytes) -> Recut | None:
        """What a chunk has of the one whose place it takes, if that is known."""
        found = (manifest.stretches.recuts.get(chunk) for manifest in self.manifests)
        return next((recut for recut in found if recut is not None), None)

    def learn_stretches(self, chunk: bytes, stretches: bytes) -> None:
        """Take in the stretches of a chunk that was read, for the next look at the input."""
        for manifest in self.manifests:
            if manifest.stretches.path is not None and chunk not in manifest.stretches.known:
                manifest.stretches.learn(chunk, np.frombuffer(stretches, STRETCH_ROW))

    def keep_stretches(self) -> None:
        """Keep what was taken in."""
        for manifest in self.manifests:
            inchdfs.keep_stretches(self.store, manifest)


def chunk_inputs(
    job: Job,
    inputs: Any,
    store: inchdfs.DatasetStore,
    settings: inchdfs.ChunkSettings | AsBefore | None,
    paranoid: bool,
    run_segments: SegmentRunner | None = None,
    will_read: Callable[[], object] = lambda: None,
    helpers: LookHelpers | None = None,
    whole: bool = False,
) -> ChunkedInput:
    """Chunk what the user named; each named input goes with the mapper of that name.

    `run_segments` is where large files are searched for chunks; `will_read` is called when one has to be read,
    and `helpers` are asked for help when one changed; `whole` says that a changed chunk is mapped as a whole.
    """
    if isinstance(job.mapper, Mapping):
        if not isinstance(inputs, Mapping) or set(inputs) != set(job.mapper):
            names = ", ".join(map(repr, job.mapper))
            raise BadCall(f"job {job.name!r} has a mapper for each of {names}; give a dict with an input for each.")
        named = [(inputs[name], which) for which, name in enumerate(job.mapper)]
    else:
        if isinstance(inputs, Mapping):
            raise BadCall(f"job {job.name!r} has one mapper; a dict of inputs needs a dict of mappers.")
        named = [(inputs, 0)]
    index = partial(_manifests, job, store, settings, paranoid, run_segments, will_read, helpers)
    pieces: list[tuple[_Piece, int]] = []
    manifests: list[Manifest] = []
    for each, which in named:
        if isinstance(each, BlockSource):
            pieces.append((_Pairs(each.output_blocks()), which))
            continue
        if isinstance(each, ChosenChunks):
            how = settings, paranoid, job.records, each.whole
            found = each.look.manifests(each, how, partial(index, each.whole, each.inputs))
            pieces.append((_Chosen([_Chunks(manifest, store) for manifest in found], each, job.records), which))
        else:
            found = index(whole, each)
            pieces += [(_Chunks(manifest, store), which) for manifest in found]
        manifests += found
    rows = np.concatenate([np.empty(0, ROW), *(piece.rows for piece, _ in pieces)])
    mapper_of = np.repeat([which for _, which in pieces], [len(piece.rows) for piece, _ in pieces])
    blocks = partial(_blocks, [piece for piece, _ in pieces])
    return ChunkedInput(rows, mapper_of.astype(np.int64), blocks, tuple(manifests), store)


def _manifests(
    job: Job,
    store: inchdfs.DatasetStore,
    settings: inchdfs.ChunkSettings | AsBefore | None,
    paranoid: bool,
    run_segments: SegmentRunner | None,
    will_read: Callable[[], object],
    helpers: LookHelpers | None,
    whole: bool,
    named: Any,
) -> list[Manifest]:
    """Datasets by their manifests; the paths between them as one indexed input."""
    each = [named] if isinstance(named, str | os.PathLike) else named
    if not isinstance(each, Sequence) or not each or not all(isinstance(one, str | os.PathLike) for one in each):
        raise BadCall(
            f"an input is a path, a glob, a folder, a list of those, {SCHEME}NAME, or a result, not {named!r:.80}."
        )
    found: list[Manifest] = []
    paths: list[str] = []
    records_code = _code_of(job)

    def index(files: Named) -> Manifest:
        return inchdfs.index_input(
            *(store, files),
            settings=settings,
            records=job.records,
            paranoid=paranoid,
            run_segments=run_segments,
            will_read=will_read,
            helpers=helpers,
            whole=whole,
            records_code=records_code,
        )

    def index_paths() -> None:
        if paths:
            found.append(index(list(paths)))
            paths.clear()

    if isinstance(named, inchdfs.Listing):
        return [index(named)]
    for one in map(os.fspath, each):
        if one.startswith(SCHEME):
            index_paths()
            found.append(_stored(store.manifest(one), one, job))
        else:
            paths.append(one)
    index_paths()
    return found


def _stored(manifest: Manifest, name: str, job: Job) -> Manifest:
    """The manifest of a dataset whose chunks hold whole records of the job's format; others would split some."""
    tag = manifest.records_tag
    if tag != tag_of(job.records) and not (is_built_in(tag) and holds_whole_records(records_of(tag), job.records)):
        raise BadCall(
            f"{name} is stored in chunks that hold whole records of {tag}. Read as {type(job.records).__name__}, "
            "records could be split between two: store it with that format (incoop put --records …), or name the files."
        )
    return manifest


def _code_of(job: Job) -> str:
    """Names the code of a record format that the user wrote; empty for one of ours."""
    if type(job.records).__module__.partition(".")[0] == "incoop":
        return ""
    return fingerprint(job.records, version=job.version, role="records").hex()


def _blocks(pieces: Sequence[_Piece], wanted: list[int]) -> list[Block]:
    found: list[Block] = []
    first = 0
    index = np.array(wanted, np.int64)
    for piece in pieces:
        low, high = np.searchsorted(index, [first, first + len(piece.rows)]).tolist()
        if low < high:
            found += piece.at((index[low:high] - first).tolist())
        first += len(piece.rows)
    return found
