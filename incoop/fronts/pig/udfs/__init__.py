"""Functions that a user wrote in Python: REGISTER 'x.py' USING jython AS ns.

What an analysis calls: `load_udfs(path, language, namespace)` gives a UserFunction by each name that a script can
call (`ns.f`, or `f`); its `call(arguments, position)` is the expression of a call, its `result_name` what its field
is called.

- load.py: a file to functions; user_function.py: a function and its calls; python_path/: what such files import from
  Pig
- values.py: values of queries to a function's, and back

Imports `incoop.query`, Pig's schemas, what ways in share, and fingerprint.
"""

from __future__ import annotations

from incoop.fronts.pig.udfs.load import UdfFileFailed, load_udfs
from incoop.fronts.pig.udfs.user_function import UserFunction

__all__ = ["UdfFileFailed", "UserFunction", "load_udfs"]
