"""What two versions do not share: chunks by their ids, and inside those the records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.inchdfs.store.dataset import Dataset
from incoop.inchdfs.store.packs import PackIndex, read_chunk


@dataclass(frozen=True, slots=True)
class Diff:
    """Chunks and records of two versions, each counted as often as it occurs."""

    shared_chunks: int
    shared_bytes: int
    added_chunks: int
    added_bytes: int
    removed_chunks: int
    removed_bytes: int
    #: Records in the order in which they stand in their version.
    added_records: list[Any]
    removed_records: list[Any]


def diff(old: Dataset, new: Dataset) -> Diff:
    """Compare two versions; only chunks that they do not share are read."""
    removed = _not_in(old.manifest.rows["id"], new.manifest.rows["id"])
    added = _not_in(new.manifest.rows["id"], old.manifest.rows["id"])
    index = new.store.index()
    before, after = _records(old, index, removed), _records(new, index, added)
    return Diff(
        shared_chunks=int(len(new.manifest.rows) - added.sum()),
        shared_bytes=int(new.manifest.rows["length"][~added].sum(dtype=np.int64)),
        added_chunks=int(added.sum()),
        added_bytes=int(new.manifest.rows["length"][added].sum(dtype=np.int64)),
        removed_chunks=int(removed.sum()),
        removed_bytes=int(old.manifest.rows["length"][removed].sum(dtype=np.int64)),
        added_records=_without(after, before),
        removed_records=_without(before, after),
    )


def shared_bytes(old: npt.NDArray[Any], new: npt.NDArray[Any]) -> int:
    """Bytes of `new` rows whose chunks `old` rows hold too."""
    return int(new["length"][~_not_in(new["id"], old["id"])].sum(dtype=np.int64))


def _not_in(ids: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which ids occur more often than in `other`; a chunk that stands twice must be there twice to be shared."""
    spare = Counter(other.tolist())
    result = np.zeros(len(ids), np.bool_)
    for at, id_ in enumerate(ids.tolist()):
        if spare[id_] > 0:
            spare[id_] -= 1
        else:
            result[at] = True
    return result


def _records(dataset: Dataset, index: PackIndex, which: npt.NDArray[np.bool_]) -> list[Any]:
    return [
        record
        for where in index.locate(dataset.manifest.rows["id"][which])
        for record in dataset.format.records(read_chunk(where))
    ]


def _without(records: list[Any], others: list[Any]) -> list[Any]:
    """The records that `others` does not hold, as often as they occur too often."""
    spare = Counter(map(_countable, others))
    kept = []
    for record in records:
        key = _countable(record)
        if spare[key] > 0:
            spare[key] -= 1
        else:
            kept.append(record)
    return kept


def _countable(record: Any) -> Any:
    try:
        hash(record)
    except TypeError:  # a row of a table is a list; a user's own record may be anything
        return repr(record)
    return record
