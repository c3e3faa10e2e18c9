"""Small records of the store's folder that are obeyed: JSON with a keyed checksum inside.

Contract: `read_signed` gives what `write_signed` wrote under the same name and secret, or None: for a file that is not
there, another user's, damaged, altered, a link or a pipe. Nothing of such a file is obeyed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from incoop.base.atomic import write_atomically
from incoop.base.checksums import Signer
from incoop.base.own_files import NotOurs, clear_way, read_own

#: The field that holds the checksum of all others.
_MAC = "mac"


def read_signed(path: Path, signer: Signer) -> dict[str, Any] | None:
    """The record in a file, if it is whole and ours."""
    fields = unsigned_fields(path)
    mac = fields.pop(_MAC, None) if fields is not None else None
    if fields is None or not isinstance(mac, str) or not mac.isascii():
        return None
    return fields if signer.sign_file(path.name.encode(), _body(fields)).hex() == mac else None


def unsigned_fields(path: Path) -> dict[str, Any] | None:
    """What a file says, by whomever it was written: for what is refused anyway."""
    try:
        fields = json.loads(read_own(path))
    except (OSError, NotOurs, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def write_signed(path: Path, fields: dict[str, Any], signer: Signer, *, durable: bool = True) -> None:
    """Write a record, whole or not at all."""
    mac = signer.sign_file(path.name.encode(), _body(fields)).hex()
    clear_way(path)
    write_atomically(path, [json.dumps({**fields, _MAC: mac}).encode()], durable=durable, private=True)


def _body(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
