"""Contract one shard of one node: combine its children's parts, or update the predecessor's for what changed.

Contract: the part equals the one that combining all children from scratch gives, to the byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from incoop.base.errors import IncoopError
from incoop.contraction.columns.by_hash import changed_hashes, rows_with
from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import EMPTY, Run
from incoop.contraction.columns.sorted_sets import distinct_numbers, member
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import PackBuilder, PendingReader, Reader
from incoop.contraction.parts.part import ChunkRuns, Part, Shard, differing_pairs, shard_part
from incoop.contraction.parts.rewrite import rewrite_part
from incoop.contraction.parts.rows import COUNTS, OTHER, as_row
from incoop.contraction.parts.write import write_part
from incoop.contraction.tree.alignment import replaced
from incoop.contraction.tree.combine import Combiner
from incoop.contraction.tree.folds import Fold
from incoop.contraction.tree.sums import Delta, appeared, sums_at, together, vanished

_NOTHING = np.empty(0, np.uint64)

#: Updating a key costs about three times what combining it from scratch does: more changed keys than this share of the
#: old node's, and the node is combined from scratch. An estimate; docs/decisions/0002-update-or-combine.md.
_MANY_KEYS = 1 / 3

#: Finding a child's changed keys costs reading two runs: with more new children than this share, it is not tried.
#: An estimate, from the same place.
_MOST_CHILDREN = 1 / 2

#: Sums are updated while that looks at no more than this many times the keys that combining all children looks at.
_ADDED_KEYS = 1.0

#: With fewer changed children than this share that is taken for granted.
_SURELY_FEW = 1 / 8

#: Sums of more children are made in portions: the keys of a shard of a thousand chunks need not fit in memory.
_AT_ONCE = 64


class NotIntegers(IncoopError):
    """Values of a sum that are no integers, or keys that are no plain ones: sums that cannot be updated by addition."""


@dataclass(frozen=True, slots=True)
class NodeTask:
    """A node to contract. Runs are named by their ids."""

    id: bytes
    children: tuple[bytes, ...]
    #: The node of the last generation that this one follows, and its children; None to combine from scratch.
    old_id: bytes | None = None
    old_children: tuple[bytes, ...] = ()


@dataclass(slots=True)
class ShardContraction:
    """The tree of one shard, bottom up. `rows` has the SHARD_ROW of every run that is stored already."""

    shard: int
    shards: int
    rows: dict[bytes, Any]
    #: For each run, the older packs that its part refers to, packed.
    refs: dict[bytes, bytes]
    combiner: Combiner
    reader: Reader
    pack: PackBuilder
    #: Whether nodes have so many children that only sums of integers are to be contracted so.
    wide: bool = False
    #: Runs of chunks, which hold all shards, read once for several of them.
    runs: ChunkRuns = field(default_factory=ChunkRuns)
    #: Parts that were computed, and parts taken over after their children were found to have changed nothing.
    executed: int = 0
    #: For runs of sums, how an old one became a new one, as far as it is known.
    deltas: dict[tuple[bytes, bytes], Delta] = field(default_factory=dict)
    #: For nodes that were updated, the pairs of the keys that changed.
    _fresh: dict[tuple[bytes, bytes], Run] = field(default_factory=dict)
    _parts: dict[bytes, Shard] = field(default_factory=dict)
    _changes: dict[tuple[bytes, bytes], Hashes] = field(default_factory=dict)

    @property
    def shard_bits(self) -> int:
        """How many leading bits of a hash name the shard."""
        return self.shards.bit_length() - 1

    def begin(self, task: NodeTask) -> Hashes | None:
        """Compute one node's part; its children are stored or were contracted before.

        (1) Without a predecessor, or where most children are new, all children are combined. A node of sums is updated
            by what was added to its children and taken from them, the others are not read.
        (2) Else the changed keys of the children that differ are found (many of them: combine all, too), and given;
        (3) only those are to be combined again, from all children: for all shards at once (node_of_shards.py),
        (4) and given to `finish`. Those that come out as they were are dropped: when none is left, the climb ends here.
        """
        if task.old_id is None or not all(run in self.rows for run in (task.old_id, *task.old_children)):
            self._combine_all(task)  # step (1)
            return None
        kind = self._kind_by_changes(task)
        if self._add_up(task, kind):
            return None
        if self._mostly_new(task):
            self._combine_all(task)
            return None
        changed = self.changed_below(task)  # step (2)
        if not len(changed):
            self._take_over(task, kind)
            return None
        if len(changed) > self._node(task.old_id).keys * _MANY_KEYS:
            self._combine_all(task)
            return None
        return changed

    def finish(self, task: NodeTask, changed: Hashes, fresh: Run) -> None:
        """Update the predecessor: the pairs of these hashes, which may be as they were, are those of `fresh`."""
        assert task.old_id is not None
        kind, old = self._kind_by_changes(task), self._node(task.old_id)
        before = old.select(changed)
        really = changed_hashes(before, fresh)  # step (4)
        self.executed += 1
        if not len(really):
            self._take_over(task, kind)
            return
        kept = fresh.take(rows_with(fresh, really))
        held = len(before.take(rows_with(before, really)))
        row, packs = rewrite_part(old, really, kept, held, self.pack)
        self.rows[task.id], self.refs[task.id] = _of_kind(as_row(row), kind), b"".join(packs)
        self._changes[task.old_id, task.id], self._fresh[task.old_id, task.id] = really, kept

    def _add_up(self, task: NodeTask, kind: int) -> bool:
        """Update a node of sums; False when its sums cannot be updated by addition, or that would cost more."""
        assert task.old_id is not None
        if self.combiner.fold is not Fold.SUM or kind == OTHER:
            return False
        pairs = self._differing(task)
        if self._costs_more(task, pairs):
            return False
        changed = [delta for old, new in pairs for delta in self._deltas_of(old, new)]
        if not changed:
            self._take_over(task, kind)
            return True
        delta = together([each for each in changed if each is not None]) if None not in changed else None
        if delta is not None and not len(delta):
            self._take_over(task, kind)
            return True
        sums = sums_at(self._part(task.old_id).select(delta.hashes), delta) if delta is not None else None
        if delta is None or sums is None:
            return False
        there = sums.after != 0
        if kind != COUNTS and len(doubtful := sums.in_doubt()):
            there |= member(delta.hashes, self.combiner.combine(self._selected(task, doubtful)).hashes)
        self.executed += 1
        self.combiner.calls += int(np.count_nonzero(sums.held))
        change, fresh = sums.outcome(there)
        if not len(change):
            self._take_over(task, kind)
            return True
        held = len(fresh) - int(change.holders.sum())
        row, packs = rewrite_part(self._node(task.old_id), change.hashes, fresh, held, self.pack)
        self.rows[task.id], self.refs[task.id] = _of_kind(as_row(row), kind), b"".join(packs)
        self._changes[task.old_id, task.id], self.deltas[task.old_id, task.id] = change.hashes, change
        self._fresh[task.old_id, task.id] = fresh
        return True

    def _differing(self, task: NodeTask) -> list[tuple[bytes | None, bytes | None]]:
        """The children that changed: what was there, and what is now."""
        stretches = replaced(task.old_children, task.children)
        gone = Counter(old for stretch, _ in stretches for old in stretch)
        pairs: list[tuple[bytes | None, bytes | None]] = []
        others: list[bytes] = []
        # A sum does not depend on the order of its children; of some it is known how one became the other.
        base = {new: old for old, new in self.deltas}
        for new in (new for _, stretch in stretches for new in stretch):
            if gone[old := base.get(new, b"")]:
                gone[old] -= 1
                pairs.append((old, new))
            else:
                others.append(new)
        pairs += zip_longest(gone.elements(), others)
        return [
            (old, new)
            for old, new in pairs
            if old is None or new is None or self.rows[old]["content"] != self.rows[new]["content"]
        ]

    def _kind_by_changes(self, task: NodeTask) -> int:
        """What is known of the values of all children: the old node's row says it of those that it had."""
        came = [child for _, stretch in replaced(task.old_children, task.children) for child in stretch]
        return min(int(self.rows[task.old_id]["sums"]), self._kind(came)) if task.old_id is not None else OTHER

    def _kind(self, children: Sequence[bytes]) -> int:
        """What is known of the values of all these children."""
        kind = min((int(self.rows[child]["sums"]) for child in children), default=COUNTS)
        if kind == OTHER and self.wide:
            raise NotIntegers
        return kind

    def _costs_more(self, task: NodeTask, pairs: list[tuple[bytes | None, bytes | None]]) -> bool:
        """Whether adding up what changed looks at more keys than combining all children."""
        if len(pairs) < len(task.children) * _SURELY_FEW:
            return False  # without asking every child for its keys
        return self._keys_to_add(pairs) > sum(int(self.rows[child]["keys"]) for child in task.children) * _ADDED_KEYS

    def _keys_to_add(self, pairs: list[tuple[bytes | None, bytes | None]]) -> int:
        total = 0
        for old, new in pairs:
            known = self.deltas.get((old, new)) if old is not None and new is not None else None
            total += len(known) if known is not None else sum(int(self.rows[run]["keys"]) for run in (old, new) if run)
        return total

    def _deltas_of(self, old: bytes | None, new: bytes | None) -> list[Delta | None]:
        """What one child adds, and what it takes away."""
        if old is None or new is None:
            return [vanished(self._part(run).whole()) for run in (old,) if run] + [
                appeared(self._part(run).whole()) for run in (new,) if run
            ]
        if (old, new) in self.deltas:
            return [self.deltas[old, new]]
        before, after = differing_pairs(self._part(old), self._part(new))
        return [vanished(before), appeared(after)]

    def _selected(self, task: NodeTask, hashes: Hashes) -> list[Run]:
        return [self._part(child).select(hashes) for child in task.children]

    def _combine_all(self, task: NodeTask) -> None:
        """Combine all children from scratch; compare with the predecessor, if there is one."""
        kind = self._kind(task.children)
        whole = self._combined(task.children, kind)
        self.executed += 1
        row = write_part(whole, self.shard_bits, self.pack)
        self.rows[task.id], self.refs[task.id] = _of_kind(as_row(row), kind), b""
        if task.old_id in self.rows and self.rows[task.old_id]["content"] == self.rows[task.id]["content"]:
            self._take_over(task, kind)

    def _combined(self, children: Sequence[bytes], kind: int) -> Run:
        if kind == OTHER or self.combiner.fold is not Fold.SUM or len(children) <= _AT_ONCE:
            return self.combiner.combine([self._part(child).whole() for child in children])
        portions = (children[at : at + _AT_ONCE] for at in range(0, len(children), _AT_ONCE))
        return self.combiner.combine([self._combined(portion, kind) for portion in portions])

    def _mostly_new(self, task: NodeTask) -> bool:
        """Whether finding what changed in the children would cost more than combining them."""
        new = sum(not self._is_known(gone, come) for gone, come in self._pairs(task) if come is not None)
        return bool(new > len(task.children) * _MOST_CHILDREN)

    def _is_known(self, old: bytes | None, new: bytes) -> bool:
        """Whether it is known how an old child became a new one."""
        return old is not None and ((old, new) in self._changes or self._alike(old, new))

    def _alike(self, old: bytes, new: bytes) -> bool:
        return bool(self.rows[old]["content"] == self.rows[new]["content"])

    def learn(self, old: bytes, new: bytes, change: Overlay) -> None:
        """Take in how an old run became a new one."""
        self._changes[old, new], self._fresh[old, new] = change.changed, change.fresh

    def changes(self, old: bytes, new: bytes) -> Hashes:
        """Hashes of the keys in which two runs differ."""
        if old == new or self._alike(old, new):
            return _NOTHING
        if (old, new) not in self._changes:
            self._changes[old, new] = changed_hashes(*differing_pairs(self._part(old), self._part(new)))
        return self._changes[old, new]

    def changed_pairs(self, old: bytes, new: bytes) -> tuple[Hashes, Run]:
        """The keys in which two runs differ, and the pairs that the new one has of them."""
        changed = self.changes(old, new)
        if not len(changed):
            return changed, EMPTY
        fresh = self._fresh.get((old, new))
        return changed, self._part(new).select(changed) if fresh is None else fresh

    def part(self, run: bytes) -> Shard:
        """The part of a run in this shard."""
        return self._part(run)

    def _take_over(self, task: NodeTask, kind: int) -> None:
        assert task.old_id is not None
        self.rows[task.id] = _of_kind(self.rows[task.old_id].copy(), kind)
        self.refs[task.id] = self.refs[task.old_id]
        self._changes[task.old_id, task.id] = _NOTHING

    def changed_below(self, task: NodeTask) -> Hashes:
        """Hashes whose sequence of values over the children may differ from the predecessor's."""
        found: list[Hashes] = []
        for old, new in self._pairs(task):
            if old is not None and new is not None:
                found.append(self.changes(old, new))
            else:
                found += [self._part(run).whole().hashes for run in (old, new) if run is not None]
        return distinct_numbers(np.concatenate(found)) if found else _NOTHING

    def _pairs(self, task: NodeTask) -> list[tuple[bytes | None, bytes | None]]:
        """The children that differ: what was there, and what is now in its place, in order.

        Of one that is known to have come from another, that one; others by their place among those between.
        """
        base = {new: old for old, new in self._changes}
        found: list[tuple[bytes | None, bytes | None]] = []
        for gone, come in replaced(task.old_children, task.children):
            here = there = 0
            for at, new in enumerate(come):
                if (old := base.get(new)) is not None and old in gone[here:]:
                    place = gone.index(old, here)
                    found += zip_longest(gone[here:place], come[there:at])
                    found.append((old, new))
                    here, there = place + 1, at + 1
            found += zip_longest(gone[here:], come[there:])
        return found

    def _part(self, run: bytes) -> Shard:
        if run not in self._parts:
            reader = PendingReader(self.reader, self.pack)
            self._parts[run] = shard_part(self.rows[run], self.shard, self.shards, reader, self.runs)
        return self._parts[run]

    def _node(self, run: bytes) -> Part:
        """The part of a run that is a node."""
        part = self._part(run)
        assert isinstance(part, Part)
        return part


def _of_kind(row: Any, kind: int) -> Any:
    """A SHARD_ROW that promises no more of a node's values than holds for all of its children's."""
    row["sums"] = min(int(row["sums"]), kind)
    return row
