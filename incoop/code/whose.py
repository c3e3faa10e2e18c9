"""Whose code is at work, by the frames on the stack: the user's, a package's, Python's library's or this project's.

Contract: what is asked here decides whether a read is noted (`watch`), and for whom; nothing is opened or looked up.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

#: Where code is that counts by Python's version, or by its package; and ours.
_STDLIB = tuple({path for key in ("stdlib", "platstdlib") if (path := sysconfig.get_path(key))})
_OWN = (f"{Path(__file__).parents[1]}{os.sep}",)  # as code objects name it: links are not followed
_IMPORTER = str(Path(__file__).with_name("importer.py"))
_INSTALLED = (
    *{path for key in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(key))},
    *_OWN,
)


def is_installed(name: str) -> bool:
    return name.startswith(("<frozen", *_INSTALLED)) or "/site-packages/" in name or "/dist-packages/" in name


def is_ours(frame: Any) -> bool:
    """Whether it is the engine that called Python's library here, not the user's code or a package."""
    while frame is not None and is_pythons(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is None or frame.f_code.co_filename.startswith(_OWN)


def is_pythons(name: str) -> bool:
    # The importer reads data files in the name of whoever asks for them.
    return (name.startswith(("<frozen", *_STDLIB)) and "-packages/" not in name) or name == _IMPORTER


def line_of_user() -> str:
    """The line of the user's code that is at work."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith("<") and not is_installed(name):
            return f"{name}:{frame.f_lineno} ({frame.f_code.co_name})"
        frame = frame.f_back
    return "a library"


def at_work() -> set[str]:
    """The modules that are being imported, and those of the user's whose functions they called."""
    names: set[str] = set()
    frame: Any = sys._getframe(2)
    while frame is not None:
        code, name = frame.f_code, frame.f_globals.get("__name__")
        if isinstance(name, str) and (code.co_name == "<module>" or not is_installed(code.co_filename)):
            names.add(name)
        frame = frame.f_back
    return names - {"__main__"}  # of the worker itself


def is_importing() -> bool:
    """Whether Python looks for a module, or a library for what is installed, rather than the user's code for files."""
    frame: Any = sys._getframe(3)  # who made the call that the hook hears of
    while frame is not None and is_installed(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith("<frozen importlib") or "importlib/metadata" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


#: Where `os.environ`, `os.getenv` and the methods of mappings are.
_ENVIRON = ("os.py", "<frozen os>", "_collections_abc.py", "<frozen _collections_abc>")


#: Variables that Python's library looks up for itself: where programs and temporary files are, colours, its own.
_LIBRARYS = frozenset({"PATH", "TMPDIR", "TEMP", "TMP", "TERM", "NO_COLOR", "FORCE_COLOR"})


def asked_by_python(frame: Any, name: str) -> bool:
    """Whether a variable is looked up by us, or by Python's library for itself: ambient state has what matters.

    What the library looks up because it was told to (`expandvars`, a `ChainMap` of settings) is asked by who told it.
    """
    while frame is not None and _is_environ(frame.f_code.co_filename):
        frame = frame.f_back
    asks = frame.f_code.co_filename if frame is not None else ""
    if is_ours(frame) or (is_pythons(asks) and (name in _LIBRARYS or name.startswith("PYTHON"))):
        return True
    return asks.endswith("gettext.py") and _translates_its_own(frame)


#: Parsers of command lines speak the user's language, which no result depends on; mrjob makes one in every task.
_PARSERS = ("argparse.py", "optparse.py", "getopt.py")


def _translates_its_own(frame: Any) -> bool:
    """Whether Python's library looks for a translation of what it says itself."""
    while frame is not None and frame.f_code.co_filename.endswith("gettext.py"):
        frame = frame.f_back
    name = frame.f_code.co_filename if frame is not None else ""
    return is_pythons(name) and name.endswith(_PARSERS)


def _is_environ(name: str) -> bool:
    return is_pythons(name) and name.endswith(_ENVIRON)  # a user's `videos.py` ends so, too
