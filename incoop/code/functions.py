"""The functions of a job: as they are on the driver, or as a worker got them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incoop.code import watch
from incoop.code.reads import Observed

if TYPE_CHECKING:
    from incoop.base.errors import IncoopError


@dataclass(frozen=True, slots=True)
class Functions:
    """What a job's tasks call."""

    mappers: tuple[Any, ...]
    combiner: Any
    #: None for a map-only job.
    reducer: Any
    #: How bytes become records.
    records: Any
    #: Whether the work is done by programs that the functions start: their front follows what those read.
    start_programs: bool = False

    def roles(self) -> Iterator[tuple[str, Any]]:
        """Each function with the word for what it does; the order is that of `Shipment.expected`."""
        yield from (("mapper", mapper) for mapper in self.mappers)
        yield "combiner", self.combiner
        yield "reducer", self.reducer
        yield "records", self.records

    def open(self) -> Opened:
        """For tasks that run in the driver's own process, where what was hashed is what runs."""
        return Opened(self)


@dataclass(frozen=True, slots=True)
class Opened:
    """Functions that are ready to be called."""

    functions: Functions
    #: Says what running them has changed; None where nothing has to be asked.
    doubt: Callable[[], IncoopError | None] | None = None
    #: Whether what they read is noted.
    watched: bool = False
    #: The modules that they come from, with what those import; those of them that may keep what they read for others.
    modules: frozenset[str] = frozenset()
    caching: frozenset[str] = frozenset()

    @contextmanager
    def at_work(self) -> Iterator[list[Observed]]:
        """Inside, the functions are called; afterwards the list has what they read."""
        observed: list[Observed] = []
        if not self.watched:
            yield observed
            return
        watch.begin()
        try:
            yield observed
        finally:
            observed.append(watch.end(self.modules, self.caching))

    def doubts(self) -> IncoopError | None:
        """After a task: why its results must not be stored, if there is a reason."""
        return self.doubt() if self.doubt is not None else None
