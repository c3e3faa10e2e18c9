"""A part in which some keys changed: a few blocks written anew, or the changes kept beside them, or all of it.

Contract: whichever is chosen, the part reads as one that was written from scratch. The choice costs the least
writing now that does not make later reading cost much more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incoop.contraction.columns.keys import Hashes
from incoop.contraction.columns.run import Run
from incoop.contraction.columns.shards import block_numbers
from incoop.contraction.columns.sorted_sets import difference
from incoop.contraction.columns.splice import replaced_keys
from incoop.contraction.parts import write
from incoop.contraction.parts.blocks import write_block
from incoop.contraction.parts.overlay import Overlay
from incoop.contraction.parts.packs import PackBuilder
from incoop.contraction.parts.part import Part
from incoop.contraction.parts.rows import OWN_PACK, Rows
from incoop.contraction.parts.write import bits_for, kind_of_sums, write_part, write_part_header

#: An overlay is begun for changes of at most this share of the keys in the blocks that they fall in ...
_THIN = 1 / 4

#: ... and merged into the blocks when it has grown to this share of the part: readers look at that much more, and an
#: update of a hundredth of the input writes a part anew about once in ten times (bench/bench_updates.py).
_LARGEST = 1 / 4


def rewrite_part(
    old: Part, changed: Hashes, fresh: Run, held: int, pack: PackBuilder
) -> tuple[tuple[Any, ...], list[bytes]]:
    """A part in which the pairs of the sorted `changed` hashes, of which it has `held`, are those of `fresh`.

    Returns its SHARD_ROW, and the older packs that it refers to; none where it was written anew.

    (1) A part that gets too many or too few blocks for its size is written anew.
    (2) Where many blocks change in few of their keys, or there is an overlay already, the change goes there; when that
        has become too large, the part is written anew. Of a chunk's run blocks always stay: its leaves name their rows.
    (3) Else the blocks that a changed hash falls in are read and written, one by one: a block fits in a processor's
        cache. All others stay where they are.
    """
    keys = old.keys - held + len(fresh)
    if bits_for(keys, old.whole_run) == old.bits:  # else step (1)
        numbers = old.touched(changed, old.bits)[0]
        if old.whole_run or len(old.over) or _spread(old, numbers, changed):  # step (2)
            overlay = _overlaid(old, changed, fresh, keys, pack)
            if overlay is not None:
                rows, over, overlaid = overlay
                return _written(old, rows, over, overlaid, keys, fresh, pack)
        else:
            return _written(old, _blocks(old, numbers, changed, fresh, pack), old.over, 0, keys, fresh, pack)
    return write_part(replaced_keys(old.whole(), changed, fresh), old.shard_bits, pack, old.whole_run), []


def _spread(old: Part, numbers: list[int], changed: Hashes) -> bool:
    """Whether a change touches several blocks, or the only one, and few of the keys in them.

    With fewer keys than a smallest block they are written anew: a millisecond, and nothing is left to be merged later.
    """
    near = old.keys * len(numbers) / (1 << old.bits)
    several = len(numbers) > 1 or not old.bits
    return several and near >= write.KEYS_PER_BLOCK and len(changed) <= near * _THIN


def _blocks(old: Part, numbers: list[int], changed: Hashes, fresh: Run, pack: PackBuilder) -> Rows:
    """The part's rows, with the blocks of these numbers written anew."""
    _, lows, highs = old.touched(changed, old.bits)
    places = block_numbers(fresh.hashes, old.shard_bits, old.bits)
    begins, ends = (np.searchsorted(places, numbers, side=side).tolist() for side in ("left", "right"))
    rows = old.rows.copy()
    for number, low, high, begin, end in zip(numbers, lows, highs, begins, ends, strict=True):
        block = replaced_keys(old.written([number]), changed[low:high], fresh.slice(begin, end))
        rows[number] = write_block(block, len(old.packs), pack)
    return rows


def _overlaid(old: Part, changed: Hashes, fresh: Run, keys: int, pack: PackBuilder) -> tuple[Rows, Rows, int] | None:
    """The part's rows, those of its new overlay, and how much that decides; None when it would be too large.

    Of an overlay that keeps its number of blocks, those that no changed hash falls in stay.
    """
    bits, numbers = old.over_bits, []
    if len(old.over):
        numbers = old.touched(changed, bits)[0]
        before = old.overlay(numbers)
        after = before.updated(changed, fresh)
        size = old.overlaid + len(after) - len(before)
    else:
        after = Overlay(difference(changed, fresh.hashes), fresh)
        size = len(after)
    if size > keys * _LARGEST:
        return None
    if bits_for(size) == bits:
        over = old.over.copy()
    else:
        bits = bits_for(size)
        after = old.overlay().updated(changed, fresh) if len(old.over) else after
        numbers = list(range(1 << bits))
        over = np.zeros(1 << bits, old.rows.dtype)
    for number, block in zip(numbers, after.cut(old.shard_bits, bits, numbers), strict=True):
        over[number] = write_block(block, len(old.packs), pack)
    return old.rows.copy(), over, size


def _written(
    old: Part, rows: Rows, over: Rows, overlaid: int, keys: int, fresh: Run, pack: PackBuilder
) -> tuple[tuple[Any, ...], list[bytes]]:
    every = np.concatenate([rows, over])
    packs, every["pack"] = _used_packs([*old.packs, OWN_PACK], every)
    sums = min(old.sums, kind_of_sums(fresh))
    row = write_part_header(old.bits, keys, packs, every, pack, sums, len(over), overlaid, old.whole_run)
    return row, [each for each in packs if each != OWN_PACK]


def _used_packs(packs: list[bytes], rows: Rows) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """The packs that rows still refer to, and the rows' places among them."""
    used, places = np.unique(rows["pack"], return_inverse=True)
    return [packs[number] for number in used.tolist()], places
