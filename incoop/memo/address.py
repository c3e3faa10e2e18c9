"""Where Redis is, and how to connect to it.

Contract: an address is a `redis://`, `rediss://` or `unix://` URL as redis-py reads it (user, password, database and
TLS options in the URL). What is shown to people never holds the password.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.retry import Retry

from incoop.base.errors import BadCall
from incoop.memo.errors import RedisUnreachable
from incoop.memo.wire import READ_BYTES, bulk_parser

SCHEMES = ("redis", "rediss", "unix")

#: Seconds to wait for a connection. A server in the same data centre answers in milliseconds.
CONNECT_SECONDS = 5.0

#: Seconds to wait for one reply. Covers a fork for persistence on a large server; longer than that is lost.
REPLY_SECONDS = 20.0


def shown(url: str) -> str:
    """The address without its secrets.

    Example:
        >>> shown("rediss://bob:hunter2@cache.example:6380/3?ssl_ca_certs=ca.pem")
        'rediss://cache.example:6380/3'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def check_address(url: str) -> None:
    """Refuse what is not a Redis address, before anything is created."""
    if urlsplit(url).scheme not in SCHEMES:
        raise BadCall(f"memo={shown(url)!r} is not a Redis address: use redis://, rediss:// or unix://")


def make_pool(url: str, *, reply_seconds: float = REPLY_SECONDS) -> redis.ConnectionPool:
    """A connection pool for the address; nothing is connected yet."""
    try:
        options: dict[str, Any] = parse_url(url)  # type: ignore[no-untyped-call]
    except ValueError as error:
        raise BadCall(f"memo={shown(url)!r} is not a Redis address: {error}") from None
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
