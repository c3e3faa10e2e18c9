"""mrjob imported without setuptools.

Contract: importing this module imports mrjob, with the `distutils` of Python's own library where there is one. mrjob
takes two functions from it; where setuptools is installed it puts itself in the place of `distutils`, which costs every
process that imports mrjob a fifth of a second. What is imported later finds `distutils` as it would have.
"""

from __future__ import annotations

import sys
import warnings

#: What setuptools puts on `sys.meta_path` at the start of Python, by name: importing it to ask would import it.
_FINDER = "DistutilsMetaFinder"


def _import_mrjob() -> None:
    finders = [finder for finder in sys.meta_path if type(finder).__name__ == _FINDER]
    if sys.version_info >= (3, 12) or "distutils" in sys.modules:
        finders = []  # there is no other, or it is decided
    for finder in finders:
        sys.meta_path.remove(finder)
    try:
        with warnings.catch_warnings():
            if finders:  # that Python will have it no more, which is dealt with above
                warnings.simplefilter("ignore", DeprecationWarning)
            import mrjob.job  # noqa: F401
    finally:
        if finders:
            sys.meta_path[:0] = finders
            for name in [name for name in sys.modules if name.partition(".")[0] == "distutils"]:
                del sys.modules[name]


_import_mrjob()
