"""Where Redis is, and how to connect to it.

Contract: an address is a `redis://`, `rediss://` or `unix://` URL as redis-py reads it (user, password, database and
TLS options in the URL). What is shown to people never holds the password.
"""

from __future__ import annotations

from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.retry import Retry

from incoop.base.errors import BadCall
from incoop.base.shown import is_clear, shown_address
from incoop.memo.errors import RedisUnreachable
from incoop.memo.wire import READ_BYTES, bulk_parser

SCHEMES = ("redis", "rediss", "unix")

#: Seconds to wait for a connection. A server in the same data centre answers in milliseconds.
CONNECT_SECONDS = 5.0

#: Seconds to wait for one reply. Covers a fork for persistence on a large server; longer than that is lost.
REPLY_SECONDS = 20.0


shown = shown_address


def check_address(url: str) -> None:
    """Refuse what is not a Redis address, before anything is created.

    Also one of which it is not clear what is the password: a part of it would be taken for a host, which errors name.
    """
    if url.partition("://")[0] not in SCHEMES:
        raise BadCall(f"memo={shown(url)!r} is not a Redis address: use redis://, rediss:// or unix://")
    if not is_clear(url):
        raise BadCall(
            f"memo={shown(url)!r} is not understood: characters such as / ? # @ : and blanks in a user's name or "
            "password are written as %-codes (urllib.parse.quote(password, safe='') gives these)."
        )


def make_pool(url: str, *, reply_seconds: float = REPLY_SECONDS) -> redis.ConnectionPool:
    """A connection pool for the address; nothing is connected yet."""
    try:
        options: dict[str, Any] = parse_url(url)  # type: ignore[no-untyped-call]
    except ValueError:  # which may quote a part of the password
        raise BadCall(
            f"memo={shown(url)!r} is not a Redis address: its port, database or an option is not understood"
        ) from None
    # Ours last, so that options in the URL cannot change how values are read. RESP2: plain arrays, no pushes.
    # No retries here: `incoop.memo.link` decides what to repeat.
    options.update(
        protocol=2,
        decode_responses=False,
        socket_timeout=reply_seconds,
        socket_connect_timeout=min(CONNECT_SECONDS, reply_seconds),
        socket_read_size=READ_BYTES,
        retry=Retry(NoBackoff(), 0),
        **bulk_parser(),
    )
    return redis.ConnectionPool(**options)


def unix_url(socket: str) -> str:
    """The address of a unix socket path."""
    from urllib.parse import quote

    return f"unix://{quote(socket)}"


def probe(url: str, *, reply_seconds: float = REPLY_SECONDS) -> None:
    """Say PING; a clear error if nothing answers."""
    pool = make_pool(url, reply_seconds=reply_seconds)
    try:
        redis.Redis(connection_pool=pool).ping()
    except (redis.RedisError, OSError) as error:
        tried = f"PING within {min(CONNECT_SECONDS, reply_seconds):g} s"
        raise RedisUnreachable(shown(url), tried, f"{type(error).__name__}: {error}") from None
    finally:
        pool.disconnect()
