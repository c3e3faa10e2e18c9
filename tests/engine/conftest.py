"""The places of the end-to-end tests."""

from __future__ import annotations

from tests.end_to_end.conftest import base, place

__all__ = ["base", "place"]
