"""Bytes as text, as the project reads text everywhere: what is no UTF-8 becomes U+FFFD, as often as in Java."""

from __future__ import annotations

from incoop.inchdfs.cutting.records import REPLACE_AS_JAVA


def decoded(data: bytes) -> str:
    """Bytes as text without lone surrogates."""
    return data.decode("utf-8", REPLACE_AS_JAVA)
