"""What `run` is given as input, as chunks: paths, stored datasets, named inputs.

Contract: an input is an ordered list of content-hashed chunks. Where their bytes are is worked out only for those that
have to be read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import inchdfs
from inchdfs.chunk_table import ROW
from inchdfs.index import Named
from inchdfs.manifest import Manifest
from inchdfs.packs import Location
from incoop.errors import BadCall
from incoop.job import Job

#: How a stored dataset is named as an input.
SCHEME = "inchdfs:/"


@dataclass(frozen=True, slots=True)
class ChunkedInput:
    """The chunks of all inputs of a run, and which mapper reads each."""

    rows: npt.NDArray[Any]
    mapper_of: npt.NDArray[np.int64]
    locate: Callable[[list[int]], list[Location]]

    @property
    def size(self) -> int:
        return int(self.rows["length"].sum(dtype=np.int64))


def chunk_inputs(
    job: Job,
    inputs: Any,
    store: inchdfs.DatasetStore,
    settings: inchdfs.ChunkSettings | None,
    paranoid: bool,
    progress: Callable[[int], object],
) -> ChunkedInput:
    """Chunk what the user named; each named input goes with the mapper of that name."""
    if isinstance(job.mapper, Mapping):
        if not isinstance(inputs, Mapping) or set(inputs) != set(job.mapper):
            names = ", ".join(map(repr, job.mapper))
            raise BadCall(f"job {job.name!r} has a mapper for each of {names}; give a dict with an input for each.")
        named = [(inputs[name], which) for which, name in enumerate(job.mapper)]
    else:
        if isinstance(inputs, Mapping):
            raise BadCall(f"job {job.name!r} has one mapper; a dict of inputs needs a dict of mappers.")
        named = [(inputs, 0)]
    pieces = [
        (manifest, which)
        for each, which in named
        for manifest in _manifests(each, job, store, settings, paranoid, progress)
    ]
    rows = np.concatenate([np.empty(0, ROW), *(manifest.rows for manifest, _ in pieces)])
    mapper_of = np.repeat([which for _, which in pieces], [len(manifest.rows) for manifest, _ in pieces])
    return ChunkedInput(rows, mapper_of.astype(np.int64), lambda wanted: _locate(store, pieces, wanted))


def _manifests(
    named: Any,
    job: Job,
    store: inchdfs.DatasetStore,
    settings: inchdfs.ChunkSettings | None,
    paranoid: bool,
    progress: Callable[[int], object],
) -> list[Manifest]:
    """Datasets by their manifests; the paths between them as one indexed input."""
    each = [named] if isinstance(named, str | os.PathLike) else named
    if not isinstance(each, Sequence) or not each or not all(isinstance(one, str | os.PathLike) for one in each):
        raise BadCall(f"an input is a path, a glob, a folder, a list of those, or {SCHEME}NAME, not {named!r:.80}.")
    found: list[Manifest] = []
    paths: list[str] = []

    def index_paths() -> None:
        if paths:
            indexed: Named = list(paths)
            found.append(
                inchdfs.index_input(
                    store, indexed, settings=settings, records=job.records, paranoid=paranoid, progress=progress
                )
            )
            paths.clear()

    for one in map(os.fspath, each):
        if one.startswith(SCHEME):
            index_paths()
            found.append(store.manifest(one))
        else:
            paths.append(one)
    index_paths()
    return found


def _locate(store: inchdfs.DatasetStore, pieces: list[tuple[Manifest, int]], wanted: list[int]) -> list[Location]:
    """Where the bytes of the chunks at these indices (ascending) are."""
    found: list[Location] = []
    first = 0
    index = np.array(wanted, np.int64)
    for manifest, _ in pieces:
        low, high = np.searchsorted(index, [first, first + len(manifest.rows)]).tolist()
        if low < high:
            locations = inchdfs.locate(store, manifest)
            found += [locations[at] for at in (index[low:high] - first).tolist()]
        first += len(manifest.rows)
    return found
