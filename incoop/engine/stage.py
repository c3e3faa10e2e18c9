"""What a kind of stage is to the driver. A kind is one folder in stages/, and nothing else has to know it.

identify   what its results depend on besides the input
look       what the input is now
decide     what is reused, what runs and why, from what the last run left and what the memo holds: a value, which
           `explain` and `strict` read, and whose steps the driver carries out in their order
finish     what this run gives, and what the next one needs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from incoop import inchdfs
from incoop.base.errors import IncoopError
from incoop.base.stage_path import StagePath
from incoop.code import KnownReads
from incoop.engine.events import Events
from incoop.engine.explain import Explanation
from incoop.engine.keeper import Keeper, Memo
from incoop.engine.output import Output
from incoop.engine.record import Basis, Origin, PastRun, Record
from incoop.engine.report import RunReport
from incoop.engine.running.runner import Runner
from incoop.engine.running.work import Work
from incoop.engine.stored import BlobReader
from incoop.inchdfs.cutting.parallel import SegmentRunner
from incoop.inchdfs.store.index import AsBefore


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a caller may ask of one run."""

    #: Sizes of chunks; None chooses by the input's size.
    chunks: inchdfs.ChunkSettings | AsBefore | None = None
    #: Verify by content that files whose size and times did not move did not change.
    paranoid: bool = False
    #: Refuse to run when less than this share of the input can be reused.
    strict: float | None = None
    #: Share of what is kept to compute again and compare.
    verify: float = 0.0
    #: How the run can be asked for again, from a shell.
    origin: Origin | None = None
    #: Count the bytes of the store's packs, for the job's history: as long as a walk through its folder takes.
    counts_store: bool = False
    #: Whether workers get the values of module variables that the program set; PySpark's do not.
    amends: bool = True
    #: Look, and run only if what is found is not this.
    unless: Basis | None = None


@dataclass(slots=True)
class Attempt:
    """What a stage works with in one attempt at a run."""

    memo: Memo
    runner: Runner
    events: Events
    keeper: Keeper
    #: Packs that turned out damaged or gone.
    lost: frozenset[bytes] = frozenset()

    def reader(self) -> BlobReader:
        return BlobReader(self.memo.blobs)


Self = TypeVar("Self", bound="Identity")


class Identity(Protocol):
    """What results depend on besides the input: typed, and comparable part by part."""

    #: Names and digests of functions, values, and what is read.
    parts: Mapping[str, str]
    #: Sentences on code whose result may not follow from its input.
    impurities: Sequence[str]

    @property
    def reads_id(self) -> bytes:
        """Names what is known of all that this code reads."""
        ...

    def within(self: Self, reads: KnownReads) -> Self:
        """The same with what the steps are known to read, as it is now."""
        ...


class Step(Protocol):
    """One step of a stage."""

    @property
    def name(self) -> str: ...

    def work(self) -> Work | None:
        """What is still to be run; None when the step is done."""
        ...

    def keep(self, answer: Any) -> None:
        """Store what a task gave as soon as it is there; all that it read is in its id."""
        ...

    def ran(self, answers: Sequence[Any], seconds: float) -> None:
        """Note what the work did."""
        ...

    def rekey(self, identity: Any, covered: Sequence[Any]) -> None:
        """The functions read more than their ids name: keep what can be kept under the ids of `identity`.

        `covered` are the answers that read nothing else than `identity` names.
        """
        ...

    def take(self, answers: Sequence[Any]) -> None:
        """Go on with the answers; raise what stands in the way."""
        ...


class Decision(Protocol):
    """What will run, and why, as it was decided: nothing that a step does later changes it."""

    @property
    def steps(self) -> Sequence[Step]:
        """In the order in which they run; none where nothing has to."""
        ...

    def explanation(self) -> Explanation: ...


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run gives, and what the next one needs."""

    #: Names the input and the code: equal for equal ones.
    id: bytes
    output: Output
    #: Keys of the output, as far as that is counted.
    keys: int
    counters: Mapping[str, int]
    #: What the kind keeps, for `decide`.
    body: bytes
    #: Ids that must not be collected, packed.
    live: bytes
    #: Reads the hash of what the tree's root holds, whatever ran before.
    root: Callable[[], bytes]


class OutputUnknown(IncoopError):
    """What the run before gave cannot be read any more."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why

    def __str__(self) -> str:
        return self.why


class Stage(Protocol):
    """A stage on its way through one run; `begin` is called for every attempt, the others after it in this order."""

    #: The kind, with the version of what it keeps.
    kind: str

    @property
    def path(self) -> StagePath:
        """Names its runs: the job, and the stage in it."""
        ...

    @property
    def proves(self) -> bool:
        """Whether its code must have a fingerprint."""
        ...

    @property
    def memoizes(self) -> bool: ...

    def begin(self, attempt: Attempt) -> None: ...

    def identify(self) -> Any: ...

    def look(self, options: RunOptions, segments: SegmentRunner | None) -> int:
        """Look at the input; gives its bytes."""
        ...

    def input_id(self) -> bytes:
        """Names what `look` found: equal for equal inputs."""
        ...

    def decide(self, coded: Any, identity: Any, before: Record | None) -> Decision:
        """Asks the memo, and runs nothing.

        `coded` is the identity without reads, `before` what the last run of this kind left, if there was one.
        """
        ...

    def finish(self) -> Finished: ...

    def verify(self, share: float) -> tuple[int, int]:
        """Compute a share of what is kept again, from scratch; how many tasks of each kind. Raises what is wrong."""
        ...

    def output_of(self, body: bytes) -> Output:
        """What the run that left this gave. Raises OutputUnknown or BlockLost."""
        ...

    def recover_input(self, lost: Any) -> None:
        """Have lost blocks of the input computed again, if they are another run's output."""
        ...

    def overcome(self, error: IncoopError) -> str | None:
        """Learn from what stood in the way of an attempt; says why to begin again, None to give up."""
        ...


@dataclass(slots=True)
class Outcome:
    """What a run leaves for its Result."""

    finished: Finished
    #: The output of the run before, if there was one.
    old_output: Output | None
    report: RunReport
    events: Events = field(repr=False)
    basis: Basis
    #: Why it is not known what the run before gave; empty where it is.
    changes_lost: str = ""
    #: The job's runs as far as they are remembered, this one the last.
    history: tuple[PastRun, ...] = ()
