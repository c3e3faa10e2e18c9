"""Say why a run would run what it would run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incoop.engine.stages.map_contract.identity import JobIdentity
from incoop.engine.stages.map_contract.record import TreeRecord
from incoop.fingerprint import changed_parts


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
    if before.tree != identity.tree or before.reduce != identity.reduce.hex():
        old = {name: bytes.fromhex(digest) for name, digest in (parts or {}).items()}
        new = {name: bytes.fromhex(digest) for name, digest in identity.parts.items()}
        changed = [str(change) for change in changed_parts(old, new)]
        return "code changed: " + ("; ".join(changed[:5]) or "parameters of the job are others")
    if lost:
        return "stored results were lost"
    held = set(before.levels[0].ids.tolist())
    returned = sum(id_ in held for id_ in fresh)
    new_chunks = len(fresh) - returned
    reasons = [f"{new_chunks:,} chunks are new"] if new_chunks else []
    reasons += [f"the memo entries of {returned:,} chunks are lost"] if returned else []
    return " and ".join(reasons) or "chunks were removed or moved"
