"""What becomes of a line that does not follow its format: it is counted, and a few of them are in the report."""

from __future__ import annotations

from incoop.engine.running.counters import counter


def text_of(line: str | bytes) -> str:
    """A line as text. Bytes that are no UTF-8 stay apart from each other, as lone surrogates."""
    return line if isinstance(line, str) else line.decode("utf-8", "surrogateescape")


def count_malformed(kind: str, line: str) -> None:
    """Count a line for which a parser gives None."""
    counter(f"malformed {kind} lines", sample=line)
