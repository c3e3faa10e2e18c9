"""What importing mrjob brings along, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
finders = list(sys.meta_path)
import incoop.fronts.mrjob.tasks
assert sys.meta_path == finders, "finders are as they were"
assert not {"setuptools", "pkg_resources", "distutils"} & sys.modules.keys()
import warnings
warnings.simplefilter("error")
import setuptools
assert "setuptools" in sys.modules["distutils"].__file__, "distutils is that of setuptools, as without incoop"
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python has no distutils of its own")
def test_mrjob_is_imported_without_setuptools_which_can_be_imported_later() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
