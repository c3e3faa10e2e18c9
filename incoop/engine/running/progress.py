"""A progress line on a terminal for tasks, of a Spark job or of our own processes, and none in a pipe."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Often enough to look alive, seldom enough not to show in a run.
_SECONDS = 0.2


@contextmanager
def counted_progress(description: str, tasks: int) -> Iterator[Callable[[], object]]:
    """Show how many tasks are done: as often as what this gives was called."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with _bar(description, tasks) as bar:
        yield bar.update


def _bar(description: str, tasks: int) -> Any:
    from tqdm import tqdm  # 20 ms that a worker, or a call in a pipe, need not wait

    return tqdm(total=tasks, desc=description, unit="task", leave=False, file=sys.stderr)


@contextmanager
def task_progress(context: Any, description: str, tasks: int) -> Iterator[None]:
    """Show how many of a job's tasks are done while the block runs."""
    if not sys.stderr.isatty():
        yield
        return
    group = uuid.uuid4().hex
    context.setJobGroup(group, description, interruptOnCancel=True)
    done = threading.Event()
    with _bar(description, tasks) as bar:
        watcher = threading.Thread(target=_watch, args=(context, group, bar, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _watch(context: Any, group: str, bar: Any, done: threading.Event) -> None:
    tracker = context.statusTracker()
    while not done.wait(_SECONDS):
        completed = 0
        for job in tracker.getJobIdsForGroup(group):
            info = tracker.getJobInfo(job)
            stages = [tracker.getStageInfo(stage) for stage in info.stageIds] if info else []
            completed += sum(stage.numCompletedTasks for stage in stages if stage)
        bar.update(max(0, completed - bar.n))
