"""What queries need of a session and of its results, so that the layer stands below both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from incoop.contraction.parts.packs import BlockLost
from incoop.engine.blocks import PairBlock
from incoop.engine.explain import Explanation
from incoop.engine.output import Output
from incoop.engine.report import RunReport
from incoop.engine.save import Printer
from incoop.inchdfs import DatasetStore
from incoop.job import Job


class JobResult(Protocol):
    """The result of a stage, as `incoop.Result`."""

    @property
    def report(self) -> RunReport: ...

    @property
    def output(self) -> Output: ...

    def __iter__(self) -> Iterator[Any]: ...

    def output_blocks(self) -> Sequence[PairBlock]: ...

    def save_printed(self, folder: str | Path, printer: Printer | None, output: Output | None = None) -> list[Path]: ...

    def recover(self, lost: BlockLost) -> None: ...


class RunsJobs(Protocol):
    """What runs stages, as `incoop.JobSession`."""

    #: Where indexes of inputs are kept.
    datasets: DatasetStore

    def run(self, job: Job, inputs: Any) -> JobResult: ...

    def note_stages(self, job: str, stages: Iterable[str]) -> None: ...

    def explain(self, job: Job, inputs: Any) -> Explanation: ...
