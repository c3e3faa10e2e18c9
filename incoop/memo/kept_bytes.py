"""Bytes that a way in keeps in the store's folder between commands, for what would be worked out again without them.

Contract: `read` gives what `write` was given last under the same name and secret, or None: for a file that is not
there, another user's, damaged, altered, a link or a pipe. Losing it costs time and nothing else.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from incoop.base.atomic import make_private_folder, write_atomically
from incoop.base.checksums import DIGEST_BYTES, Signer
from incoop.base.own_files import LARGE, NotOurs, clear_way, demand_own_folder, read_own


@dataclass(frozen=True, slots=True)
class KeptBytes:
    """One such file."""

    path: Path
    signer: Signer

    def read(self) -> bytes | None:
        try:
            data = read_own(self.path, LARGE)
        except (OSError, NotOurs):
            return None
        mac, body = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
        return body if self.signer.accepts_file(self.path.name.encode(), body, mac) else None

    def write(self, body: bytes) -> None:
        if len(body) + DIGEST_BYTES > LARGE:
            return
        with suppress(OSError, NotOurs):  # a full disk: it is worked out again
            make_private_folder(self.path.parent)
            demand_own_folder(self.path.parent)
            clear_way(self.path)
            mac = self.signer.sign_file(self.path.name.encode(), body)
            write_atomically(self.path, [mac, body], durable=False, private=True)
