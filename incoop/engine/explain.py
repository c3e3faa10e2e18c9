"""What a run would reuse, what it would run, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would run. Prints as a few sentences."""

    job: str
    input_bytes: int
    chunks: int
    #: Chunks and bytes that would be mapped.
    fresh_chunks: int
    fresh_bytes: int
    #: Nodes of the contraction tree that would be combined, of how many.
    fresh_nodes: int
    nodes: int
    #: Why it is not less.
    why: str

    @property
    def reusable(self) -> float:
        """Share of the input's bytes that need not be mapped."""
        return 1.0 - self.fresh_bytes / self.input_bytes if self.input_bytes else 1.0

    def __str__(self) -> str:
        return (
            f"{self.job}: {self.reusable:.1%} of {self.input_bytes:,} bytes can be reused\n"
            f"  map      {self.fresh_chunks:,} of {self.chunks:,} chunks ({self.fresh_bytes:,} bytes)\n"
            f"  combine  {self.fresh_nodes:,} of {self.nodes:,} nodes\n"
            f"  because  {self.why}"
        )
