"""What a watch does at a look, when the next look is, and what is said of how it went: decisions without a clock.

Contract: nothing here acts. Looks are due at fixed times; one that was missed because a run took longer is made up for
at once, and only once. An input that is missing is said once. A failure is said whole when it begins, shortly while it
goes on, at looks whose number is a power of two, and when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from incoop.base.errors import IncoopError
from incoop.base.file_stamps import Stamp
from incoop.inchdfs.errors import DatasetNotFound, InputNotFound


def next_look(began: float, every: float, last: int, now: float) -> tuple[int, float]:
    """The number and the time of the look after the one with number `last`; the first has number 0, when it began.

    Example:
        >>> next_look(100.0, 30.0, 0, 100.2), next_look(100.0, 30.0, 0, 171.0), next_look(100.0, 30.0, 2, 172.0)
        ((1, 130.0), (2, 160.0), (3, 190.0))
    """
    number = max(last + 1, int((now - began) // every))
    return number, began + number * every


#: What the system says of each file of the code; None for one that is not there.
CodeSeen = dict[str, Stamp | None]


class Action(StrEnum):
    """What is done at a look."""

    #: Load the job files, then look at the input.
    LOAD = "load"
    #: Look at the input, and run each job that is not current.
    LOOK = "look"


def action(seen: CodeSeen, loaded: CodeSeen | None) -> Action:
    """What to do when files of code are as `seen`; `loaded` is how they were when loaded, None if that failed.

    A file that was not there then belongs to a module that was imported since, and is no change. Files that do not load
    are tried again each time: what is wrong with them may be in a file that nobody knows of.
    """
    if loaded is None or any(path in seen and seen[path] != stamp for path, stamp in loaded.items()):
        return Action.LOAD
    return Action.LOOK


class Condition(StrEnum):
    """How something that is tried at every look stands."""

    NEW = "new"
    CURRENT = "current"
    #: An input is not there yet, or not any more.
    WAITING = "waiting"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Standing:
    """The same, with what is needed to say it only once."""

    condition: Condition = Condition.NEW
    #: What is missing or fails, in one line.
    why: str = ""
    #: At how many looks in a row.
    times: int = 0


def after_success(before: Standing) -> tuple[Standing, str]:
    """The standing after a look that went well, and what to say; nothing unless something was wrong before."""
    said = {Condition.WAITING: "the input is there", Condition.FAILING: "works again"}.get(before.condition, "")
    return Standing(Condition.CURRENT), said


def after_failure(before: Standing, error: Exception) -> tuple[Standing, str]:
    """The same after one that did not."""
    told = str(error).strip()
    if not isinstance(error, IncoopError):  # an error of ours is a sentence, any other is known by its name
        told = f"{type(error).__name__}: {told}"
    why = told.partition("\n")[0]
    waits = isinstance(error, InputNotFound | DatasetNotFound)
    condition = Condition.WAITING if waits else Condition.FAILING
    if (before.condition, before.why) != (condition, why):
        # All of it, with the user's traceback, once.
        return Standing(condition, why, 1), f"waits for its input: {told}" if waits else told
    standing = Standing(condition, why, before.times + 1)
    if waits or standing.times & (standing.times - 1):
        return standing, ""
    return standing, f"still failing, at {standing.times} looks: {why:.200}"


def folder_names(jobs: Sequence[tuple[str, str]]) -> list[str]:
    """Where each job's part files go below the output folder, by the stems of files and the names in them.

    Example:
        >>> folder_names([("logs", "top")]), folder_names([("logs", "top"), ("count", "job")])
        ([''], ['logs.top', 'count.job'])
    """
    return [""] if len(jobs) == 1 else [f"{stem}.{name}" for stem, name in jobs]
