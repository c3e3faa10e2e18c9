"""Messages on a socket between two processes of ours: a length, then bytes.

Contract: a message arrives whole or not at all; None stands for the end, also for one in the middle of a message.
"""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("<Q")

#: What one call of `recv` may give; a message of megabytes comes in pieces of this.
_PIECE = 1 << 20


def send(channel: socket.socket, *parts: bytes) -> None:
    """Send parts as one message."""
    channel.sendall(_LENGTH.pack(sum(map(len, parts))) + b"".join(parts))


def receive(channel: socket.socket, flags: int = 0) -> bytes | None:
    """The next message; with MSG_DONTWAIT, None also where it has not come as a whole."""
    head = _exactly(channel, _LENGTH.size, flags)
    return _exactly(channel, _LENGTH.unpack(head)[0], flags) if head is not None else None


def _exactly(channel: socket.socket, count: int, flags: int) -> bytes | None:
    found = bytearray()
    while len(found) < count:
        try:
            piece = channel.recv(min(count - len(found), _PIECE), flags)
        except (BlockingIOError, ConnectionResetError):
            return None
        if not piece:
            return None
        found += piece
    return bytes(found)
