"""Three placement policies in the simulator: the tables and the picture of docs/scheduler.md.

    python -m bench.bench_scheduler [--plot docs/scheduler.png] [--hosts 20 100 1000]

The picture needs matplotlib: pip install 'incoop[bench]'. What the paper reports is asserted (section 7.6: around 30 %
of the time saved for data-intensive jobs, almost 15 % for compute-intensive ones).
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from incoop.scheduler.simulate import Cluster, Policy, SimulatedRun, compare
from incoop.scheduler.workloads import COMPUTE_INTENSIVE, DATA_INTENSIVE, KINDS, MB, JobKind

#: Random sizes and heartbeat orders; a figure is the median over these.
SEEDS = (1, 2, 3, 4, 5)

#: One host in this many is slow, where hosts are.
SLOW_SHARE = 20
SLOW = 0.2

Outcomes = dict[Policy, list[SimulatedRun]]


def over_seeds(cluster: Cluster, kind: JobKind, seeds: Sequence[int] = SEEDS) -> Outcomes:
    runs = [compare(cluster, kind, seed) for seed in seeds]
    return {policy: [run[policy] for run in runs] for policy in Policy}


def makespan(outcomes: list[SimulatedRun]) -> float:
    return statistics.median(each.makespan for each in outcomes)


def saved(outcomes: Outcomes, policy: Policy = Policy.STEALING) -> float:
    return 1 - makespan(outcomes[policy]) / makespan(outcomes[Policy.DEFAULT])


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    print(f"\n### {title}\n")
    print(row(*heads))
    print("|" + "---|" * len(heads))
    for cells in rows:
        print(row(*cells))


def described(outcomes: list[SimulatedRun], default: float) -> list[str]:
    moved = statistics.median(each.moved for each in outcomes)
    idle = statistics.median(each.idle for each in outcomes)
    return [
        f"{makespan(outcomes):.0f} s",
        f"{1 - makespan(outcomes) / default:.0%}",
        f"{moved / 1e9:.1f} GB",
        f"{idle:.0%}",
    ]


def at_the_papers_scale() -> dict[str, Outcomes]:
    found = {kind.name: over_seeds(Cluster(), kind) for kind in KINDS}
    rows = [
        [name, policy, *described(outcomes[policy], makespan(outcomes[Policy.DEFAULT]))]
        for name, outcomes in found.items()
        for policy in Policy
    ]
    table("At the paper's scale: 19 workers", ["job", "policy", "makespan", "saved", "moved", "idle"], rows)
    assert saved(found[DATA_INTENSIVE.name]) >= 0.30, saved(found[DATA_INTENSIVE.name])
    assert saved(found[COMPUTE_INTENSIVE.name]) >= 0.15, saved(found[COMPUTE_INTENSIVE.name])
    return found


def sensitivity() -> None:
    rows = []
    for spool in (2, 1, 0):
        for rate in (10, 20, 34, 50, 80):
            kinds = [replace(kind, contract_rate=rate * MB) for kind in KINDS]
            rows.append(
                [spool, f"{rate} MB/s", *(f"{saved(over_seeds(Cluster(spool=spool), kind)):.0%}" for kind in kinds)]
            )
    heads = ["fetched bytes pass the disk", "contract tasks compute", *(f"saved, {kind.name}" for kind in KINDS)]
    table("What the saving depends on", heads, rows)


def stragglers() -> dict[str, dict[Policy, float]]:
    """One of 19 hosts five times slower: makespan against the same policy's without."""
    rows, delays = [], {}
    for kind in KINDS:
        calm, slow = over_seeds(Cluster(), kind), over_seeds(Cluster(speeds={7: SLOW}), kind)
        delays[kind.name] = {policy: makespan(slow[policy]) / makespan(calm[policy]) for policy in Policy}
        for policy in Policy:
            stolen = statistics.median(each.stolen for each in slow[policy])
            tasks = len(kind(Cluster().hosts, Random(1))[1])
            rows.append(
                [
                    kind.name,
                    policy,
                    f"{makespan(slow[policy]):.0f} s",
                    f"{delays[kind.name][policy]:.2f} times",
                    f"{stolen:.0f} of {tasks}",
                ]
            )
        assert delays[kind.name][Policy.STEALING] < 1.5, delays
    table("A host five times slower", ["job", "policy", "makespan", "against no straggler", "stolen"], rows)
    return delays


def failures() -> None:
    rows = []
    for kind in KINDS:
        calm = over_seeds(Cluster(), kind)
        for policy in Policy:
            # In the middle of contraction.
            when = makespan(calm[policy]) * 0.85
            failed = over_seeds(Cluster(failures={7: when}), kind)[policy]
            again = statistics.median(each.repeated for each in failed)
            rows.append(
                [
                    kind.name,
                    policy,
                    f"{makespan(failed):.0f} s",
                    f"{makespan(failed) / makespan(calm[policy]):.2f} times",
                    f"{again:.0f}",
                ]
            )
    table("A host fails", ["job", "policy", "makespan", "against no failure", "tasks begun again"], rows)


def by_hosts(counts: Sequence[int]) -> dict[int, dict[str, Outcomes]]:
    """Work grows with the hosts; one host in 20 is five times slower."""
    found: dict[int, dict[str, Outcomes]] = {}
    rows = []
    for hosts in counts:
        speeds = dict.fromkeys(range(0, hosts, SLOW_SHARE), SLOW)
        found[hosts] = {kind.name: over_seeds(Cluster(hosts=hosts, speeds=speeds), kind, SEEDS[:3]) for kind in KINDS}
        for name, outcomes in found[hosts].items():
            for policy in Policy:
                rows.append([hosts, name, policy, *described(outcomes[policy], makespan(outcomes[Policy.DEFAULT]))])
    heads = ["hosts", "job", "policy", "makespan", "saved", "moved", "idle"]
    table("20 to 1,000 hosts, one in 20 five times slower", heads, rows)
    return found


def plot(
    path: Path,
    paper: dict[str, Outcomes],
    delays: dict[str, dict[Policy, float]],
    scale: dict[int, dict[str, Outcomes]],
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = {Policy.DEFAULT: "#9aa0a6", Policy.STRICT: "#e0a030", Policy.STEALING: "#2a6fb0"}
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.9), layout="constrained")
    width = 0.26
    for axis, title, value, unit in (
        (
            axes[0],
            "19 workers: time against default",
            lambda name, p: makespan(paper[name][p]) / makespan(paper[name][Policy.DEFAULT]),
            "{:.2f}",
        ),
        (axes[1], "One host 5 times slower:\ntime against no straggler", lambda name, p: delays[name][p], "{:.2f}"),
    ):
        for at, policy in enumerate(Policy):
            bars = axis.bar(
                [x + (at - 1) * width for x in range(len(KINDS))],
                [value(kind.name, policy) for kind in KINDS],
                width,
                color=colours[policy],
                label=policy.value,
            )
            axis.bar_label(bars, fmt=unit, fontsize=8, label_type="center", color="white", fontweight="bold")
        axis.set_xticks(range(len(KINDS)), [kind.name for kind in KINDS])
        axis.set_title(title, fontsize=10)
        axis.margins(y=0.12)
    axes[0].axhline(0.70, xmin=0.02, xmax=0.48, color="black", linestyle=":", linewidth=1)
    axes[0].axhline(0.85, xmin=0.52, xmax=0.98, color="black", linestyle=":", linewidth=1)
    axes[0].text(0.0, 1.06, "paper: 0.70 and 0.85, dotted", fontsize=8)
    for policy in Policy:
        axes[2].plot(
            list(scale),
            [makespan(scale[hosts][DATA_INTENSIVE.name][policy]) for hosts in scale],
            "o-",
            color=colours[policy],
        )
    axes[2].set_xscale("log")
    axes[2].set_xticks(list(scale), [str(hosts) for hosts in scale])
    axes[2].minorticks_off()
    axes[2].set_ylim(bottom=0)
    axes[2].set_xlabel("hosts; the work grows with them")
    axes[2].set_ylabel("seconds")
    axes[2].set_title("Data-intensive, one host in 20 five times slower", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=110)
    print(f"\nplot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="write the picture here")
    parser.add_argument("--hosts", type=int, nargs="+", default=[20, 50, 100, 200, 500, 1000])
    arguments = parser.parse_args()
    paper = at_the_papers_scale()
    sensitivity()
    delays = stragglers()
    failures()
    scale = by_hosts(arguments.hosts)
    if arguments.plot:
        plot(arguments.plot, paper, delays, scale)


if __name__ == "__main__":
    main()
