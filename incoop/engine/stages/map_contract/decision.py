"""What a run of a job will do, as values: what it recalls, and what it decides from that.

Contract: both are made before anything runs, and stay as they were made. `explain` and `strict` read the decision; the
run maps its chunks. Nodes are those of a guess while chunks are to be mapped: their keys say how many shards there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from incoop.contraction.parts.headers import RunRef
from incoop.engine.events import DidDecide
from incoop.engine.explain import Explanation
from incoop.engine.inputs import ChunkedInput
from incoop.engine.record import Record
from incoop.engine.stage import Step
from incoop.engine.stages.map_contract.explain import changed_code, lost_runs, why_it_runs
from incoop.engine.stages.map_contract.identity import JobIdentity
from incoop.engine.stages.map_contract.plan import TreePlan
from incoop.engine.stages.map_contract.record import Ids, TreeRecord


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the job is now, and what its last run left."""

    identity: JobIdentity
    #: The last run, and the same if its tree compares with the new one.
    before: TreeRecord | None = None
    old: TreeRecord | None = None
    #: Names and digests of the last run's code.
    parts: Mapping[str, str] | None = None

    @classmethod
    def of(cls, identity: JobIdentity, record: Record | None, lost: bool) -> Recalled:
        """`lost` says that some of what was stored is gone: then nothing is compared with it."""
        if record is None:
            return cls(identity)
        before = TreeRecord.from_bytes(record.body)
        return cls(identity, before, before if not lost and before.tree == identity.tree else None, record.parts)


@dataclass(frozen=True, slots=True)
class JobDecision:
    """Which chunks are mapped, which nodes are contracted, and why."""

    job: str
    recalled: Recalled
    input_bytes: int
    #: Ids of the runs of all chunks.
    ids: Ids
    #: Where those that are mapped stand among them, and their bytes.
    chunks: tuple[int, ...]
    fresh_bytes: int
    #: Nodes that are contracted, by level and index, of how many.
    nodes: tuple[tuple[int, int], ...]
    all_nodes: int
    #: The output, if it is known with all that it rests on.
    output: RunRef | None
    #: Whether stored results were lost.
    lost: bool
    #: In the order in which they run; none where nothing has to.
    steps: tuple[Step, ...]

    @classmethod
    def of(
        cls,
        job: str,
        recalled: Recalled,
        chunked: ChunkedInput,
        plan: TreePlan,
        output: RunRef | None,
        lost: bool,
        steps: tuple[Step, ...],
    ) -> JobDecision:
        """What a plan comes to, as far as it is known by now."""
        chunks, nodes = ([], []) if output is not None else plan.needed()
        return cls(
            job=job,
            recalled=recalled,
            input_bytes=chunked.size,
            ids=plan.chunks.ids,
            chunks=tuple(chunks),
            fresh_bytes=int(chunked.rows["length"][np.array(chunks, np.intp)].sum(dtype=np.int64)),
            nodes=tuple(nodes),
            all_nodes=plan.node_count,
            output=output,
            lost=lost,
            steps=steps,
        )

    def explanation(self) -> Explanation:
        return Explanation(
            job=self.job,
            input_bytes=self.input_bytes,
            chunks=len(self.ids),
            fresh_chunks=len(self.chunks),
            fresh_bytes=self.fresh_bytes,
            fresh_nodes=len(self.nodes),
            nodes=self.all_nodes,
            why=self._why(),
        )

    def as_event(self, chunked: ChunkedInput, plan: TreePlan) -> DidDecide:
        """What is told of it; the plan is the one that it was made of."""
        recalled = self.recalled
        changed = changed_code(recalled.before, recalled.parts, recalled.identity)
        return DidDecide(
            ids=self.ids,
            sizes=chunked.rows["length"],
            known=plan.known[0].copy(),  # the plan learns
            lost=frozenset() if changed else lost_runs(self._fresh(), recalled.before),
            gone=int((~plan.kept).sum()),
            why=self._why(),
            changed_code=tuple(changed),
        )

    def _fresh(self) -> list[bytes]:
        fresh: list[bytes] = self.ids[np.array(self.chunks, np.intp)].tolist()
        return fresh

    def _why(self) -> str:
        recalled = self.recalled
        done = self.output is not None
        return why_it_runs(self._fresh(), recalled.before, recalled.parts, recalled.identity, done, self.lost)
