"""Jobs for the simulator: an update in which a tenth of the chunks changed, sized by the number of hosts.

Every figure says where it comes from. The paper (sections 7.2, 7.3) gives 64 MB chunks, jobs of about an hour for a
first run, and two kinds of jobs; it does not give the size of memoized data, nor how fast tasks compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from incoop.scheduler.simulate import SimulatedTask

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class JobKind:
    """What a job's tasks are like."""

    name: str
    #: Bytes a second that a map task computes.
    map_rate: float
    #: Bytes of memoized data that contraction reads, for each byte of input.
    memoized: float
    #: Bytes a second that a contract task computes.
    contract_rate: float
    #: Chunks a host.
    chunks: int = 60
    #: Share of the chunks that changed.
    changed: float = 0.1
    chunk: int = 64 * MB
    #: Contract tasks for each reduce slot: small enough to be worth stealing.
    waves: int = 16
    reduce_slots: int = 2

    def __call__(self, hosts: int, random: Random) -> tuple[list[SimulatedTask], list[SimulatedTask]]:
        """The tasks of an update on so many hosts. Sizes vary by a third around the mean."""
        maps = [
            SimulatedTask(
                random.randrange(hosts), self.chunk, 0, self.chunk / self.map_rate * random.uniform(0.67, 1.33)
            )
            for _ in range(round(hosts * self.chunks * self.changed))
        ]
        count = hosts * self.reduce_slots * self.waves
        share = hosts * self.chunks * self.chunk * self.memoized / count
        contracts = []
        for number in range(count):
            stored = round(share * random.uniform(0.67, 1.33))
            # The last run spread its tasks evenly; their results lie where they ran.
            contracts.append(
                SimulatedTask(number % hosts, stored, round(stored * self.changed), stored / self.contract_rate)
            )
        random.shuffle(contracts)
        return maps, contracts


#: What a contract task merges in a second, in both kinds: an assumption, taken from the only rate of such work that the
#: paper gives (34 MB/s, table 2). docs/scheduler.md shows what follows from others.
CONTRACT_RATE = 34 * MB

#: Word count, bigrams, co-occurrence: map output of about the size of the input, little computation for each byte.
DATA_INTENSIVE = JobKind("data-intensive", map_rate=8 * MB, memoized=1.0, contract_rate=CONTRACT_RATE)

#: K-means, nearest neighbours: each record is compared with many points, which takes maps four times as long, and half
#: as much comes out.
COMPUTE_INTENSIVE = JobKind("compute-intensive", map_rate=2 * MB, memoized=0.5, contract_rate=CONTRACT_RATE)

KINDS = (DATA_INTENSIVE, COMPUTE_INTENSIVE)
