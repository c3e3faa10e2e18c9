"""Both parts of a store folder, the memo and the datasets: collected and verified together.

Contract: a folder that has neither is an error (StoreMissing), and nothing is created; one part alone is fine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from incoop import inchdfs
from incoop.inchdfs.store.collect import CollectedChunks as CollectedDatasets
from incoop.inchdfs.store.collect import VerifiedChunks as VerifiedDatasets
from incoop.memo import Collected, Keep, MemoStore, StoreMissing, Verified, collect, verify
from incoop.memo.events import DidBeginAnew

Progress = Callable[[str, int], None]
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class AllCollected:
    """What was done in each part of a store folder; None for a part that it does not have."""

    memo: Collected | None
    datasets: CollectedDatasets | None


@dataclass(frozen=True, slots=True)
class AllVerified:
    """What was found in each part of a store folder; None for a part that it does not have."""

    memo: Verified | None
    datasets: VerifiedDatasets | None

    @property
    def clean(self) -> bool:
        """Whether nothing is damaged."""
        return (self.memo is None or self.memo.clean) and not (self.datasets and self.datasets.damage)


def collect_all(store: Path, *, memo: str | None, keep: Keep, dry_run: bool, progress: Progress) -> AllCollected:
    """Collect the memo and the datasets of a store folder."""
    datasets = _datasets(store)
    collected = _in_memo(
        store, memo, datasets, lambda opened: collect(opened, keep, dry_run=dry_run, progress=progress)
    )
    return AllCollected(collected, inchdfs.collect(datasets, dry_run=dry_run) if datasets is not None else None)


def verify_all(
    store: Path, *, memo: str | None, dry_run: bool, progress: Progress, repair: bool = False
) -> AllVerified:
    """Read everything that the memo and the datasets of a store folder hold; drop what is damaged.

    `repair` also sets right what would be refused: records of the store itself, and manifests that cannot be read.
    """
    datasets = _datasets(store, repair)

    def check(opened: MemoStore) -> Verified:
        mended = () if dry_run else opened.session.link.strict(lambda link: link.mend())
        found = verify(opened, dry_run=dry_run, progress=progress)
        found.mended = [*mended, *(str(event) for event in opened.events.of(DidBeginAnew))]
        return found

    found = _in_memo(store, memo, datasets, check, repair)
    if datasets is None:
        return AllVerified(found, None)
    stored = inchdfs.verify(
        datasets, lambda size: progress("bytes of datasets", size), drop=not dry_run, repair=repair and not dry_run
    )
    return AllVerified(found, stored)


def _datasets(store: Path, repair: bool = False) -> inchdfs.DatasetStore | None:
    datasets = inchdfs.DatasetStore(store, repair=repair)
    return datasets if datasets.folder.exists() else None


def _in_memo(
    store: Path,
    memo: str | None,
    datasets: inchdfs.DatasetStore | None,
    do: Callable[[MemoStore], Done],
    repair: bool = False,
) -> Done | None:
    """Do something with the memo of a folder; None where it has datasets alone."""
    try:
        with MemoStore.open(store, memo, create=False, maintenance=True, repair=repair) as opened:
            return do(opened)
    except StoreMissing:
        if datasets is None:
            raise
        return None
