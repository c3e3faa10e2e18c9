"""Planning on the driver alone: a synthetic input of a million chunks of which one is new.

    python -m bench.bench_plan [--chunks 1000000]

Prints seconds by step, and the process's peak memory. The plan is checked: one chunk and its path to the root.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

from incoop.contraction.parts.rows import REF_ROW
from incoop.engine.stages.map_contract.plan import TREE, TreePlan, lay_nodes, plan_chunks, run_ids
from incoop.engine.stages.map_contract.record import Level, TreeRecord

_PRINT = (b"p" * 16,)


def synthetic_chunks(count: int, seed: int = 1) -> tuple[Any, Any]:
    """Random chunk ids and tails."""
    rng = np.random.default_rng(seed)
    return np.frombuffer(rng.bytes(16 * count), "V16"), rng.integers(0, 2**63, count, dtype=np.uint64)


def stored(plan: TreePlan) -> TreeRecord:
    """The record of a generation in which every run of the plan is stored."""
    levels = []
    for level in plan.levels:
        refs = np.zeros(len(level.ids), REF_ROW)
        refs["length"] = 100
        levels.append(Level(level.ids, refs, level.ends))
    return TreeRecord(levels, encoding=1, tree="", reduce="", shards=16)


def planned(ids: Any, tails: Any, old: TreeRecord | None) -> TreePlan:
    return lay_nodes(plan_chunks(ids, old), tails, b"c" * 16, old, TREE)


def plan_update(count: int) -> tuple[dict[str, float], TreePlan]:
    """Plan an input in which one chunk in the middle was replaced; seconds by step."""
    chunks, tails = synthetic_chunks(count)
    mapper_of = np.zeros(count, np.int64)
    record = stored(planned(run_ids(_PRINT, mapper_of, chunks), tails, None)).to_bytes()
    changed = chunks.copy()
    changed[count // 2] = np.void(b"new chunk here!!")

    seconds: dict[str, float] = {}

    def step(name: str, started: float) -> float:
        now = time.perf_counter()
        seconds[name] = now - started
        return now

    clock = time.perf_counter()
    old = TreeRecord.from_bytes(record)
    clock = step("read the last record", clock)
    ids = run_ids(_PRINT, mapper_of, changed)
    clock = step("run ids", clock)
    plan = planned(ids, tails, old)
    clock = step("tree, compared", clock)
    fresh, nodes = plan.needed()
    assert len(plan.unknown()) == 1 + len(nodes)
    tasks = [plan.node_task(level, node) for level, node in nodes]
    plan.refs_for(tasks, {plan.root})
    clock = step("what is missing", clock)
    stored(plan).to_bytes()
    step("write the new record", clock)
    assert fresh == [count // 2] and len(nodes) == len(plan.levels) - 1
    return seconds, plan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    seconds, plan = plan_update(parser.parse_args().chunks)
    for name, value in seconds.items():
        print(f"{name:24} {value:8.3f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'total':24} {sum(seconds.values()):8.3f} s   (required: under 3 s)")
    print(f"{'peak memory':24} {peak:8.0f} MB  (required: under 1000 MB)")
    print(f"{len(plan.levels[0].ids):,} chunks, {len(plan.levels)} levels")


if __name__ == "__main__":
    main()
