"""Say which part of the code changed between two runs.

Contract: `changed_parts` compares the results of two calls of `parts`; equal results give an empty list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class PartChange:
    """One part of a fingerprint that is not what it was.

    Example:
        >>> print(PartChange("function", "textutil", "clean", "changed"))
        function `clean` in `textutil` changed
    """

    #: "function", "class", "global", "captured", "module", "package", "ambient" (state of the process), "effects" (of a
    #: module's top level), "patched", "file", "version" or "python".
    kind: str
    #: The module it belongs to; empty for packages and files.
    module: str
    name: str
    #: "changed", "added" or "removed".
    change: str

    @classmethod
    def of(cls, key: str, change: str) -> PartChange:
        """Read a key of `parts`."""
        kind, _, rest = key.partition(" ")
        module, colon, name = rest.partition(":")
        if kind in ("package", "file", "module", "ambient", "effects", "patched") or not colon:
            return cls(kind, "", rest, change)
        return cls(kind, module, name, change)

    @property
    def key(self) -> str:
        """The key of `parts` that it is about."""
        place = f"{self.module}:{self.name}" if self.module else self.name
        return f"{self.kind} {place}" if place else self.kind

    def __str__(self) -> str:
        kind = "captured variable" if self.kind == "captured" else self.kind
        place = f" in `{self.module}`" if self.module else ""
        name = f" `{self.name}`" if self.name else ""
        return f"{kind}{name}{place} {self.change}"


def changed_parts(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[PartChange]:
    """Return what differs between two results of `parts`, changed parts first.

    Example:
        >>> old = {"function textutil:clean": b"1", "global textutil:STOP": b"1"}
        >>> [str(change) for change in changed_parts(old, {"function textutil:clean": b"2"})]
        ['function `clean` in `textutil` changed', 'global `STOP` in `textutil` removed']
    """
    changed = [PartChange.of(key, "changed") for key in old.keys() & new.keys() if old[key] != new[key]]
    added = [PartChange.of(key, "added") for key in new.keys() - old.keys()]
    removed = [PartChange.of(key, "removed") for key in old.keys() - new.keys()]
    return [*sorted(changed), *sorted(added), *sorted(removed)]
