"""Entries that a collection takes out of sight, and how they come back.

Contract: an entry is never simply deleted while a session that may have looked it up still lives. It is moved to a
trash hash, where lookups do not find it but its packs stay protected; a commit that turns out to reuse it brings it
back. A trash hash is dropped once every living session began after it was closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incoop.base.ids import split_ids
from incoop.memo.entry import epoch_of
from incoop.memo.link import Link
from incoop.memo.mending import number
from incoop.memo.redis_keys import RedisKeys
from incoop.memo.wire import FIELDS_PER_COMMAND


def take_out(link: Link, keys: RedisKeys, ids: Sequence[bytes], seen: Mapping[bytes, int], *, to_trash: bool) -> int:
    """Take entries out of sight, into the open trash or for good; how many. `seen` is the epoch at which each was read.

    An entry that was written again since then is put back.
    """
    moved = 0
    for at in range(0, len(ids), FIELDS_PER_COMMAND):
        chunk = list(ids[at : at + FIELDS_PER_COMMAND])
        before = link.client.hmget(keys.entries, chunk)
        held = {task: raw for task, raw in zip(chunk, before, strict=True) if raw is not None}
        if not held:
            continue
        # The copy first: whatever happens next, the entry exists somewhere.
        if to_trash:
            link.client.hset(keys.trash_open, mapping=held)
        pipe = link.client.pipeline(transaction=True)
        pipe.hmget(keys.entries, list(held))
        pipe.hdel(keys.entries, *held)
        now, _ = pipe.execute()
        for task, raw in zip(held, now, strict=True):
            if raw is not None and epoch_of(raw) != seen[task]:
                link.client.hsetnx(keys.entries, task, raw)
            else:
                moved += 1
    return moved


def close_trash(link: Link, keys: RedisKeys) -> int:
    """Number the open trash: sessions that begin from now on cannot have seen what is in it."""
    closed = number(b"%d" % link.client.incr(keys.seq))
    pipe = link.client.pipeline(transaction=True)
    if link.client.exists(keys.trash_open):
        pipe.rename(keys.trash_open, keys.trash(closed))
        pipe.zadd(keys.trashes, {str(closed): closed})
    pipe.set(keys.last_gc, closed)
    pipe.execute()
    return closed


def trash_numbers(link: Link, keys: RedisKeys) -> list[int]:
    return [number(each) for each in link.client.zrange(keys.trashes, 0, -1)]


def drop_trash(link: Link, keys: RedisKeys, which: int) -> None:
    pipe = link.client.pipeline(transaction=True)
    pipe.unlink(keys.trash(which))
    pipe.zrem(keys.trashes, which)
    pipe.execute()


def restore(link: Link, keys: RedisKeys, live: bytes) -> int:
    """Bring back the entries among `live` that are in a trash and not in sight; how many."""
    ids = split_ids(live)
    places = [keys.trash_open, *(keys.trash(each) for each in trash_numbers(link, keys))]
    back = 0
    for place in places:
        if not link.client.exists(place):
            continue
        for at in range(0, len(ids), FIELDS_PER_COMMAND):
            chunk = list(ids[at : at + FIELDS_PER_COMMAND])
            pipe = link.client.pipeline(transaction=False)
            for task, raw in zip(chunk, link.client.hmget(place, chunk), strict=True):
                if raw is not None:
                    pipe.hsetnx(keys.entries, task, raw)
            back += sum(pipe.execute())
    return back
