"""What one run of a stage leaves for the next, whatever the kind of stage.

Contract: `from_bytes(to_bytes())` is the identity. A record is signed by the memo store; one of another format, or of
another kind of stage, is ignored, and everything is found again by task id.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

#: Bumped whenever the layout changes; a kind of stage has a version of its own for what it keeps.
RECORD_FORMAT = 3

_HEAD = struct.Struct("<II")  # format, bytes of the JSON part


@dataclass(frozen=True, slots=True)
class Origin:
    """How a run was asked for, so that it can be asked for again: `incoop verify --rerun`."""

    #: FILE or FILE:NAME.
    job: str
    inputs: tuple[str, ...]
    #: Where the paths are from.
    folder: str
    #: The window that was asked for, and what gives a record's time, as they were written; empty for none.
    window: str = ""
    time_of: str = ""


#: Runs of a job that are remembered: what fits into a picture, some three kilobytes of a record.
KEPT_RUNS = 50


@dataclass(frozen=True, slots=True)
class PastRun:
    """What is remembered of a run, for people: nothing is decided by it."""

    generation: int
    #: When it ended, in seconds since the epoch, and how long it took.
    when: float
    seconds: float
    input_bytes: int
    fresh_bytes: int
    #: Bytes of all packs of the store; None where nobody asked.
    store_bytes: int | None = None


def remembered(history: tuple[PastRun, ...], run: PastRun) -> tuple[PastRun, ...]:
    """A job's history with one more run: the first of all, and the last ones."""
    runs = (*history, run)
    return (*runs[:1], *runs[1:][-(KEPT_RUNS - 1) :])


@dataclass(frozen=True, slots=True)
class Basis:
    """What a result came of: a run that finds the same basis would give the same."""

    #: Names the code, the input, and what the functions read, as they were.
    id: bytes
    #: Which reads that are: step, kind and name of each. So a later look asks no memo, which may be out of reach.
    reads: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One run."""

    #: The kind of stage, with the version of what it keeps.
    kind: str
    #: The id of what the run gave.
    gives: bytes
    #: Names and digests of all that the code consists of and reads, to say later what changed.
    parts: Mapping[str, str]
    #: What the functions read: step, kind, name.
    reads: tuple[tuple[str, str, str], ...]
    #: Parts of the code whose values are sent to workers.
    amended: tuple[str, ...]
    #: On a cluster, where shards ran.
    places: dict[str, Any] | None
    origin: Origin | None
    #: What its kind of stage keeps, in its own form.
    body: bytes
    #: The job's runs, this one the last.
    history: tuple[PastRun, ...] = ()

    def to_bytes(self) -> bytes:
        head = json.dumps(
            {
                "kind": self.kind,
                "gives": self.gives.hex(),
                "parts": dict(self.parts),
                "reads": self.reads,
                "amended": self.amended,
                "places": self.places,
                "origin": asdict(self.origin) if self.origin is not None else None,
                "history": [[getattr(run, name) for name in run.__slots__] for run in self.history],
            },
            separators=(",", ":"),
        ).encode()
        return b"".join([_HEAD.pack(RECORD_FORMAT, len(head)), head, self.body])

    @classmethod
    def from_bytes(cls, data: bytes) -> Record | None:
        """Read a record; None when another release wrote it."""
        version, size = _HEAD.unpack_from(data)
        if version != RECORD_FORMAT:
            return None
        at = _HEAD.size + size
        head = json.loads(data[_HEAD.size : at])
        origin = head["origin"]
        return cls(
            kind=head["kind"],
            gives=bytes.fromhex(head["gives"]),
            parts=head["parts"],
            reads=tuple((step, kind, name) for step, kind, name in head["reads"]),
            amended=tuple(head["amended"]),
            places=head["places"],
            origin=origin and Origin(**{**origin, "inputs": tuple(origin["inputs"])}),
            body=data[at:],
            history=tuple(PastRun(*run) for run in head.get("history", ())),
        )
