"""Fingerprints of code: equal exactly when a callable, all it reaches and all it captured are equal in content.

Contract: comments, docstrings, layout, file paths, hash seeds and machines do not count; anything that can change a
result does. `docs/fingerprints.md` has the rules with examples.
"""

from __future__ import annotations

from incoop.fingerprint.api import classes_digest, fingerprint, parts
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
    "changed_parts",
    "classes_digest",
    "fingerprint",
    "impurities",
    "parts",
]
