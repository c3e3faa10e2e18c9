"""What can go wrong when the user's code goes to a worker."""

from __future__ import annotations

from collections.abc import Sequence

from incoop.base.errors import IncoopError
from incoop.fingerprint import PartChange

#: Parts that are named in a message; more would not help to find the first.
_NAMED = 5


class CodeDiffers(IncoopError):
    """A worker has other code, or other values, than those that were hashed on the driver. Nothing was stored."""

    def __init__(self, differs: tuple[str, ...]) -> None:
        super().__init__(differs)  # fields survive the trip from an executor
        #: Keys of `fingerprint.parts`, such as `global settings:LIMIT`.
        self.differs = differs

    def __str__(self) -> str:
        return (
            f"a worker runs other code than this program has: {named(self.differs)}. Perhaps a file was saved after "
            "this program had loaded it: then start the program again. Perhaps the program replaced a function or "
            "changed an object of another module: do that at the top level of the module that the job's functions are "
            "in, which workers run, too. Or the worker's machine has another version of a package. Nothing was stored."
        )


class KeepsState(IncoopError):
    """A function remembers something from one record to the next, so that its results depend on what ran before."""

    def __init__(self, job: str, differs: tuple[str, ...]) -> None:
        super().__init__(job, differs)
        self.job = job
        #: Keys of `fingerprint.parts` that were changed by running the functions.
        self.differs = differs

    def __str__(self) -> str:
        return (
            f"functions of job {self.job!r} keep something from one record to the next: {named(self.differs)} while "
            "it ran. What they give then depends on what they saw before, and cannot be reused. Let them depend on "
            "their arguments alone; a cache belongs under functools.lru_cache, which counts as no state; what is to be "
            "known of all records with a key belongs in the reducer. Nothing of this task was stored; memoize=False "
            "runs the job without reuse."
        )


class CannotTravel(IncoopError):
    """A function, or something that it captured, cannot be sent to a worker."""

    def __init__(self, doing: str, error: str) -> None:
        super().__init__(doing, error)
        self.doing, self.error = doing, error

    def __str__(self) -> str:
        return (
            f"the job's functions could not be {self.doing}: {self.error}. Make what cannot be pickled (a lock, a "
            "connection, an open file) inside the function, or put the functions into a module of their own beside the "
            "program: modules travel as source."
        )


class ModuleNotLoaded(IncoopError):
    """A module of the user's could not be imported in a worker."""

    def __init__(self, module: str, error: str) -> None:
        super().__init__(module, error)
        self.module, self.error = module, error

    def __str__(self) -> str:
        return (
            f"the module {self.module} could not be imported in a worker: {self.error}. Workers run the top level of "
            "the modules that a job's functions come from; what is only for the program itself belongs under "
            "`if __name__ == '__main__':`, and packages have to be installed on every machine."
        )


class OtherWorkerNeeded(IncoopError):
    """The worker has loaded another version of a module; another worker has to run this."""

    def __init__(self, module: str) -> None:
        super().__init__(module)
        self.module = module

    def __str__(self) -> str:
        return f"a worker holds another version of the module {self.module}, and no other worker could be had."


def named(parts: Sequence[str]) -> str:
    """Parts in words.

    Example:
        >>> named(["global settings:LIMIT", "function job:words"])
        'function `words` in `job`, global `LIMIT` in `settings` changed'
    """
    said = [str(PartChange.of(part, "changed")).removesuffix(" changed") for part in sorted(parts)]
    more = f" and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
    return f"{', '.join(said[:_NAMED])}{more} changed"
