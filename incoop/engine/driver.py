"""One run of a stage, whatever its kind: look, decide, run, keep, commit.

Contract: the output is the one a run on an empty store gives. A memo entry is written after its pack, the generation
last. What stands in the way of an attempt and can be overcome (a lost block, a worker with other code, something that
the functions were found to read) is, by another attempt that knows it.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from incoop.base.errors import IncoopError
from incoop.code import CodeDiffers, KeepsState, OtherWorkerNeeded
from incoop.code.amendments import amendable
from incoop.contraction.parts.packs import BlockLost
from incoop.engine.events import (
    DidBegin,
    DidCommit,
    DidFinish,
    DidLook,
    DidNumber,
    DidVerify,
    DidWarn,
    Events,
    WillExecute,
)
from incoop.engine.explain import Explanation
from incoop.engine.failures import NotFollowed, ResultLost, TooLittleReuse
from incoop.engine.found_reads import FoundReads, observed
from incoop.engine.keeper import Keeper, Memo
from incoop.engine.output import Output
from incoop.engine.record import PastRun, Record, remembered
from incoop.engine.report import RunReport
from incoop.engine.running.runner import Runner
from incoop.engine.running.workforce import Workforce
from incoop.engine.stage import Attempt, Decision, Finished, Identity, Outcome, OutputUnknown, RunOptions, Stage, Step

log = logging.getLogger("incoop")

Given = TypeVar("Given")


class _ReadsMore(Exception):
    """Functions were found to read more than was known, so that ids have to name it: begin again."""


class _AsBefore(Exception):
    """The caller has what a run would give: nothing is run."""


@dataclass(frozen=True, slots=True)
class _Decided:
    """What will run; the identity that ids are made of; what the last run left."""

    decision: Decision
    identity: Identity
    before: Record | None


@dataclass(slots=True)
class StageRun:
    """One run on its way."""

    stage: Stage
    memo: Memo
    workforce: Workforce
    options: RunOptions
    #: Packs that turned out damaged or gone.
    lost: set[bytes] = field(default_factory=set)
    events: Events = field(default_factory=Events)
    report: RunReport = field(init=False)
    _runner: Runner = field(init=False)
    _keeper: Keeper = field(init=False)
    #: Parts of the code that workers do not get by importing its modules, so that their values are sent.
    _amended: set[str] = field(default_factory=set)
    #: What the functions read besides their input, as far as it is known.
    _reads: FoundReads = field(init=False)
    #: Why other workers were asked for; twice for the same reason would be for nothing.
    _moved: set[str] = field(default_factory=set)
    #: The code as the first attempt found it: a later one may leave out a combiner that is refused.
    _asked: Identity | None = None

    def __post_init__(self) -> None:
        self._reads = FoundReads(self.memo)
        self.report = RunReport(self._name)
        self.events.listeners.append(self.report.hear)

    @property
    def _name(self) -> str:
        """For people."""
        return str(self.stage.path)

    @property
    def _key(self) -> str:
        """For the memo."""
        return self.stage.path.key

    def execute(self) -> Outcome:
        """Run, and note what is given."""
        notes, key = self.memo.delivered, self._key
        noted = notes.noted(key) if notes is not None else None
        outcome = self._attempts(self._execute)
        if notes is None:
            outcome.changes_lost = "it keeps nothing: memoize is False"
            return outcome
        if (now := notes.noted(key)) != noted:
            outcome.changes_lost = "another run of the job ended while this one ran"
        if now != outcome.finished.id:
            notes.note(key, outcome.finished.id)
        return outcome

    def update(self) -> Outcome | None:
        """Run unless what is found is what `options.unless` says; then None, and there is no generation."""
        try:
            return self.execute()
        except _AsBefore:
            return None

    def explain(self) -> Explanation:
        """What would run, and why."""

        def attempt() -> Explanation:
            return self._decide(self._look()).decision.explanation()

        return self._attempts(attempt)

    def verify(self) -> tuple[int, int]:
        """Compute a share of what the last run left again, and run nothing else; how much that was."""
        return self._attempts(self._verify)

    def recover(self, lost: BlockLost, id_: bytes) -> Outcome:
        """Run again for a result that was lost after the run; the input must still be what it was."""
        self.report = RunReport(self._name, warnings=list(self.report.warnings))
        self.events = Events(listeners=[self.report.hear])
        self._lose(lost)
        outcome = self._attempts(self._execute)
        if outcome.finished.id != id_:
            raise ResultLost(self._name, str(lost))
        return outcome

    def _execute(self) -> Outcome:
        """The walk of a run, top to bottom."""
        started = time.perf_counter()
        coded = self._look()
        self._asked = self._asked or coded
        unless = self.options.unless
        if unless is not None and self._reads.basis(self._asked, self.stage.input_id(), unless) == unless:
            raise _AsBefore
        with self._generation():
            decided = self._decide(coded)
            self._demand_reuse(decided.decision)
            for step in decided.decision.steps:
                self._carry_out(step, coded)
            finished = self.stage.finish()
            if self.options.verify:
                self.events.tell(DidVerify(*self.stage.verify(self.options.verify)))
            old_output, changes_lost = self._old_output(decided.before)
            self.events.tell(DidFinish(finished.keys, finished.counters))
            live = b"".join([finished.live, *self._reads.keep(coded, self._keeper)])
            history = self._history(decided.before, time.perf_counter() - started)
            recorded = self._keeper.commit(self._key, self._record(decided.identity, finished, history), live)
        self._warn_of_losses(recorded)
        self.events.tell(DidCommit(self._keeper.generation, recorded, time.perf_counter() - started))
        basis = self._reads.basis(self._asked, self.stage.input_id())
        return Outcome(finished, old_output, self.report, self.events, basis, changes_lost, history)

    def _verify(self) -> tuple[int, int]:
        coded = self._look()
        with self._generation():
            self._decide(coded)
            return self.stage.verify(self.options.verify)

    def _look(self) -> Identity:
        """What the code is, and what the input is."""
        started = time.perf_counter()
        coded: Identity = self.stage.identify()
        self._warn(coded.impurities)
        if coded.impurities and self.options.strict is not None:
            raise NotFollowed(self._name, tuple(coded.impurities))
        size = self.stage.look(self.options, self.workforce.spark.segments())
        self.events.tell(DidLook(size, time.perf_counter() - started))
        return coded

    @contextmanager
    def _generation(self) -> Iterator[None]:
        """While this goes on, the collector leaves alone what the run may use."""
        self._keeper.generation = self.memo.begin_generation(self._key)
        self.events.tell(DidNumber(self._keeper.generation))
        try:
            yield
        finally:
            if not self._keeper.committed:
                self.memo.abort_generation(self._key, self._keeper.generation)

    def _decide(self, coded: Identity) -> _Decided:
        """What is reused, what runs and why, from what the last run left and what the memo holds."""
        before = self._last_record()
        self._reads.recall(coded, before)
        identity = self._reading(coded)
        self._runner.places = before.places if before is not None else None
        if before is not None and self.options.amends:
            there = {f"variable {read.name}" for read in self._reads.known.names()} | identity.parts.keys()
            self._amended |= set(before.amended) & there
            self._runner.amended = frozenset(self._amended)
        return _Decided(self.stage.decide(coded, identity, before), identity, before)

    def _demand_reuse(self, decision: Decision) -> None:
        strict = self.options.strict
        if strict is None:
            return
        explanation = decision.explanation()
        if explanation.reusable < strict:
            raise TooLittleReuse(self._name, explanation.reusable, strict, explanation.why)

    def _carry_out(self, step: Step, coded: Identity) -> None:
        """Run what is missing of a step, until it is done."""
        while (work := step.work()) is not None:
            self.events.tell(WillExecute(step.name, work.ids))
            started = self._runner.now()
            answers = self._runner.run(work, partial(self._keep, step))
            step.ran(answers, self._runner.now() - started)
            if self._learn(step.name, answers):
                identity = self._reading(coded)
                step.rekey(identity, [answer for answer in answers if self._reads.covers(step.name, answer)])
                self._reads.keep(coded, self._keeper)  # a run that fails now finds what it kept all the same
                raise _ReadsMore
            step.take(answers)

    def _keep(self, step: Step, answer: Any) -> None:
        """Store what a task gave as soon as it is there, if its id names all that it read."""
        if self._reads.covers(step.name, answer):
            step.keep(answer)

    def _history(self, before: Record | None, seconds: float) -> tuple[PastRun, ...]:
        """The job's runs with this one, which is over but for its commit."""
        store_bytes = self._keeper.store_bytes() if self.options.counts_store else None
        sizes = (self.report.input_bytes, self.report.fresh_bytes, store_bytes)
        run = PastRun(self._keeper.generation, round(time.time(), 3), round(seconds, 4), *sizes)
        return remembered(before.history if before is not None else (), run)

    def _record(self, identity: Identity, finished: Finished, history: tuple[PastRun, ...]) -> Record:
        return Record(
            kind=self.stage.kind,
            gives=finished.id,
            parts=identity.parts,
            reads=self._reads.fact(),
            amended=tuple(sorted(self._amended)),
            places=self._runner.places,
            origin=self.options.origin,
            body=finished.body,
            history=history,
        )

    def _last_record(self) -> Record | None:
        """What the last run of the job left; None for one of another kind of stage, or of another release."""
        generation = self.memo.last_generation(self._key)
        record = Record.from_bytes(generation.record) if generation is not None else None
        return record if record is not None and record.kind == self.stage.kind else None

    def _old_output(self, before: Record | None) -> tuple[Output | None, str]:
        """The output of the run before, for `changes`; or why it is not known. Neither for a first run."""
        notes = self.memo.delivered
        noted = notes.noted(self._key) if notes is not None else None
        if before is None and noted is None:
            return None, ""
        if before is None or noted is None or before.gives != noted:
            return None, "its record was lost, or could not be written"
        try:
            return self.stage.output_of(before.body), ""
        except (OutputUnknown, BlockLost) as lost:
            return None, str(lost)

    # What functions read besides their input.

    def _reading(self, coded: Identity) -> Identity:
        """The identity with what the functions are known to read, as it is now."""
        identity = self._reads.within(coded)
        self._runner.read = self._reads.known.parts()
        return identity

    def _learn(self, step: str, answers: Sequence[Any]) -> bool:
        """Take in what tasks read; whether that is more than was known."""
        seen = observed(answers)
        told = sorted({sentence for each in seen for sentence in each.untracked} - set(self.report.warnings))
        self._warn(told)
        if told and self.options.strict is not None:
            raise NotFollowed(self._name, tuple(told))
        if all(self._reads.known.covers(step, each) for each in seen):
            return False
        if not all(digest for each in seen for digest in each.reads.values()):
            self.workforce.renew()  # a worker may hold what it read before that was written again
        amended = self._reads.known.learn(step, seen)
        if amended and not self.options.amends:
            raise CodeDiffers(tuple(sorted(amended)))
        if amended:
            self.workforce.renew()  # a module that is imported holds what it read of the variable then
        self._amended |= amended
        return True

    # What stands in the way of an attempt.

    def _attempts(self, attempt: Callable[[], Given]) -> Given:
        """Try; again with what was learned, when something stands in the way that can be overcome."""
        again = False
        while True:
            self._begin(goes_on=again)
            again = False
            try:
                return attempt()
            except BlockLost as lost:
                if lost.pack in self.lost:
                    raise
                self.stage.recover_input(lost)
                self._lose(lost)
            except _ReadsMore:
                again = True
            except OtherWorkerNeeded as needed:
                self._move(needed, needed.module)
            except KeepsState:
                self.workforce.renew()  # the workers' modules are not as they were
                raise
            except CodeDiffers as differs:
                self._amend(differs)
            except IncoopError as error:
                why = self.stage.overcome(error)
                if why is None:
                    raise
                self._say(why)

    def _begin(self, goes_on: bool) -> None:
        self.events.tell(DidBegin(self._name, goes_on))
        amends = self.options.amends
        self._runner = Runner(
            *(self._name, self.workforce, self.events, self.stage.proves, self.stage.memoizes),
            amended=frozenset(self._amended),
            # Other machines have folders of their own, and caches in them.
            folder=str(Path.cwd()) if amends and not self.workforce.spark.clustered else "",
            arguments=tuple(sys.argv) if amends else None,
            beside_pyspark=not amends,
        )
        self._keeper = Keeper(self.memo, self.events)
        self.stage.begin(Attempt(self.memo, self._runner, self.events, self._keeper, frozenset(self.lost)))

    def _lose(self, lost: BlockLost) -> None:
        self.lost |= {lost.pack, *lost.also}
        self._say(f"a stored result is damaged and is computed again ({lost})")

    def _move(self, error: IncoopError, why: str) -> None:
        """Go on in other workers, once for a reason."""
        if why in self._moved:
            raise error
        self._moved.add(why)
        self.workforce.renew()

    def _amend(self, differs: CodeDiffers) -> None:
        """Go on with the values that workers were found not to have, if there are such."""
        # What cannot be sent may come with what can: a function that was put into a module's list.
        more = {part for part in differs.differs if amendable(part)} - self._amended
        if not self.options.amends or not more:
            # Perhaps only this worker is not as it should be, by something that ran in it before.
            self._move(differs, "differs")
            return
        self._amended |= more

    def _say(self, why: str) -> None:
        log.warning("%s: %s", self._name, why)
        self._warn([why])

    def _warn(self, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            self.events.tell(DidWarn(sentence))

    def _warn_of_losses(self, recorded: bool) -> None:
        """Say what of this run could not be kept, or what of earlier ones could not be used."""
        self._warn(self.memo.losses())
        if not recorded and self.memo.delivered is not None:
            self._warn(["this run is not recorded: it may be computed again, and the next one cannot tell its changes"])
