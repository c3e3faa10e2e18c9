"""Which Python workers of Spark a shipment goes to: such that hold no other version of its modules.

Contract: workers are told apart by an environment variable, by which Spark keeps them apart. A program whose modules do
not change has one kind of workers, the ordinary one. Nothing that a module did when it was imported (a patched
function, a registration) outlives its version: purging it from a running worker could not undo that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

#: Spark starts other Python workers for another value.
VARIABLE = "INCOOP_WORKPLACE"


class Workplaces:
    """The kinds of workers of one Spark context."""

    def __init__(self) -> None:
        self._number = 0
        self._held: dict[str, bytes] = {}

    def take(self, modules: Mapping[str, bytes]) -> dict[str, str]:
        """The variables of workers that hold none of these modules (names and digests) in another version.

        Example:
            >>> places = Workplaces()
            >>> places.take({"rules": b"1"}), places.take({"text": b"1"}), places.take({"rules": b"2"})
            ({}, {}, {'INCOOP_WORKPLACE': '1'})
        """
        if any(self._held.get(name, digest) != digest for name, digest in modules.items()):
            self.renew()
        self._held.update(modules)
        return {VARIABLE: str(self._number)} if self._number else {}

    def renew(self) -> None:
        """From now on, other workers."""
        self._number += 1
        self._held = {}


_known: WeakKeyDictionary[Any, Workplaces] = WeakKeyDictionary()


def workplaces_of(context: Any) -> Workplaces:
    """The kinds of workers of a Spark context, whoever asks."""
    return _known.setdefault(context, Workplaces())
