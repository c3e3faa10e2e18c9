"""Decide what has to run: compare the new tree with the last one and with the memo. Pure: no Spark, Redis or clock.

Contract: a run or node whose id is known is not computed again. Work is done in bulk on id arrays; only nodes that are
not known are looked at one by one.

    (1) chunk runs get ids from code and content (`run_ids`); what the last generation holds of them keeps its
        references (`plan_chunks`); for the rest the caller asks the memo;
    (2) nodes are laid over them (`lay_nodes`), with ids from their children's, and found in the same way;
    (3) what is still missing is to be computed, each node with the node it follows (`needed`, `node_task`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import xxhash

from incoop.base.content_ids import content_id
from incoop.contraction.parts.headers import RunRef
from incoop.contraction.parts.rows import REF_ROW
from incoop.contraction.tree.node import NodeTask
from incoop.contraction.tree.shape import BATCH_BITS, GROUP_BITS, WIDE_BITS, levels
from incoop.engine.stages.map_contract.record import Ids, Level, TreeRecord

Index = npt.NDArray[np.int64]

#: Where a run stands in a tree: its level, and its number there.
Place = tuple[int, int]

#: Shapes of trees: of sums of integers, of combiners that take many keys in one call, of others; one node over all
#: chunks, without a combiner; no node at all.
WIDE, BATCHES, TREE, FLAT, NONE = "sums", "batches", "tree", "flat", "none"

_BITS = {WIDE: WIDE_BITS, BATCHES: BATCH_BITS, TREE: GROUP_BITS}


def run_ids(map_prints: tuple[bytes, ...], mapper_of: npt.NDArray[np.int64], chunk_ids: Ids) -> Ids:
    """The id of each chunk's run: its mapper's print and its content.

    By xxh3, a tenth of the time for a million chunks, although an attacker can compute it: what is hashed is one strong
    id behind 16 fixed bytes. Of that xxh3 makes two words of 64 bits, each of all of the id, so that equal results take
    two contents whose ids agree in both: a birthday of about 2**64 contents, as for the ids themselves. A list of ids
    is another matter: xxh3 adds up what it makes of a list's words, and sums of many small choices can be made equal.
    """
    digest = xxhash.xxh3_128_digest
    ids = [
        digest(map_prints[which] + chunk) for which, chunk in zip(mapper_of.tolist(), chunk_ids.tolist(), strict=True)
    ]
    return _id_array(ids)


def _id_array(ids: list[bytes]) -> Ids:
    return np.frombuffer(b"".join(ids), "V16")


@dataclass(frozen=True, slots=True)
class TreePlan:
    """The new tree, with the references that are known so far. Immutable: who learns more gets another plan."""

    levels: list[Level]
    #: For each level, which runs have a reference.
    known: list[npt.NDArray[np.bool_]]
    #: For each level, the run of the last generation that each one is or follows; -1 for none.
    follows: list[Index]
    old: TreeRecord | None
    #: Which chunks of the last generation are still there.
    kept: npt.NDArray[np.bool_]
    #: For each chunk, where it would have stood in the last generation: as far behind the same neighbour, and as far
    #: before it.
    places: tuple[Index, Index]
    #: Which mapper each chunk's run is of, here and in the last generation.
    mapper_of: tuple[Index, Index]
    #: Where the runs of chunks stand in the last generation; found when it is asked for.
    _old_places: dict[bytes, int] = field(default_factory=dict, compare=False)

    @property
    def chunks(self) -> Level:
        """The runs of chunks."""
        return self.levels[0]

    @property
    def all_chunks_known(self) -> bool:
        return bool(self.known[0].all())

    @property
    def root(self) -> bytes:
        return bytes(self.levels[-1].ids[0])

    @property
    def node_count(self) -> int:
        return sum(len(level.ids) for level in self.levels[1:])

    def id_at(self, place: Place) -> bytes:
        level, index = place
        return bytes(self.levels[level].ids[index])

    def counts(self) -> tuple[tuple[int, int], ...]:
        """Of every level of nodes: how many there are, and how many of them are known."""
        nodes = zip(self.levels[1:], self.known[1:], strict=True)
        return tuple((len(level.ids), int(known.sum())) for level, known in nodes)

    def known_nodes(self) -> Ids:
        """Ids of the nodes that are stored, of all levels."""
        nodes = zip(self.levels[1:], self.known[1:], strict=True)
        return np.concatenate([np.empty(0, "V16"), *(level.ids[known] for level, known in nodes)])

    def unknown(self) -> list[tuple[int, int, bytes]]:
        """(level, index, id) of every run that the last generation does not hold."""
        return [
            (number, int(index), bytes(level.ids[index]))
            for number, level in enumerate(self.levels)
            for index in np.flatnonzero(~self.known[number])
        ]

    def learned(self, refs: Mapping[Place, RunRef]) -> TreePlan:
        """The plan with references that the memo held or tasks just made."""
        levels, known = list(self.levels), list(self.known)
        for number in {level for level, _ in refs}:
            before = levels[number]
            levels[number], known[number] = Level(before.ids, before.refs.copy(), before.ends), known[number].copy()
        for (level, index), ref in refs.items():
            levels[level].refs[index] = ref.row()
            known[level][index] = True
        return replace(self, levels=levels, known=known)

    def needed(self) -> tuple[list[int], list[Place]]:
        """Chunks to map, and nodes to contract, bottom up: all that is not known, so that no tree has gaps."""
        nodes = [
            (number, int(node)) for number in range(1, len(self.levels)) for node in np.flatnonzero(~self.known[number])
        ]
        return np.flatnonzero(~self.known[0]).tolist(), nodes

    def replaced(self, index: int) -> tuple[RunRef, ...]:
        """The runs of the old chunks at the place of a new one, and beside it, as far as they are gone.

        Only those of its own mapper: what another one gave for the same bytes is something else.
        """
        if self.old is None:
            return ()
        refs, (own, others) = self.old.levels[0].refs, self.mapper_of
        near = dict.fromkeys(int(places[index]) + step for step in (0, -1, 1) for places in self.places)
        gone = (at for at in near if 0 <= at < len(others) and not self.kept[at])
        return tuple(RunRef.of_row(refs[at]) for at in gone if others[at] == own[index])

    def old_run(self, id_: bytes) -> RunRef | None:
        """Where the last generation has the run of a chunk; None where it has not."""
        if self.old is None:
            return None
        if not self._old_places:
            self._old_places.update((run, at) for at, run in enumerate(self.old.levels[0].ids.tolist()))
        at = self._old_places.get(id_)
        return RunRef.of_row(self.old.levels[0].refs[at]) if at is not None else None

    def node_task(self, level: int, node: int) -> NodeTask:
        """A node to contract, with the one it follows."""
        children = tuple(self.levels[level - 1].ids[self.levels[level].children(node)].tolist())
        before = int(self.follows[level][node])
        if before < 0 or self.old is None:
            return NodeTask(bytes(self.levels[level].ids[node]), children)
        old, below = self.old.levels[level], self.old.levels[level - 1]
        old_children = tuple(below.ids[old.children(before)].tolist())
        return NodeTask(bytes(self.levels[level].ids[node]), children, bytes(old.ids[before]), old_children)

    def refs_for(self, tasks: list[NodeTask], others: set[bytes]) -> dict[bytes, RunRef]:
        """References of every stored run that these nodes read, and of `others`."""
        wanted = others | {run for task in tasks for run in (*task.children, *task.old_children)}
        wanted |= {task.old_id for task in tasks if task.old_id is not None}
        found: dict[bytes, RunRef] = {}
        # The last generation first: what both trees hold is the same run.
        for tree in ([self.old.levels] if self.old else []) + [self.levels]:
            for level in tree:
                held = level.refs["length"] > 0
                for index in np.flatnonzero(held & among(level.ids, wanted)):
                    found[bytes(level.ids[index])] = RunRef.of_row(level.refs[index])
        return found


def among(ids: Ids, wanted: set[bytes]) -> npt.NDArray[np.bool_]:
    """Which of the ids are wanted."""
    found = np.zeros(len(ids), np.bool_)
    if wanted:
        likely = np.flatnonzero(np.isin(_halves(ids), _halves(_id_array(sorted(wanted)))))
        found[likely] = [id_ in wanted for id_ in ids[likely].tolist()]
    return found


def plan_chunks(ids: Ids, old: TreeRecord | None, mapper_of: Index | None = None) -> TreePlan:
    """The chunk runs, and what the last generation holds of them; nodes are laid over them later."""
    mapper_of = mapper_of if mapper_of is not None else np.zeros(len(ids), np.int64)
    level = Level(ids, np.zeros(len(ids), REF_ROW))
    before = old.levels[0] if old is not None else None
    known, match = _held(level, before)
    if old is None or before is None:
        return TreePlan(
            [level], [known], [match], old, np.empty(0, np.bool_), (match, match), (mapper_of, mapper_of[:0])
        )
    places = _places(match, len(before.ids))
    kept = _match(before.ids, ids) >= 0
    follows = _fill_gaps(match, places[0], len(before.ids))
    return TreePlan([level], [known], [follows], old, kept, places, (mapper_of, old.mapper_of))


def lay_nodes(
    chunks: TreePlan, tails: npt.NDArray[np.uint64], seed: bytes, old: TreeRecord | None, shape: str
) -> TreePlan:
    """Lay a tree over the chunk runs of a plan, and find in the last generation what it holds of it.

    `seed` is the combiner's print, `shape` one of the shapes above, `old` the last generation if its nodes compare.
    """
    tree, known, follows = chunks.levels[:1], chunks.known[:1], chunks.follows[:1]
    for number, ends in enumerate(_groups(tails, shape), 1):
        level = Level(_node_ids(tree[-1].ids, ends, seed), np.zeros(len(ends), REF_ROW), ends)
        before = old.levels[number] if old is not None and number < len(old.levels) else None
        held, match = _held(level, before)
        follows.append(match if before is None else _followed(level, match, follows[-1], before))
        known.append(held)
        tree.append(level)
    return replace(chunks, levels=tree, known=known, follows=follows, old=old)


def _held(level: Level, before: Level | None) -> tuple[npt.NDArray[np.bool_], Index]:
    """Which runs of a level an old one holds, whose references it takes; and where they stand there, -1 for nowhere."""
    if before is None:
        match = np.full(len(level.ids), -1, np.int64)
        return match >= 0, match
    match = _match(level.ids, before.ids)
    held = match >= 0
    level.refs[held] = before.refs[match[held]]
    return held & (level.refs["length"] > 0), match  # a flat root is known, but not stored


def _groups(tails: npt.NDArray[np.uint64], shape: str) -> list[Index]:
    """The group ends of every level."""
    if shape in _BITS:
        return levels(tails, _BITS[shape])
    return [np.array([len(tails)], np.int64)] if shape == FLAT and len(tails) > 1 else []


def _node_ids(below: Ids, ends: Index, seed: bytes) -> Ids:
    data, digest = seed + below.tobytes(), content_id
    bounds = [len(seed), *(len(seed) + 16 * ends).tolist()]
    return _id_array([digest(seed + data[low:high]) for low, high in pairwise(bounds)])


def _match(ids: Ids, among: Ids) -> Index:
    """Where each id stands in `among`, -1 where it does not.

    Most ids stand where they stood: only the others are searched, by their first half. Two ids that share it (never,
    for hashes) are at worst not found, and computed again.
    """
    found = np.full(len(ids), -1, np.int64)
    common = min(len(ids), len(among))
    same = np.flatnonzero(ids[:common] == among[:common])
    found[same] = same
    rest = np.flatnonzero(found < 0)
    if len(rest) and len(among):
        halves = _halves(among)
        order = np.argsort(halves, kind="stable")
        at = np.minimum(np.searchsorted(halves[order], _halves(ids[rest])), len(among) - 1)
        found[rest] = np.where(among[order[at]] == ids[rest], order[at], -1)
    return found


def _halves(ids: Ids) -> npt.NDArray[np.uint64]:
    """The first half of each id, which numpy can order."""
    return np.ascontiguousarray(ids).view(np.uint64)[::2]


def _places(match: Index, old_count: int) -> tuple[Index, Index]:
    """Where chunks would stand among the old ones, counted from the next one before or behind that is still there."""
    here = np.arange(len(match))
    last = np.maximum.accumulate(np.where(match >= 0, here, -1))
    after = np.minimum.accumulate(np.where(match >= 0, here, len(match))[::-1])[::-1]
    from_before = np.where(last >= 0, match[np.maximum(last, 0)], -1) + here - last
    behind = np.append(match, old_count)[after]
    return from_before, behind - (after - here)


def _fill_gaps(match: Index, guess: Index, old_count: int) -> Index:
    """Chunks that are new take the place of the old ones that stood between the same neighbours."""
    filled = match.copy()
    used = np.zeros(old_count + 1, np.bool_)
    used[match[match >= 0]] = True
    fits = (match < 0) & (guess < old_count)
    fits[fits] &= ~used[guess[fits]]
    filled[fits] = guess[fits]
    return filled


def _followed(level: Level, match: Index, below: Index, before: Level) -> Index:
    """For nodes that are new, the old node that most of their children belonged to."""
    follows = match.copy()
    for node in np.flatnonzero(match < 0):
        children = below[level.children(int(node))]
        parents = np.searchsorted(before.ends, children[children >= 0], side="right")
        if len(parents):
            follows[node] = Counter(parents.tolist()).most_common(1)[0][0]
    return follows
