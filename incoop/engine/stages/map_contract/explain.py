"""Say why a run would run what it would run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incoop.engine.stages.map_contract.identity import JobIdentity
from incoop.engine.stages.map_contract.plan import among
from incoop.engine.stages.map_contract.record import TreeRecord
from incoop.fingerprint import changed_parts


def changed_code(before: TreeRecord | None, parts: Mapping[str, str] | None, identity: JobIdentity) -> list[str]:
    """What of the code is not what it was when the job last ran; empty where it gives the same."""
    if before is None or (before.tree == identity.tree and before.reduce == identity.reduce.hex()):
        return []
    old = {name: bytes.fromhex(digest) for name, digest in (parts or {}).items()}
    new = {name: bytes.fromhex(digest) for name, digest in identity.parts.items()}
    return [str(change) for change in changed_parts(old, new)] or ["parameters of the job are others"]


def lost_runs(fresh: Sequence[bytes], before: TreeRecord | None) -> frozenset[bytes]:
    """Runs that are missing although the last run of the job had them."""
    if before is None or not fresh:
        return frozenset()
    ids = before.levels[0].ids
    return frozenset(ids[among(ids, set(fresh))].tolist())


def why_it_runs(
    fresh: Sequence[bytes],
    before: TreeRecord | None,
    parts: Mapping[str, str] | None,
    identity: JobIdentity,
    done: bool,
    lost: bool,
) -> str:
    """The reason in words.

    `fresh` are the ids of chunk runs that are missing, `parts` those of the last run's code; `done` says that the
    output is known.
    """
    if done:
        return "nothing changed"
    if before is None:
        return "the job has not run in this store" if fresh else "the job is new, but its chunks are known"
    if changed := changed_code(before, parts, identity):
        return "code changed: " + "; ".join(changed[:5])
    if lost:
        return "stored results were lost"
    held = lost_runs(fresh, before)
    returned = sum(id_ in held for id_ in fresh)
    new_chunks = len(fresh) - returned
    new = "1 chunk is new" if new_chunks == 1 else f"{new_chunks:,} chunks are new"
    reasons = [new] if new_chunks else []
    reasons += [f"the memo entries of {returned:,} chunks are lost"] if returned else []
    return " and ".join(reasons) or "chunks were removed or moved"
