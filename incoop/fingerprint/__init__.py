"""Fingerprints of code: equal exactly when a callable, all it reaches and all it captured are equal in content.

Contract: comments, docstrings, layout, file paths, hash seeds and machines do not count; anything that can change a
result does. `docs/fingerprints.md` has the rules with examples.

Imports base only.
"""

from __future__ import annotations

from incoop.fingerprint.api import (
    ambient_reached,
    classes_digest,
    fingerprint,
    imports_by_name,
    modules_needed,
    one_look,
    parts,
    reaches_caches,
)
from incoop.fingerprint.changes import PartChange, changed_parts
from incoop.fingerprint.errors import CannotFingerprint, DependencyUnreadable
from incoop.fingerprint.impurity import ImpureCall, ImpurityWarning, ReportOnce, impurities

__all__ = [
    "CannotFingerprint",
    "DependencyUnreadable",
    "ImpureCall",
    "ImpurityWarning",
    "PartChange",
    "ReportOnce",
    "ambient_reached",
    "changed_parts",
    "classes_digest",
    "fingerprint",
    "imports_by_name",
    "impurities",
    "modules_needed",
    "one_look",
    "parts",
    "reaches_caches",
]
