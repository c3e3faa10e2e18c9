"""The ways in which inputs change between two runs. Each is a pure function of the content and a seed.

Contract: whole records stay whole, and the same arguments give the same bytes. `fresh` is content of the same kind that
the input does not hold.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from incoop.inchdfs import ChunkSettings, Splitter

_WORDS_IN_A_LINE = 12


def _line(rng: random.Random) -> bytes:
    return " ".join(f"word{rng.randrange(1000)}" for _ in range(_WORDS_IN_A_LINE)).encode() + b"\n"


def insert_record(content: bytes, seed: int, record: bytes | None = None) -> bytes:
    """One record, of text unless given, inserted in the middle."""
    at = content.index(b"\n", len(content) // 2) + 1
    return content[:at] + (record or _line(random.Random(seed))) + content[at:]


def delete_record(content: bytes, seed: int) -> bytes:
    """One record, somewhere, deleted."""
    start = content.rfind(b"\n", 0, random.Random(seed).randrange(len(content))) + 1
    return content[:start] + content[content.index(b"\n", start) + 1 :]


def replace_region(content: bytes, share: float, fresh: bytes) -> bytes:
    """One region of `share` of the content replaced by as much of `fresh`."""
    start = content.index(b"\n", len(content) // 3) + 1
    end = content.index(b"\n", start + int(len(content) * share)) + 1
    return content[:start] + fresh[: fresh.index(b"\n", end - start - 1) + 1] + content[end:]


def replace_chunks(content: bytes, share: float, fresh: bytes, seed: int) -> bytes:
    """`share` of the chunks, chosen at random, replaced by as much of `fresh`: the change of the Incoop paper.

    At least one chunk is. New content has its own boundaries, so the chunk behind a replaced one may change, too. It is
    taken from `fresh` one stretch after the other, and by the next seed behind that: none of it is there twice while
    there is enough.
    """
    rng = random.Random(seed)
    bounds = boundaries(content)
    chosen = sorted(rng.sample(range(len(bounds) - 1), max(1, round((len(bounds) - 1) * share))))
    at = int(seed * share * len(content)) % len(fresh)
    pieces, position = [], 0
    for start, end in ((bounds[number], bounds[number + 1]) for number in chosen):
        size = end - start
        if len(fresh) <= 2 * size:
            raise ValueError(f"a chunk of {size} bytes needs fresh content of twice its size, not {len(fresh)}.")
        begin = fresh.find(b"\n", at) + 1
        stop = fresh.find(b"\n", begin + size - 1) + 1
        if not begin or not stop:  # behind the end
            begin, stop = 0, fresh.index(b"\n", size - 1) + 1
        pieces += [content[position:start], fresh[begin:stop]]
        position, at = end, stop - 1
    return b"".join([*pieces, content[position:]])


@functools.lru_cache(maxsize=1)
def boundaries(content: bytes) -> list[int]:
    """Where the chunks of a content begin, and its end."""
    chunks = Splitter(ChunkSettings.for_input(len(content))).split_bytes(content)
    return [0, *(chunk.end for chunk in chunks)]


def append(content: bytes, share: float, fresh: bytes) -> bytes:
    """`share` of the content added at its end."""
    return content + fresh[: fresh.index(b"\n", int(len(content) * share)) + 1]


def permute_sections(content: bytes, seed: int, sections: int = 8) -> bytes:
    """The content's large sections in another order."""
    cuts = sorted({content.index(b"\n", len(content) * number // sections) + 1 for number in range(1, sections)})
    bounds = [0, *cuts, len(content)]
    pieces = [content[start:end] for start, end in itertools.pairwise(bounds)]
    rng, order = random.Random(seed), list(range(len(pieces)))
    while len(pieces) > 1 and order == sorted(order):
        rng.shuffle(order)
    return b"".join(pieces[number] for number in order)


def change_every(content: bytes, width: int, seed: int) -> bytes:
    """One record of text changed in every `width` bytes."""
    rng = random.Random(seed)
    pieces, position = [], 0
    for at in range(width // 2, len(content), width):
        start = content.find(b"\n", at) + 1
        end = content.find(b"\n", start) + 1
        if start <= position or end <= start:
            continue
        pieces += [content[position:start], _line(rng)]
        position = end
    return b"".join([*pieces, content[position:]])


def change_records(content: bytes, share: float, fresh: bytes, seed: int) -> bytes:
    """`share` of the records, spread over all of the content, replaced by records of `fresh`: the hard case."""
    rng = np.random.default_rng(seed)
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1
    others = np.flatnonzero(np.frombuffer(fresh, np.uint8) == ord("\n")) + 1
    chosen = np.sort(rng.choice(len(ends), max(1, round(len(ends) * share)), replace=False)).tolist()
    taken = rng.integers(0, len(others) - 1, len(chosen)).tolist()
    pieces, position = [], 0
    for number, other in zip(chosen, taken, strict=True):
        start = int(ends[number - 1]) if number else 0
        pieces += [content[position:start], fresh[others[other] : others[other + 1]]]
        position = int(ends[number])
    return b"".join([*pieces, content[position:]])


class Edit(NamedTuple):
    """Bytes `start` to `end` of a content are replaced by `new`, whole lines all of them."""

    start: int
    end: int
    new: bytes


def scattered_edits(
    content: bytes, count: int, seed: int, renewed: Callable[[bytes, bool, random.Random], bytes]
) -> list[Edit]:
    """So many lines of a sorted list inserted, deleted or edited, everywhere: what a day does to it.

    `renewed` makes a line out of one that is there: a new one beside it, or, when its second argument is true, the same
    with another value. New lines stand where they belong in the order.
    """
    rng = random.Random(seed)
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n")) + 1

    def line(number: int) -> bytes:
        return content[int(ends[number - 1]) if number else 0 : int(ends[number])]

    edits = []
    for number in sorted(rng.sample(range(len(ends)), min(count, len(ends)))):
        start, end = int(ends[number - 1]) if number else 0, int(ends[number])
        kind = rng.choice(("insert", "delete", "edit"))
        if kind == "insert":
            new = renewed(line(number), False, rng)
            place = bisect.bisect_left(range(len(ends)), new, key=line)
            at = int(ends[place - 1]) if place else 0
            edits.append(Edit(at, at, new))
        else:
            edits.append(Edit(start, end, b"" if kind == "delete" else renewed(line(number), True, rng)))
    return sorted(edits)


def edited(content: bytes, edits: list[Edit]) -> bytes:
    pieces, position = [], 0
    for start, end, new in edits:
        pieces += [content[position:start], new]
        position = end
    return b"".join([*pieces, content[position:]])


def difference(old: bytes, new: bytes) -> tuple[int, int]:
    """How many lines came or went, wherever they stand, and their bytes."""
    counts = Counter(new.splitlines(keepends=True))
    counts.subtract(old.splitlines(keepends=True))
    return sum(map(abs, counts.values())), sum(abs(count) * len(line) for line, count in counts.items())
