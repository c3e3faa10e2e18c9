"""What the functions of a run are found to read besides their input, over all attempts at it.

Contract: ids are made of what all known names lead to when `within` looks; a result is kept under one only if `covers`
says that its tasks read nothing else. What is found is kept for whoever runs this code, under whatever name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from incoop.base.content_ids import content_id
from incoop.code import KnownReads, Observed
from incoop.engine.keeper import Keeper, Memo
from incoop.engine.record import Basis, Record
from incoop.engine.stage import Identity


@dataclass(slots=True)
class FoundReads:
    memo: Memo
    known: KnownReads = field(default_factory=KnownReads)

    def recall(self, coded: Identity, before: Record | None) -> None:
        """What this code is known to read, under whatever name it ran; and what the job read when it had other code."""
        (entry,) = self.memo.lookup([coded.reads_id])
        if entry is not None and entry.inline:
            self.known.recall(json.loads(entry.inline))
        elif before is not None:
            self.known.recall(before.reads)

    def keep(self, coded: Identity, keeper: Keeper) -> list[bytes]:
        """Keep what the code reads for others that run it; gives the id of the entry, if there is one."""
        if not self.known.names():
            return []
        keeper.note(coded.reads_id, json.dumps(self.known.as_fact()).encode())
        return [coded.reads_id]

    def within(self, coded: Identity) -> Identity:
        """The identity with what the functions are known to read, as it is now."""
        self.known.look()
        return coded.within(self.known)

    def basis(self, asked: Identity, input_id: bytes, before: Basis | None = None) -> Basis:
        """What a run comes of, by all that is known to be read: as it was last looked at, or now for `before`."""
        if before is not None:
            self.known.recall(before.reads)
            self.known.look()
        return Basis(content_id(asked.within(self.known).reads_id + input_id), self.fact())

    def fact(self) -> tuple[tuple[str, str, str], ...]:
        return tuple((step, kind, name) for step, kind, name in self.known.as_fact())

    def covers(self, step: str, answer: Any) -> bool:
        return all(self.known.covers(step, each) for each in observed([answer]))


def observed(answers: Sequence[Any]) -> list[Observed]:
    """What tasks read, of answers that are lists; others are failures."""
    lists = (answer for answer in answers if isinstance(answer, list))
    return [each for answer in lists for each in answer if isinstance(each, Observed)]
