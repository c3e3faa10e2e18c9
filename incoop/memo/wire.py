"""Bulk commands to Redis: many 16-byte fields of one hash in one round trip.

Contract: the same bytes go over the same redis-py connection as `pipeline().hmget/hset` would send, in less Python
time. All commands of a call are sent before the first reply is read, and replies are handed out as they come, so the
caller decodes one chunk while the server prepares the next. Any error closes the connection: no stale replies.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import redis
from redis.exceptions import ResponseError

#: Fields in one command: large enough that its overhead vanishes, small enough that the server answers other clients
#: in between (10,000 lookups block it for about 5 ms) and that decoding overlaps with the server's work.
FIELDS_PER_COMMAND = 10_000

#: Bytes for each read of the socket. The client's default of 64 KiB is as fast on a unix socket.
READ_BYTES = 1 << 18


def bulk_parser() -> dict[str, Any]:
    """Connection options that parse arrays of bulk strings in a tight loop, where the installed client allows it.

    redis-py without hiredis takes about 2 microseconds for each bulk string, most of it call overhead. With hiredis,
    or a client whose parser is built differently, its own parser is used.
    """
    try:
        from redis._parsers.resp2 import _RESP2Parser
        from redis.connection import DefaultParser
    except ImportError:
        return {}
    if DefaultParser is not _RESP2Parser and "hiredis" in DefaultParser.__module__:
        return {}
    return {"parser_class": _bulk_parser_class(_RESP2Parser)}


def _bulk_parser_class(base: Any) -> type:
    class BulkParser(base):  # type: ignore[misc]
        """RESP2, with a fast path for `*N` of `$len` strings; anything else goes to the base class."""

        def _read_response(self, disable_decoding: bool = False, **options: Any) -> Any:
            lines = self._buffer
            stream = getattr(lines, "_buffer", None)
            if stream is None or not disable_decoding:
                return super()._read_response(disable_decoding=disable_decoding, **options)
            header = lines.readline(**options)
            if not header.startswith(b"*") or header == b"*-1":
                stream.seek(-len(header) - 2, os.SEEK_CUR)
                return super()._read_response(disable_decoding=True, **options)
            out: list[Any] = []
            add, readline, read = out.append, stream.readline, stream.read
            # Most elements of an array have one of a few lengths: remember what their first lines mean.
            lengths: dict[bytes, int] = {}
            for _ in range(int(header[1:])):
                line = readline()
                wanted = lengths.get(line)
                if wanted is None and line[:1] == b"$" and line[-2:] == b"\r\n":
                    wanted = lengths[line] = int(line[1:-2]) + 2
                if wanted == 1:  # $-1: no such field
                    add(None)
                    continue
                if wanted is not None:
                    data = read(wanted)
                    if len(data) == wanted:
                        add(data[:-2])
                        continue
                    stream.seek(-len(data), os.SEEK_CUR)
                # The buffer ends inside this element (or it is no bulk string): let the base class wait for the rest.
                stream.seek(-len(line), os.SEEK_CUR)
                add(super()._read_response(disable_decoding=True, **options))
            return out

    return BulkParser


class Wire:
    """One connection for bulk commands, safe to share between threads and across a fork."""

    def __init__(self, pool: redis.ConnectionPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._connection: Any = None
        self._owner = 0

    def hmget(self, key: bytes, fields: Sequence[bytes], receive: Callable[[int, list[bytes | None]], None]) -> None:
        """Read fields of a hash; `receive(start, values)` is called for each chunk, in order."""
        chunks = [(at, fields[at : at + FIELDS_PER_COMMAND]) for at in range(0, len(fields), FIELDS_PER_COMMAND)]
        commands = [
            b"*%d\r\n$5\r\nHMGET\r\n$%d\r\n%b\r\n$16\r\n%b\r\n"
            % (len(chunk) + 2, len(key), key, b"\r\n$16\r\n".join(chunk))
            for _, chunk in chunks
        ]
        for (start, _), values in zip(chunks, self._exchange(commands), strict=True):
            receive(start, values)

    def hset(self, key: bytes, chunks: Iterable[tuple[Sequence[bytes], Sequence[bytes]]]) -> None:
        """Write fields of a hash, given as chunks of (fields, values); one chunk is made while the last is applied."""
        for _ in self._exchange(self._hset_commands(key, chunks)):
            pass

    @staticmethod
    def _hset_commands(key: bytes, chunks: Iterable[tuple[Sequence[bytes], Sequence[bytes]]]) -> Iterator[bytes]:
        for fields, values in chunks:
            pairs = [
                b"$16\r\n%b\r\n$%d\r\n%b\r\n" % (field, len(value), value)
                for field, value in zip(fields, values, strict=True)
            ]
            yield b"*%d\r\n$4\r\nHSET\r\n$%d\r\n%b\r\n%b" % (2 * len(pairs) + 2, len(key), key, b"".join(pairs))

    def _exchange(self, commands: Iterable[bytes]) -> Iterator[Any]:
        """Send all commands, then yield each reply. The first error reply is raised once all replies are read.

        Replies wait in the server's buffer until every command is sent, so this cannot deadlock.
        """
        refused: ResponseError | None = None
        with self._lock:
            connection = self._connected()
            clean = False
            try:
                sent = 0
                for command in commands:
                    connection.send_packed_command([command])
                    sent += 1
                for _ in range(sent):
                    try:
                        reply = connection.read_response(disable_decoding=True)
                    except ResponseError as error:
                        refused = refused or error
                        continue
                    if refused is None:
                        yield reply
                clean = True
            finally:
                if not clean:
                    connection.disconnect()
        if refused is not None:
            raise refused

    def _connected(self) -> Any:
        if self._connection is None or self._owner != os.getpid():
            # After a fork the parent's socket is not ours to use, nor to close.
            self._connection, self._owner = self._pool.make_connection(), os.getpid()
        return self._connection

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.disconnect()
            self._connection = None
