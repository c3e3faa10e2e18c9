"""The session's line to Redis: repeats once, then degrades.

Contract: `attempt` never raises because of Redis. A broken line is repaired once (a private server is started again);
if that fails, one `DidLoseRedis` is emitted and every further call gives its `otherwise` at once, until `renew`.
A refused command (disk full, out of memory) gives `otherwise` with `DidDropWrite`, and the line stays in use. What no
session writes (a key of another type, a number that is none) is mended once (`DidMendRedis`), and the call repeated.
`strict` is for maintenance, where a wrong "nothing there" would delete things: it raises `RedisUnreachable`.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import redis
from redis.exceptions import RedisError, ResponseError

from incoop.memo.address import make_pool, shown
from incoop.memo.errors import MemoError, RedisDamaged, RedisUnreachable
from incoop.memo.events import DidDropWrite, DidLoseRedis, DidMendRedis, EventLog
from incoop.memo.mending import mend
from incoop.memo.redis_keys import RedisKeys
from incoop.memo.wire import Wire

T = TypeVar("T")

#: Seconds before the one repetition on a server that is not ours: long enough for a restart behind a proxy to refuse
#: cleanly, short enough not to be felt.
REPEAT_PAUSE = 0.1


#: What reading something raises that no session wrote: a number that is none, text that is none, another structure.
_NOT_OURS = (ValueError, TypeError, KeyError, struct.error)


def _of_content(refused: ResponseError) -> bool:
    """Whether Redis refused a command for what a key holds, and not for the state that it is in."""
    said = str(refused)
    return any(
        sign in said for sign in ("WRONGTYPE", "not an integer", "overflow", "not a valid float", "not an float")
    )


class Link:
    """Client and bulk connection to one address, with the rule for what happens when it breaks."""

    def __init__(
        self,
        url: str,
        events: EventLog,
        keys: RedisKeys,
        *,
        revive: Callable[[str], str] | None = None,
        reply_seconds: float,
    ) -> None:
        self._events = events
        self._keys = keys
        self._revive = revive
        self._reply_seconds = reply_seconds
        self._guard = threading.RLock()
        self.lost = False
        self._told: set[str] = set()
        self._use(url)

    def _use(self, url: str) -> None:
        self.url = url
        self._pool = make_pool(url, reply_seconds=self._reply_seconds)
        # redis-py types every reply as a union of what any setting could give.
        self.client: Any = redis.Redis(connection_pool=self._pool)
        self.wire = Wire(self._pool)

    def attempt(self, what: str, call: Callable[[Link], T], otherwise: T) -> T:
        """The call's answer, or `otherwise` when Redis is lost or refuses."""
        if self.lost:
            return otherwise
        try:
            return self._mended(call)
        except (ResponseError, *_NOT_OURS) as refused:
            self._tell_refusal(what, str(refused))
        except (RedisError, OSError, MemoError) as error:
            with self._guard:
                if not self.lost:
                    self.lost = True
                    self._events.emit(DidLoseRedis(shown(self.url), f"{type(error).__name__}: {error}"))
        return otherwise

    def _tell_refusal(self, what: str, cause: str) -> None:
        """One warning for each kind of refusal (its first word) and generation: a full disk refuses every write."""
        kind = next((word for word in cause.split() if word.isupper() and len(word) > 2), cause)
        if kind not in self._told:
            self._told.add(kind)
            self._events.emit(DidDropWrite(what, cause))

    def strict(self, call: Callable[[Link], T]) -> T:
        """The call's answer, or an error: for work that must not mistake silence for emptiness."""
        try:
            return self._mended(call)
        except (ResponseError, *_NOT_OURS) as error:
            raise RedisDamaged(shown(self.url), f"{type(error).__name__}: {error}") from error
        except (RedisError, OSError) as error:
            raise RedisUnreachable(shown(self.url), "twice", f"{type(error).__name__}: {error}") from error

    def mend(self) -> tuple[str, ...]:
        """Set right what this store would not have written; the names of the keys."""
        if mended := mend(self.client, self._keys):
            self._events.emit(DidMendRedis(mended))
        return mended

    def _mended(self, call: Callable[[Link], T]) -> T:
        """The call's answer; once more when it met what no session writes, and that could be mended."""
        try:
            return self._twice(call)
        except (ResponseError, *_NOT_OURS) as met:
            if isinstance(met, ResponseError) and not _of_content(met):
                raise
            with self._guard:
                if not self._twice(lambda link: link.mend()):
                    raise
            return self._twice(call)

    def _twice(self, call: Callable[[Link], T]) -> T:
        used = self.client
        try:
            return call(self)
        except ResponseError:
            raise
        except (RedisError, OSError) as error:
            with self._guard:
                # Another thread may have repaired the line meanwhile.
                if self.client is used:
                    self._repair(error)
            return call(self)

    def _repair(self, error: Exception) -> None:
        self.disconnect()
        url = self.url
        if self._revive is not None:
            url = self._revive(f"{type(error).__name__}: {error}")
        else:
            time.sleep(REPEAT_PAUSE)
        self._use(url)

    def renew(self) -> None:
        """Try again after a loss; quiet if it still fails, because the loss was already told."""
        with self._guard:
            self._told.clear()
            if not self.lost:
                return
            try:
                self._twice(lambda link: link.client.ping())
            except (RedisError, OSError, MemoError):
                return
            self.lost = False

    def disconnect(self) -> None:
        self.wire.close()
        self._pool.disconnect()
