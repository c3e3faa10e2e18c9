"""What tests of memoized RDDs share."""

from __future__ import annotations

from incoop import inchdfs

#: Small enough that a test's input has many chunks.
CHUNKS = inchdfs.ChunkSettings(average=2048)
