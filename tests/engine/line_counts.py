"""A small kind of stage, all of it in this file: how many lines each chunk has, and how many the input.

It shows what a kind needs: the driver, the runner, the keeper and the report are as they are for jobs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xxhash

from incoop import inchdfs
from incoop.base.errors import IncoopError
from incoop.base.stage_path import StagePath
from incoop.code import Functions, KnownReads, Observed, Shipment
from incoop.engine.blocks import Block
from incoop.engine.events import DidExecute, DidReuse, WillRun
from incoop.engine.explain import Explanation
from incoop.engine.inputs import chunk_inputs
from incoop.engine.output import Output, Unreduced
from incoop.engine.record import Record
from incoop.engine.running.work import Work
from incoop.engine.stage import Attempt, Finished, RunOptions
from incoop.fingerprint import fingerprint
from incoop.job import Job
from incoop.memo import MemoEntry, WorkerConfig


@dataclass(frozen=True)
class Identity:
    """One function, and what it reads."""

    print: bytes
    parts: Mapping[str, str]
    impurities: Sequence[str] = ()

    @property
    def reads_id(self) -> bytes:
        return xxhash.xxh3_128_digest(b"reads" + self.print)

    def within(self, reads: KnownReads) -> Identity:
        return replace(self, print=xxhash.xxh3_128_digest(self.print + reads.digest("count")))

    def task(self, chunk: bytes) -> bytes:
        return xxhash.xxh3_128_digest(b"line counts" + self.print + chunk)


@dataclass(frozen=True)
class CountSpec:
    code: Functions | Shipment
    worker: WorkerConfig


def count_chunks(spec: CountSpec, tasks: Sequence[tuple[bytes, Block]]) -> list[Any]:
    """In a worker: ids and counts, and what the function read."""
    try:
        opened = spec.code.open()
        with opened.at_work() as observed:
            (counts,) = opened.functions.mappers
            done = [(id_, counts(block.chunk().content())) for id_, block in tasks]
    except IncoopError as error:
        return [error]
    doubt = opened.doubts()
    return [doubt] if doubt is not None else [*done, *observed]


class CountStep:
    name = "count"

    def __init__(self, stage: LineCounts) -> None:
        self._stage = stage

    def work(self) -> Work | None:
        stage = self._stage
        missing = [index for index, id_ in enumerate(stage.ids) if id_ not in stage.counts]
        tasks = list(zip([stage.ids[i] for i in missing], stage.chunked.blocks(missing), strict=True))
        if not tasks:
            return None
        return Work(
            step=self.name,
            ids=tuple(id_ for id_, _ in tasks),
            what=f"count {len(tasks)} chunks",
            function=count_chunks,
            spec=CountSpec(stage.functions, stage.attempt.memo.worker_config()),
            share=lambda cores, clustered: [tasks[at::cores] for at in range(min(cores, len(tasks)))],
        )

    def keep(self, answer: Any) -> None:
        done = [each for each in answer if isinstance(each, tuple)]
        self._stage.attempt.keeper.store({id_: MemoEntry(inline=str(count).encode()) for id_, count in done})

    def ran(self, answers: Sequence[Any], seconds: float) -> None:
        done = [each for answer in answers for each in answer if isinstance(each, tuple)]
        self._stage.counts |= dict(done)
        ids = tuple(id_ for id_, _ in done)
        self._stage.attempt.events.tell(DidExecute(self.name, ids, {"map": len(ids)}, {"map": seconds}))

    def rekey(self, identity: Identity, covered: Sequence[Any]) -> None:
        """What was counted is counted again."""

    def take(self, answers: Sequence[Any]) -> None:
        for each in (each for answer in answers for each in answer):
            if isinstance(each, IncoopError) and not isinstance(each, Observed):
                raise each


@dataclass(frozen=True)
class CountDecision:
    explained: Explanation
    steps: Sequence[CountStep]

    def explanation(self) -> Explanation:
        return self.explained


class LineCounts:
    """The stage."""

    kind = "line counts 1"
    proves = True
    memoizes = True
    attempt: Attempt

    def __init__(self, name: str, count: Callable[[bytes], int], path: Any, store: inchdfs.DatasetStore) -> None:
        self.path, self._count, self._path, self._store = StagePath(name), count, path, store
        self.functions = Functions((count,), None, None, inchdfs.Lines())

    def begin(self, attempt: Attempt) -> None:
        self.attempt, self.counts = attempt, dict[bytes, int]()

    def identify(self) -> Identity:
        return Identity(fingerprint(self._count), {"function count": fingerprint(self._count).hex()})

    def look(self, options: RunOptions, segments: Any) -> int:
        job = Job(self.path.job, lambda _, line: ())
        self.chunked = chunk_inputs(job, self._path, self._store, options.chunks, options.paranoid, segments)
        return self.chunked.size

    def input_id(self) -> bytes:
        return xxhash.xxh3_128_digest(self.chunked.rows["id"].tobytes())

    def decide(self, coded: Identity, identity: Identity, before: Record | None) -> CountDecision:
        self.ids = [identity.task(chunk) for chunk in self.chunked.rows["id"].tolist()]
        entries = self.attempt.memo.lookup(self.ids)
        self.counts = {id_: int(e.inline) for id_, e in zip(self.ids, entries, strict=True) if e is not None}
        self.attempt.events.tell(WillRun({"map": len(self.ids)}))
        self.attempt.events.tell(DidReuse("count", np.frombuffer(b"".join(self.counts), "V16")))

        fresh = len(set(self.ids) - set(self.counts))
        explained = Explanation(str(self.path), self.chunked.size, len(self.ids), fresh, 0, 0, 0, "chunks are new")
        return CountDecision(explained, (CountStep(self),))

    def finish(self) -> Finished:
        total = sum(self.counts[id_] for id_ in self.ids)
        id_ = xxhash.xxh3_128_digest(b"".join(self.ids))
        body = json.dumps({"total": total}).encode()
        return Finished(id_, Unreduced(), total, {"lines": total}, body, b"".join(self.counts), lambda: id_)

    def verify(self, share: float) -> tuple[int, int]:
        return 0, 0

    def output_of(self, body: bytes) -> Output:
        return Unreduced()

    def recover_input(self, lost: Any) -> None:
        """Chunks are files."""

    def overcome(self, error: IncoopError) -> str | None:
        return None
