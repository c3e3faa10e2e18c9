"""When the functions of a memoized RDD are bound: exactly when PySpark pickles those of the RDD that it stands for.

Contract: steps since the last wide step are live. An RDD itself is bound by the first thing that needs it as a whole
(`collect`, `cache`, `union`), and stays so; what is made of it, or asked of it otherwise, binds them anew, each time.
Where a variable changed in between and PySpark has two values of it in one RDD, plain Spark computes that RDD.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pyspark import RDD

from incoop.fronts.rdd.frozen_functions import Frozen, NotLoaded, is_constant
from incoop.fronts.rdd.lineage import RddPart
from incoop.fronts.rdd.plain_rdd import PlainRDD
from incoop.fronts.rdd.plain_spark import Placement, pickled_now, stepped
from incoop.fronts.rdd.sources import Computed
from incoop.fronts.rdd.stages import RddStage, StageWork
from incoop.fronts.rdd.steps import NarrowStep, RecordSink

if TYPE_CHECKING:
    from incoop.fronts.rdd.program import RddProgram


@dataclass(frozen=True, slots=True)
class Late:
    """What of a wide step PySpark does not pickle when the step is defined, but with what follows it."""

    #: PySpark's name of the step.
    method: str
    #: Functions of the side that merges, as they were when the step was defined, and as they are.
    merging: Frozen
    merging_live: tuple[Any, ...]
    #: The side that maps, too: its parent and its functions.
    parent: BoundRDD
    above: BoundRDD
    mapping: Frozen
    mapping_live: tuple[Any, ...]
    #: Whether PySpark left the side that maps as it was: it does where no shuffle is needed.
    unbound: Callable[[], bool]
    #: The result of the step by plain Spark alone, what is late being as it is when that is pickled.
    exact: Callable[[], RDD[Any]]

    @property
    def constant(self) -> bool:
        """Whether nothing can change."""
        return self.merging.constant and self.mapping.constant and self.above._constant

    def settled(self) -> bool:
        """Whether nothing can change, of what PySpark left unbound."""
        return self.constant or (self.merging.constant and not self.unbound())

    def current(self) -> bool:
        """Whether all is as it was when the step was defined, so that there is one value of everything."""
        if not self.merging.same(self.merging_live):
            return False
        mapped = self.mapping.same(self.mapping_live) and self.above._binds_as(self.parent)
        return mapped or not self.unbound()


class BoundRDD(PlainRDD):
    """Records of some parts, one after the other, the last steps of which are live."""

    is_cached = False
    is_checkpointed = False
    has_resource_profile = False

    def __init__(
        self,
        program: RddProgram,
        parts: Sequence[RddPart],
        placement: Placement | None = None,
        late: Late | None = None,
        live: int = 0,
    ) -> None:
        self.program, self._parts, self._placement = program, tuple(parts), placement
        self._late, self._live = late, live
        self._stored_stage: RddStage | None = None
        self._plain_rdd: RDD[Any] | None = None
        #: This RDD as it was bound for itself, and as it was last bound for something that is made of it.
        self._itself: Self | None = None
        self._latest: Self | None = None
        #: Of an RDD that is bound: the steps that were live.
        self._tail: Frozen | None = None

    def _made(
        self, parts: Sequence[RddPart], placement: Placement | None = None, late: Late | None = None, live: int = 0
    ) -> Self:
        return type(self)(self.program, parts, placement, late if late is None or not late.constant else None, live)

    def _step_made(self, step: NarrowStep) -> Self:
        """What a narrow step makes of this RDD."""
        above = self if self._pipelined else self._parent()
        bound = above._late is None and not above._live and is_constant(step.function)
        placement = above._placement.after(step) if above._placement is not None else None
        parts = [part.after(step) for part in above._parts]
        return self._made(parts, placement, above._late, 0 if bound else above._live + 1)

    # What is live.

    @property
    def _live_steps(self) -> tuple[NarrowStep, ...]:
        """The same for all parts: a union binds what it is made of."""
        steps = self._parts[0].steps if self._parts else ()
        return steps[len(steps) - self._live :]

    @property
    def _live_functions(self) -> list[Any]:
        return [step.function for step in self._live_steps]

    @property
    def _constant(self) -> bool:
        return (self._late is None or self._late.constant) and all(map(is_constant, self._live_functions))

    @property
    def _pipelined(self) -> bool:
        """Whether what is made of this RDD takes over its functions; else it begins with what those made."""
        return not (self.is_cached or self.is_checkpointed or self.has_resource_profile)

    @property
    def _may_be_by_key(self) -> bool:
        """Whether PySpark may know where keys are, so that it need not shuffle."""
        return self._placement is not None or any(isinstance(part.base, RddStage) for part in self._parts)

    def _binds_as(self, bound: BoundRDD) -> bool:
        """Whether binding this RDD now would give that one."""
        if self._late is not None and not self._late.current():
            return False
        return bound is self or (bound._tail is not None and bound._tail.same(self._live_functions))

    # Bound.

    def _held(self) -> Self:
        """This RDD as it was bound for itself: now, unless it already was."""
        if self._itself is None:
            self._itself = self._bound_now()
        return self._itself

    def _as_of_now(self) -> Self:
        """This RDD as something that is made of it binds it."""
        if not self._pipelined:
            return self._held()
        if self._itself is not None and self._binds_as(self._itself):
            return self._itself
        return self._bound_now()

    def _parent(self) -> Self:
        """The same, to build on."""
        return self._kept(self._as_of_now())

    def _kept(self, now: Self) -> Self:
        """This RDD, which is bound, from the store, where the program wants it to be kept."""
        if self.is_cached and not all(part.light or (part.base.raw and not part.steps) for part in now._parts):
            return now._made([RddPart(now._stored())], now._placement)
        return now

    def _at_once(self) -> Self:
        """The same for what is run before anything can change: there is nothing to be bound."""
        return self if self._pipelined and (self._late is None or self._late.current()) else self._parent()

    def _bound_now(self) -> Self:
        if self._late is None and not self._live:
            return self
        if self._latest is None or not self._binds_as(self._latest):
            self._latest = self._bind()
        return self._latest

    def _bind(self) -> Self:
        if self._late is not None and not self._late.current():
            self.program.say(f"{self._late.method}: plain Spark runs this ({_TWO_VALUES})")
            return self._computed(self._exact())
        try:
            tail = Frozen(self._live_functions)
        except NotLoaded as why:
            self.program.note(self._parts[0].name(), why)
            return self._computed(self._plain())
        bound = self._made([part.binding(tail, self._live) for part in self._parts], self._placement)
        bound._tail = tail
        return bound

    def _computed(self, rdd: RDD[Any]) -> Self:
        """What plain Spark computes, its functions pickled now."""
        now = pickled_now(rdd)
        placement = None
        if self._placement is not None:
            placement = Placement(now.getNumPartitions, lambda: now, lambda: now, now.partitioner)
        return self._made([RddPart(Computed(self.program, now, self.program.next_source()))], placement)

    # Plain Spark in the engine's place.

    def _plain(self) -> RDD[Any]:
        """This RDD by plain Spark, on stages that are memoized; live steps are live."""
        if self._plain_rdd is None:
            self._plain_rdd = self._by_spark(lambda part: part.base.plain(), lambda placement: placement.placed())
        return self._plain_rdd

    def _exact(self) -> RDD[Any]:
        """This RDD by plain Spark alone, as PySpark would have made it."""
        if self._late is not None:
            return stepped(self._late.exact(), self._live_steps)
        return self._by_spark(lambda part: part.base.exact(), lambda placement: placement.exact())

    def _by_spark(self, base: Callable[[RddPart], RDD[Any]], placed: Callable[[Placement], RDD[Any]]) -> RDD[Any]:
        parts = [part.settled() for part in self._parts]
        if self._placement is not None:
            steps = parts[0].steps
            return stepped(placed(self._placement), steps[len(steps) - self._placement.since :])
        rdds = [stepped(base(part), part.steps[: len(part.steps) - self._live]) for part in parts]
        return stepped(rdds[0] if len(rdds) == 1 else self.program.plain_union(rdds), self._live_steps)

    def _plain_at_once(self) -> RDD[Any]:
        """This RDD for what is run before anything can change."""
        return self._at_once()._plain() if self._pipelined else self._held()._plain()

    def _plain_later(self) -> RDD[Any]:
        """This RDD for a plain one that is made of it, and bound later."""
        if not self._pipelined:
            return self._held()._plain()
        return self._plain() if self._late is None or self._late.settled() else self._exact()

    def _plain_of_stored(self) -> RDD[Any]:
        """This RDD, which is bound, by plain Spark, from stored records where they are this RDD's own."""
        if self._placement is not None or all(part.as_it_is for part in self._parts):
            return self._plain()
        return self._stored().from_store()

    def _stored(self) -> RddStage:
        """The stage that keeps exactly the records of this RDD, which is bound, in order."""
        if self._stored_stage is None:
            (first, *others) = self._parts
            if not others and not first.steps and isinstance(first.base, RddStage):
                return first.base
            work = StageWork("records", RecordSink.STORED)
            self._stored_stage = RddStage(
                self.program,
                lambda: work,
                self._made(self._parts),
                lambda rdd: rdd,
                lambda: sum(part.base.partitions() for part in self._parts),
            )
        return self._stored_stage


_TWO_VALUES = "a variable changed since: functions that map were pickled before, those that merge are after it"
