"""Lines by a regular expression: each group is a field. Logs of web servers are such.

Contract: the expression is searched for in each line; a line without it is left out, and counted. A group that takes
no part is null. Text that is no UTF-8 is read with replacement signs, as Java reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incoop.fronts.pig.functions.java_regex import compiled
from incoop.query.errors import BadPlan
from incoop.query.sources.fields import reader_of
from incoop.query.sources.text_format import TextFormat, lines_of
from incoop.query.types import BYTES, Row
from incoop.query.utf8 import decoded
from incoop.query.warnings import RECORD, Warnings

#: host, identity, user, [time], "method address protocol", status, bytes
COMMON_LOG = r"^(\S+)\s+(\S+)\s+(\S+)\s+.(\S+\s+\S+).\s+.(\S+)\s+(\S+)\s+(\S+.\S+).\s+(\S+)\s+(\S+)$"
#: the same with "where from" and "which program"
COMBINED_LOG = (
    r'^(\S+)\s+(\S+)\s+(\S+)\s+.(\S+\s+\S+).\s+"(\S+)\s+(.+?)\s+(HTTP[^"]+)"\s+(\S+)\s+(\S+)\s+"([^"]*)"\s+"(.*)"$'
)


@dataclass(frozen=True, slots=True)
class PatternLines(TextFormat):
    """Groups of an expression of Java's."""

    pattern: str

    def __post_init__(self) -> None:
        compiled(self.pattern)

    def rows(
        self, chunk: bytes, warnings: Warnings, wanted: Sequence[int] | None = None, first: bool = False
    ) -> list[Row]:
        search = compiled(self.pattern).search
        fields = self.schema.fields
        groups = compiled(self.pattern).groups
        width = groups if fields is None else len(fields)
        chosen = range(width) if wanted is None else wanted
        readers = [(at, reader_of(BYTES if fields is None else fields[at].type, warnings)) for at in chosen]
        rows: list[Row] = []
        for line in lines_of(chunk):
            found = search(decoded(line))
            if found is None:
                warnings.count(RECORD)
                continue
            parts = found.groups()
            rows.append(
                tuple(
                    [
                        None if at >= groups or (part := parts[at]) is None else read(part.encode("utf-8", "replace"))
                        for at, read in readers
                    ]
                )
            )
        return rows

    def printed(self, rows: Iterable[Row]) -> bytes:
        raise BadPlan("lines are read by a regular expression, not written. STORE … USING PigStorage() writes them.")
