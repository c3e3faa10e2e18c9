"""What an evaluation knows besides the row: the tally of warnings, values of other plans, the rows around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incoop.query.types import Row, Value
from incoop.query.warnings import Warnings


class Evaluation:
    """One evaluation of expressions; scalars are by (plan, index)."""

    __slots__ = ("outer", "scalars", "warnings")

    def __init__(
        self,
        warnings: Warnings | None = None,
        scalars: Mapping[tuple[Any, int], Value] | None = None,
        outer: tuple[Row, ...] = (),
    ) -> None:
        self.warnings = Warnings() if warnings is None else warnings
        self.scalars = {} if scalars is None else scalars
        #: Rows around the one that is evaluated, the nearest last.
        self.outer = outer

    def inside(self, row: Row) -> Evaluation:
        """The evaluation of what is inside a bag of this row."""
        return Evaluation(self.warnings, self.scalars, (*self.outer, row))
