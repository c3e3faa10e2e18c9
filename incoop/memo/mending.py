"""What Redis holds of a store, set right where it is not what this store writes.

Contract: whoever may write to Redis can cost time, and break nothing for good: `mend` drops what has another type or
another form, and sets counters that cannot be counted on. What is signed (entries, generations) is checked where it is
read, and not here. Called when something was found that no session writes, never on the way of a good run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from incoop.memo.redis_keys import RedisKeys
from incoop.memo.session_record import decode_session

#: A counter beyond this was not counted: one more a microsecond would take 10,000 years. Redis counts to 2**63.
_MOST = 1 << 58


def mend(client: Any, keys: RedisKeys) -> tuple[str, ...]:
    """Look at every key of the store; the names of those that were mended."""
    mended: list[str] = []
    for key in sorted(client.scan_iter(match=keys.namespace + b"*", count=1000)):
        name = key[len(keys.namespace) :]
        kind, check = _rule(name)
        if kind is None:
            continue
        if client.type(key) != kind:
            client.delete(key)
            mended.append(_shown(name))
        elif check is not None and check(client, key):
            mended.append(_shown(name))
    return tuple(mended)


def number(raw: bytes | None) -> int:
    """A counter's value. Raises ValueError for what is none."""
    if raw is None:
        return 0
    if not raw.isdigit() or int(raw[:19]) > _MOST or len(raw) > 19:
        raise ValueError(f"{_shown(raw)} is no number that was counted")
    return int(raw)


def _is_number(raw: bytes) -> bool:
    try:
        number(raw)
    except ValueError:
        return False
    return True


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


Check = Callable[[Any, bytes], bool]


def _counter(client: Any, key: bytes) -> bool:
    """Give a counter that is no number a value above all that it can have had: it counts sessions and collections."""
    if _is_number(client.get(key) or b""):
        return False
    client.set(key, int(time.time()))
    return True


def _drop_fields(bad: Callable[[bytes, bytes], bool]) -> Check:
    def check(client: Any, key: bytes) -> bool:
        gone = [field for field, value in client.hscan_iter(key, count=1000) if bad(field, value)]
        if gone:
            client.hdel(key, *gone)
        return bool(gone)

    return check


def _drop_members(client: Any, key: bytes) -> bool:
    """Members of a sorted set of numbers are the numbers that they are sorted by."""
    gone = [each for each, score in client.zscan_iter(key) if not _is_number(each) or int(each) != score]
    if gone:
        client.zrem(key, *gone)
    return bool(gone)


def _drop_texts(client: Any, key: bytes) -> bool:
    gone = [each for each in client.sscan_iter(key) if not _is_text(each)]
    if gone:
        client.srem(key, *gone)
    return bool(gone)


def _drop_unless_text(client: Any, key: bytes) -> bool:
    if _is_text(client.get(key) or b""):
        return False
    client.delete(key)
    return True


def _unread_session(field: bytes, value: bytes) -> bool:
    return not _is_text(field) or decode_session(value) is None


#: By the key's name behind the namespace, up to its first colon: its type, and what sets its content right.
_RULES: dict[bytes, tuple[bytes, Check | None]] = {
    b"entries": (b"hash", _drop_fields(lambda field, _: len(field) != 16)),
    b"meta": (b"hash", None),
    b"seq": (b"string", _counter),
    b"last-gc": (b"string", _counter),
    b"generations": (b"hash", _drop_fields(lambda field, _: len(field) < 8 or not _is_text(field[8:]))),
    b"numbers": (b"hash", _drop_fields(lambda field, value: not _is_number(value))),
    b"jobs": (b"set", _drop_texts),
    b"sessions": (b"hash", _drop_fields(_unread_session)),
    b"trash": (b"hash", _drop_fields(lambda field, _: len(field) != 16)),
    b"trashes": (b"zset", _drop_members),
    b"gc": (b"string", _drop_unless_text),
    b"job": (b"zset", _drop_members),
    b"count": (b"hash", _drop_fields(lambda field, value: not _is_number(value))),
    b"alive": (b"string", None),
}


def _rule(name: bytes) -> tuple[bytes | None, Check | None]:
    return _RULES.get(name.partition(b":")[0], (None, None))


def _shown(name: bytes) -> str:
    return name[:60].decode("utf-8", "backslashreplace")
