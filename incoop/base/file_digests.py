"""Digests of whole files, each read once while its stamp tells that it did not change."""

from __future__ import annotations

from pathlib import Path

from incoop.base.content_ids import GrowingContent
from incoop.base.file_stamps import Stamp, Watch

#: Read in pieces that fit the processor's cache; hashing then runs at the speed of reading.
_PIECE = 1 << 20


class FileDigests:
    """What this process knows of files that it may be asked for again."""

    def __init__(self) -> None:
        self._known: dict[Stamp, bytes] = {}

    def of(self, path: Path) -> bytes:
        """The digest of a file's bytes."""
        watch, stamp = Watch(), Stamp.of(path)
        if (known := self._known.get(stamp)) is not None:
            return known
        tells = watch.will_tell(path, stamp)
        state = GrowingContent()
        with path.open("rb", buffering=0) as file:
            while piece := file.read(_PIECE):
                state.update(piece)
        if tells and Stamp.of(path) == stamp:
            self._known[stamp] = state.id()
        return state.id()
