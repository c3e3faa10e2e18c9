"""The input of a run on a window: which chunks, and of some which records.

Contract: a run on it gives what a run on a file with just these records gives. What is not in the window is not
mapped; a window that moved costs what came into it, what went, and the chunks that it begins and ends in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from incoop.base.errors import BadCall, IncoopError
from incoop.engine.chosen import Choice, ChosenChunks, ChunkTable, OneLook, Ranges
from incoop.engine.inputs import BlockSource
from incoop.engine.stages.map_contract.whole_chunks import ChunkMapper
from incoop.job import Job
from incoop.windows.choose import Period, Span, chunks_held, in_period, newest_of, period_of
from incoop.windows.times import SpanOf, records_in, span_of
from incoop.windows.window import TimeOf, Window

#: Runs a job without a reducer; gives its pairs, in the order of the chunks.
RunPairs = Callable[[Job, Any], Sequence[tuple[Any, Any]]]


@dataclass(frozen=True, slots=True)
class Windowed:
    """A job and its inputs as they are in a window."""

    job: Job
    inputs: Any
    #: How many records have no time, and so are in no window of time.
    without_time: int = 0


def windowed(window: Window, job: Job, inputs: Any, run: RunPairs) -> Windowed:
    """What to run; its runs go by a path of their own.

    Of several named inputs each has a window of its own, but a window of time ends at one time for all.
    """
    if not isinstance(window, Window):
        raise BadCall(f"a window is made by incoop.last(…), not {window!r:.60}.")
    named = inputs if isinstance(inputs, Mapping) else {"": inputs}
    if any(isinstance(each, BlockSource) for each in named.values()):
        raise BadCall(
            "a window is one on files or datasets; the result of another run is none. Give that run the window."
        )
    without = 0
    if callable(window.of):
        timed = _timed(window.of, job, named, run)
        without = sum(span.without for each in timed.values() for span in each.spans.values())
        chosen = _by_times(window, window.of, job, timed, run)
    else:
        chosen = {name: ChosenChunks(each, partial(_held, window), whole=True) for name, each in named.items()}
    stage = f"{job.stage}, {window}" if job.stage else str(window)
    return Windowed(replace(job, stage=stage), chosen if isinstance(inputs, Mapping) else chosen[""], without)


def _held(window: Window, table: ChunkTable) -> Choice:
    return Choice(chunks_held(window, table))


@dataclass(slots=True)
class _Timed:
    """One input, with the spans of its chunks by content."""

    inputs: Any
    look: OneLook = field(default_factory=OneLook)
    ids: list[bytes] = field(default_factory=list)
    spans: dict[bytes, Span] = field(default_factory=dict)
    clips: dict[bytes, Ranges] = field(default_factory=dict)

    def all(self, table: ChunkTable) -> Choice:
        """All chunks, noting which they are."""
        self.ids = table.rows["id"].tolist()
        return Choice(np.arange(len(self.ids)))

    def only(self, wanted: set[bytes], table: ChunkTable) -> Choice:
        """Each of the wanted chunks once, as far as they are there, noting which they are."""
        place = {id_: at for at, id_ in enumerate(table.rows["id"].tolist()) if id_ in wanted}
        found = sorted(place.values())
        self.ids = table.rows["id"][found].tolist()
        return Choice(np.array(found, np.int64))

    def within(self, period: Period | None, table: ChunkTable) -> Choice:
        """The chunks in a period, cut where it begins and ends."""
        ids = table.rows["id"].tolist()
        if not all(id_ in self.spans for id_ in ids):
            raise InputMoved
        whole, met = in_period(period, {at: self.spans[id_] for at, id_ in enumerate(ids)})
        if not all(ids[at] in self.clips for at in met):
            raise InputMoved
        clips = {at: self.clips[ids[at]] for at in met if self.clips[ids[at]]}
        return Choice(np.array(sorted([*whole, *clips]), np.int64), clips)


class InputMoved(IncoopError):
    """The input changed between the look at its times and the run."""

    def __str__(self) -> str:
        return (
            "the input changes while the times in it are looked at; run again, or put it into a dataset (incoop put)."
        )


def _timed(of: TimeOf, job: Job, named: Mapping[str, Any], run: RunPairs) -> dict[str, _Timed]:
    """The inputs, with the span of every chunk."""
    # Chunks are whole to those who look at times: as small as those of a dataset, for all who share the look.
    timed = {name: _Timed(each) for name, each in named.items()}
    for name, each in timed.items():
        stage = f"times{name and ' of ' + name}"
        pairs = run(_timing(job, stage, SpanOf(of)), ChosenChunks(each.inputs, each.all, each.look, whole=True))
        each.spans = {id_: span_of(value) for id_, (_, value) in zip(each.ids, pairs, strict=True)}
    return timed


def _by_times(
    window: Window, of: TimeOf, job: Job, timed: Mapping[str, _Timed], run: RunPairs
) -> dict[str, ChosenChunks]:
    """What is in the window, by the times of records: those of the chunks that it begins and ends in are looked at."""
    period = period_of(window, newest_of([span for each in timed.values() for span in each.spans.values()]))
    for name, each in timed.items():
        cut = {id_ for id_, span in each.spans.items() if period and period.meets(span) and not period.holds(span)}
        if period and cut:
            chosen = ChosenChunks(each.inputs, partial(each.only, cut), each.look, whole=True)
            stage = f"cuts{name and ' of ' + name}"
            pairs = run(_timing(job, stage, records_in(of, period)), chosen)
            each.clips = {id_: value for id_, (_, value) in zip(each.ids, pairs, strict=True)}
    return {
        name: ChosenChunks(each.inputs, partial(each.within, period), each.look, whole=True)
        for name, each in timed.items()
    }


def _timing(job: Job, stage: str, function: Callable[[Sequence[Any]], Any]) -> Job:
    """A job that looks at times, for another one.

    Its code is that of `function`, with the period in it: a `version` stands for the other job's code.
    """
    return Job(
        job.name,
        ChunkMapper(function),
        depends_on=job.depends_on,
        memoize=job.memoize,
        records=job.records,
        stage=f"{job.stage}, {stage}" if job.stage else stage,
    )
