"""What a session says of itself in Redis.

Contract: `decode_session` gives what `encode` wrote, or None: whoever may write to Redis can write anything there.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What the collector must know about a session."""

    id: str
    host: str
    pid: int
    #: Position in the store's sequence: entries from here on are its own, or newer than what it may have seen.
    since: int
    #: When it entered, by the clock of the store's filesystem.
    entered: float
    #: (job, number) of the generations it holds.
    pins: tuple[tuple[str, int], ...] = ()
    #: (job, number) of the generations it has begun and not committed.
    active: tuple[tuple[str, int], ...] = ()

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def decode_session(raw: bytes) -> SessionRecord | None:
    try:
        found = json.loads(raw)
        for key in ("pins", "active"):
            found[key] = tuple((str(job), int(number)) for job, number in found[key])
        record = SessionRecord(**found)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    numbers = isinstance(record.since, int) and isinstance(record.entered, int | float) and isinstance(record.pid, int)
    return record if numbers and isinstance(record.id, str) and isinstance(record.host, str) else None
