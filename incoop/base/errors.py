"""Every error that incoop raises on purpose: fields, a cause, and a remedy.

Contract: each error derives from `IncoopError`, passes its fields to `super().__init__` so that it survives
pickling on the way from an executor, and says in `str()` what happened and what to do about it.
"""

from __future__ import annotations


class IncoopError(Exception):
    """Root of every error that incoop raises on purpose."""


class BadCall(IncoopError):
    """A parameter has a value that cannot work; the message says which and what would."""


#: What a user's function may fail with. `sys.exit` in a worker would end it in the middle of an answer, and Spark would
#: try the task again and again.
USERS_ERRORS: tuple[type[BaseException], ...] = (Exception, SystemExit)
