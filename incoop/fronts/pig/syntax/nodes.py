"""What every node of the syntax tree is: a frozen value that knows its place, which equality leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field

from incoop.fronts.pig.syntax.places import NOWHERE, ScriptPlace


@dataclass(frozen=True, slots=True)
class PigNode:
    """A piece of a script. Two nodes are equal if they say the same, wherever they stand."""

    place: ScriptPlace = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
