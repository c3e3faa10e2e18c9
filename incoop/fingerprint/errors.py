"""What can go wrong when code is fingerprinted: fields, a cause and a remedy for each.

Contract: every error derives from `IncoopError` and keeps its fields through pickling.
"""

from __future__ import annotations

from incoop.base.errors import IncoopError


class CannotFingerprint(IncoopError):
    """Something that the code reaches has no content that could be hashed.

    Example:
        >>> print(CannotFingerprint("_thread.lock", ("mapper `words`", "global `model`", "attribute `lock`"), "a lock"))
        cannot fingerprint a `_thread.lock` (a lock), reached by mapper `words` -> global `model` -> attribute `lock`. \
Create it inside the function, leave it out of the object's __getstate__, or state the code's version yourself with \
version="..."; memoize=False runs the job without reuse.
    """

    def __init__(self, what: str, path: tuple[str, ...], reason: str) -> None:
        super().__init__(what, path, reason)  # fields survive the trip from an executor
        #: The type of the object, as `module.name`.
        self.what = what
        #: How the walk got there, from the callable to the object.
        self.path = path
        #: Why its content cannot be hashed.
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"cannot fingerprint a `{self.what}` ({self.reason}), reached by {' -> '.join(self.path)}. "
            "Create it inside the function, leave it out of the object's __getstate__, or state the code's version "
            'yourself with version="..."; memoize=False runs the job without reuse.'
        )


class DependencyUnreadable(IncoopError):
    """A path given in `depends_on` cannot be read, so its content cannot be part of the fingerprint."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return (
            f"depends_on names {self.path!r}, which cannot be read: {self.reason}. "
            "Give the path of a file or folder that exists on the machine that submits the job."
        )
