"""Re-read everything, and drop what a run could not use.

Contract: after a repair, every entry passes its keyed checksum and every pack it names is whole. What is damaged would
have been a miss anyway; verifying finds it before a run does, and frees its space. Packs that nothing names are left
to the collector, which knows who may be writing them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from incoop.base.ids import split_ids
from incoop.memo.blobs import Pack
from incoop.memo.census import Census, Progress, no_progress, take_census
from incoop.memo.errors import PackUnreadable
from incoop.memo.generations import GenerationHead, field_of
from incoop.memo.link import Link
from incoop.memo.store import MemoStore
from incoop.memo.trash import take_out


@dataclass(slots=True)
class Verified:
    """What a verification found. Lists hold hexadecimal names."""

    dry_run: bool
    entries: int = 0
    packs: int = 0
    bytes: int = 0
    generations: int = 0
    #: Entries that fail their keyed checksum.
    damaged_entries: list[str] = field(default_factory=list)
    #: Packs that do not match their names.
    damaged_packs: list[str] = field(default_factory=list)
    #: Packs that an entry or a generation names and that are not there.
    missing_packs: list[str] = field(default_factory=list)
    #: Generations that fail their check or lost their record, as `job #number`.
    damaged_generations: list[str] = field(default_factory=list)
    #: Entries that point into missing or damaged packs.
    entries_without_pack: int = 0
    #: Packs that no entry names; not damage.
    unnamed_packs: int = 0
    #: What of the store's own records, in its folder and in Redis, was set right.
    mended: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether a run could use everything it would find."""
        damaged = self.damaged_entries or self.damaged_packs or self.missing_packs or self.damaged_generations
        return not (damaged or self.mended)


def verify(store: MemoStore, *, dry_run: bool = False, progress: Progress = no_progress) -> Verified:
    """Check entries, packs and generations; without `dry_run`, drop what is damaged."""
    link, keys = store.session.link, store.keys
    report = Verified(dry_run)
    # Entries before packs: a pack is written before the entry that names it, so none is missing by order of reading.
    census = link.strict(lambda one: take_census(one, keys, store.session.signer, progress))
    good, damaged = _check_packs(store, report, progress)
    needed, lost_heads = _check_generations(store, census, report)
    missing = [pack for pack in {**census.packs, **dict.fromkeys(needed, 0)} if pack not in good]
    bad = {pack.id for pack in damaged}
    report.damaged_packs = sorted(pack.hex() for pack in bad)
    report.missing_packs = sorted(pack.hex() for pack in missing if pack not in bad)
    report.unnamed_packs = len(good - set(census.packs) - needed)
    report.entries = len(census.ids)
    report.damaged_entries = sorted(task.hex() for task in census.damaged)
    numbers = {census.packs[pack] for pack in missing if pack in census.packs}
    hollow = [task for task, packs in zip(census.ids, census.packs_of, strict=True) if not numbers.isdisjoint(packs)]
    report.entries_without_pack = len(hollow)
    if not dry_run and not report.clean:
        link.strict(lambda one: _repair(one, store, census, hollow, lost_heads))
        for pack in damaged:
            # One that was computed again since it was listed is whole.
            store.blobs.delete(pack.id, unless_since=math.nextafter(pack.modified, math.inf))
    return report


def _check_packs(store: MemoStore, report: Verified, progress: Progress) -> tuple[set[bytes], list[Pack]]:
    """Read every pack; the ids of the whole ones, and the damaged ones."""
    good: set[bytes] = set()
    damaged: list[Pack] = []
    listed: list[Pack] = list(store.blobs.scan())
    for pack in listed:
        report.packs += 1
        report.bytes += pack.size
        try:
            store.blobs.check(pack.id)
            good.add(pack.id)
        except PackUnreadable as error:
            # A collection may have deleted it since the listing.
            if error.reason != "missing":
                damaged.append(pack)
        progress("packs", report.packs)
    return good, damaged


def _check_generations(store: MemoStore, census: Census, report: Verified) -> tuple[set[bytes], list[GenerationHead]]:
    """Packs that whole generations need, and the generations that lost a part."""
    needed: set[bytes] = set()
    lost = []
    for head in census.heads:
        report.generations += 1
        parts = [head.part(which, store.blobs) for which in range(3)]
        if any(part is None for part in parts):
            lost.append(head)
            report.damaged_generations.append(f"{head.job} #{head.number}")
            continue
        needed |= {head.pack} if head.pack is not None else set()
        needed.update(split_ids(parts[2] or b""))
    for name in census.damaged_generations:
        report.generations += 1
        report.damaged_generations.append(f"{name[8:].decode(errors='replace')} #{int.from_bytes(name[:8], 'big')}")
    return needed, lost


def _repair(link: Link, store: MemoStore, census: Census, hollow: list[bytes], lost: list[GenerationHead]) -> None:
    keys = store.keys
    seen = {**dict(zip(census.ids, census.epochs, strict=True)), **census.damaged}
    take_out(link, keys, [*census.damaged, *hollow], seen, to_trash=False)
    pipe = link.client.pipeline(transaction=False)
    for name in [*census.damaged_generations, *(field_of(head.job, head.number) for head in lost)]:
        pipe.hdel(keys.generations, name)
        pipe.zrem(keys.numbers_of(name[8:].decode(errors="replace")), int.from_bytes(name[:8], "big"))
    pipe.execute()
