"""The simulated cluster: small cases reckoned by hand, laws, and the claims of docs/scheduler.md."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incoop.scheduler.simulate import Cluster, Policy, SimulatedTask, Simulation, compare
from incoop.scheduler.workloads import COMPUTE_INTENSIVE, DATA_INTENSIVE, KINDS, JobKind

MB = 1_000_000
#: Round figures for reckoning by hand.
PLAIN = Cluster(hosts=2, map_slots=1, reduce_slots=1, network=100 * MB, disk=50 * MB, spool=1)


@pytest.mark.parametrize("policy", Policy)
def test_a_task_at_home_takes_its_disk_and_its_computation(policy: Policy) -> None:
    alone = Cluster(hosts=1, map_slots=1, reduce_slots=1, disk=50 * MB)
    outcome = Simulation(alone, policy).run([SimulatedTask(0, 100 * MB, 0, 3.0)], [SimulatedTask(0, 200 * MB, 0, 1.0)])
    assert outcome.makespan == pytest.approx(2 + 3 + 4 + 1)
    assert (outcome.moved, outcome.read, outcome.idle) == (0, 200 * MB, 0.0)


def test_a_fetched_input_takes_the_longest_of_disk_network_and_spool() -> None:
    # Two tasks at home on host 0: without stealing one after the other, 2 * (2 s of disk + 3 s).
    works = [SimulatedTask(0, 100 * MB, 0, 3.0), SimulatedTask(0, 100 * MB, 0, 3.0)]
    strict = Simulation(PLAIN, Policy.STRICT).run([], works)
    assert strict.makespan == pytest.approx(10)
    assert strict.idle == pytest.approx(0.5)
    # Stolen, the second begins at once; its bytes are read from a disk (2 s) and spooled to another (2 s), at once too.
    stealing = Simulation(PLAIN, Policy.STEALING).run([], works)
    assert stealing.stolen == 1
    assert stealing.makespan <= 4 + 3 + 1e-9


def test_fresh_map_output_comes_over_the_network_under_every_policy() -> None:
    for policy in Policy:
        outcome = Simulation(PLAIN, policy).run([], [SimulatedTask(0, 0, 200 * MB, 1.0)])
        assert outcome.makespan == pytest.approx(max(2, 4) + 1)
        assert outcome.moved == 0


@st.composite
def runs(draw: st.DrawFn) -> tuple[Cluster, list[SimulatedTask], list[SimulatedTask]]:
    hosts = draw(st.integers(2, 6))
    work = st.builds(
        SimulatedTask,
        st.integers(0, hosts - 1),
        st.integers(0, 100 * MB),
        st.integers(0, 10 * MB),
        st.floats(0, 10, allow_nan=False),
    )
    slow = draw(st.dictionaries(st.integers(0, hosts - 1), st.just(0.2), max_size=1))
    fails = draw(st.dictionaries(st.integers(0, hosts - 1), st.floats(0, 30), max_size=hosts - 1))
    cluster = Cluster(hosts=hosts, speeds=slow, failures=fails, spool=draw(st.integers(0, 2)))
    return cluster, draw(st.lists(work, max_size=15)), draw(st.lists(work, max_size=30))


@given(runs(), st.sampled_from(Policy))
def test_every_run_ends_and_accounts_for_its_time_and_bytes(
    run: tuple[Cluster, list[SimulatedTask], list[SimulatedTask]], policy: Policy
) -> None:
    cluster, maps, contracts = run
    outcome = Simulation(cluster, policy).run(maps, contracts)
    assert outcome == Simulation(cluster, policy).run(maps, contracts)
    # No task is faster than its computation, and none is lost.
    assert outcome.makespan >= max((work.cost for work in [*maps, *contracts]), default=0) - 1e-9
    assert -1e-9 <= outcome.idle <= 1
    if not cluster.failures:
        assert outcome.repeated == 0
        assert outcome.moved <= outcome.read
        if policy is Policy.STRICT:
            assert outcome.moved == outcome.stolen == 0


def test_a_host_that_fails_repeats_its_tasks_elsewhere() -> None:
    works = [SimulatedTask(host, 0, 0, 10.0) for host in (0, 1)]
    cluster = Cluster(hosts=2, reduce_slots=1, failures={1: 4.0})
    for policy in Policy:
        outcome = Simulation(cluster, policy).run([], works)
        # The lost task begins again when the other host is free.
        assert outcome.makespan == pytest.approx(20)
        assert outcome.repeated == 1


@pytest.mark.parametrize(("kind", "least"), [(DATA_INTENSIVE, 0.30), (COMPUTE_INTENSIVE, 0.15)], ids=lambda it: str(it))
def test_affinity_saves_what_the_paper_reports(kind: JobKind, least: float) -> None:
    outcomes = compare(Cluster(), kind)
    assert outcomes[Policy.STEALING].makespan <= (1 - least) * outcomes[Policy.DEFAULT].makespan
    assert outcomes[Policy.STEALING].moved <= outcomes[Policy.DEFAULT].moved / 10


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_straggler_delays_stealing_less_than_strict_affinity(kind: JobKind) -> None:
    calm, slow = compare(Cluster(), kind), compare(Cluster(speeds={7: 0.2}), kind)
    assert slow[Policy.STEALING].makespan < 1.5 * calm[Policy.STEALING].makespan
    assert slow[Policy.STRICT].makespan > 2 * calm[Policy.STRICT].makespan


def test_a_job_grows_with_the_hosts() -> None:
    few, many = DATA_INTENSIVE(20, Random(1)), DATA_INTENSIVE(40, Random(1))
    assert [len(works) for works in many] == [2 * len(works) for works in few]
