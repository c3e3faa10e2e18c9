"""Say what a run would reuse, what it would run, and why, without running it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incoop.base.errors import IncoopError
from incoop.engine.identity import Identity
from incoop.engine.inputs import ChunkedInput
from incoop.engine.record import Record
from incoop.engine.stages.map_contract.plan import TreePlan
from incoop.fingerprint import changed_parts


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would run. Prints as a few sentences."""

    job: str
    input_bytes: int
    chunks: int
    #: Chunks and bytes that would be mapped.
    fresh_chunks: int
    fresh_bytes: int
    #: Nodes of the contraction tree that would be combined, of how many.
    fresh_nodes: int
    nodes: int
    #: Why it is not less.
    why: str

    @property
    def reusable(self) -> float:
        """Share of the input's bytes that need not be mapped."""
        return 1.0 - self.fresh_bytes / self.input_bytes if self.input_bytes else 1.0

    def __str__(self) -> str:
        return (
            f"{self.job}: {self.reusable:.1%} of {self.input_bytes:,} bytes can be reused\n"
            f"  map      {self.fresh_chunks:,} of {self.chunks:,} chunks ({self.fresh_bytes:,} bytes)\n"
            f"  combine  {self.fresh_nodes:,} of {self.nodes:,} nodes\n"
            f"  because  {self.why}"
        )


class OnlyExplained(IncoopError):
    """Carries an explanation out of a run that was not to be made."""

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(explanation)
        self.explanation = explanation

    def __str__(self) -> str:
        return str(self.explanation)


def explain(
    job: str,
    plan: TreePlan,
    chunked: ChunkedInput,
    done: bool,
    before: Record | None,
    identity: Identity,
    lost: bool,
) -> Explanation:
    """Count what is missing, and find the reason."""
    chunks, nodes = ([], []) if done else plan.needed()
    return Explanation(
        job=job,
        input_bytes=chunked.size,
        chunks=len(plan.levels[0].ids),
        fresh_chunks=len(chunks),
        fresh_bytes=int(chunked.rows["length"][np.array(chunks, np.intp)].sum(dtype=np.int64)),
        fresh_nodes=len(nodes),
        nodes=sum(len(level.ids) for level in plan.levels[1:]),
        why=_why(len(chunks), plan, before, identity, done, lost),
    )


def _why(fresh: int, plan: TreePlan, before: Record | None, identity: Identity, done: bool, lost: bool) -> str:
    if done:
        return "nothing changed"
    if before is None:
        return "the job has not run in this store" if fresh else "the job is new, but its chunks are known"
    if before.facts["tree"] != identity.tree or before.facts["reduce"] != identity.reduce.hex():
        old = {name: bytes.fromhex(digest) for name, digest in before.facts["parts"].items()}
        new = {name: bytes.fromhex(digest) for name, digest in identity.parts.items()}
        changed = [str(change) for change in changed_parts(old, new)]
        return "code changed: " + ("; ".join(changed[:5]) or "parameters of the job are others")
    if lost:
        return "stored results were lost"
    held = set(before.levels[0].ids.tolist())
    returned = sum(bytes(plan.levels[0].ids[index]) in held for index in plan.needed()[0])
    new_chunks = fresh - returned
    reasons = [f"{new_chunks:,} chunks are new"] if new_chunks else []
    reasons += [f"the memo entries of {returned:,} chunks are lost"] if returned else []
    return " and ".join(reasons) or "chunks were removed or moved"
