"""Combiners that a way in cannot leave to the engine's tree."""

from __future__ import annotations

from incoop.base.errors import IncoopError


class CombinerGivesOtherKeys(IncoopError):
    """A combiner of lines gave a key that it was not given.

    The engine's own `CombinerChangesKeys` leaves the combiner out at once; a way in has something better to do first.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return (
            f"the combiner gave the key {self.key}, which it was not given. Lines of other keys cannot be combined "
            "again; give the keys that were read, or leave the combiner out."
        )
