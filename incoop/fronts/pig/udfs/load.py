"""A file of the user's to its functions.

Contract: the file is run once, as a module of its own, with the folder that it is in on the path, so that modules
beside it are found, here and in workers. `pig_util` can be imported, and its decorators are there without importing
it, as under Jython. What the file prints goes to standard error; what it raises is a UdfFileFailed with its
traceback.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from incoop.base.errors import USERS_ERRORS
from incoop.fingerprint import CannotFingerprint, ImpurityWarning, fingerprint, impurities
from incoop.fronts.common.job_file import module_name
from incoop.fronts.pig.udfs import python_path
from incoop.fronts.pig.udfs.python_path import pig_util
from incoop.fronts.pig.udfs.user_function import UserFunction
from incoop.query.errors import Position, QueryError

_LANGUAGES = ("jython", "streaming_python", "python", "cpython")
_DECORATORS = ("outputSchema", "outputSchemaFunction", "schemaFunction")


class UdfFileFailed(QueryError):
    """A registered file cannot be read, or raised while it was run."""

    def __init__(self, path: str, why: str, position: Position | None = None) -> None:
        super().__init__(f"{path} cannot be registered: {why}", position)
        self.args = (path, why, position)
        self.path, self.why = path, why


def load_udfs(
    path: str | Path, language: str | None = None, namespace: str | None = None, position: Position | None = None
) -> Mapping[str, UserFunction]:
    """The functions of a file, by the names that a script calls them by."""
    path = Path(path)
    if language is not None and language.lower() not in _LANGUAGES:
        raise QueryError(
            f"functions in {language} cannot be called here. Write them in Python: REGISTER 'x.py' USING jython AS ns.",
            position,
        )
    if not path.is_file():
        raise UdfFileFailed(
            str(path), "there is no such file. Paths are looked for from the script's folder.", position
        )
    module = _run(path, position)
    prefix = f"{namespace}." if namespace else ""
    found = {}
    for name, function in vars(module).items():
        if _is_function(name, function):
            found[prefix + name] = _user_function(prefix + name, function, module, path, position)
    if not found:
        raise UdfFileFailed(
            str(path), "it defines no function. Functions are called by the names that they have there.", position
        )
    return found


def _is_function(name: str, value: Any) -> bool:
    if (
        name.startswith("__")
        or name in _DECORATORS
        or getattr(value, "__module__", None) in ("pig_util", pig_util.__name__)
    ):
        return False
    if hasattr(value, "schemaFunction"):
        return False
    return isinstance(value, FunctionType) or (callable(value) and hasattr(value, "outputSchema"))


def _user_function(name: str, function: Any, module: ModuleType, path: Path, position: Position | None) -> UserFunction:
    try:
        identity = fingerprint(function)
    except CannotFingerprint as trouble:
        raise UdfFileFailed(str(path), str(trouble), position) from trouble
    for impure in impurities(function):
        if not impure.followed:  # what it reads of files counts, as for all code
            warnings.warn(
                f"{name} in {path} calls {impure.call} ({impure.kind}): a reused result may differ from a fresh one. "
                "Give it what it asks for as an argument, from a parameter of the script.",
                ImpurityWarning,
                stacklevel=3,
            )
    schema = getattr(function, "outputSchema", None)
    other = getattr(function, "outputSchemaFunction", None)
    schema_function = None
    if other is not None:
        schema_function = vars(module).get(other)
        if not callable(schema_function):
            raise UdfFileFailed(
                str(path), f"{name} names {other!r} for its schema, which is no function there.", position
            )
    if schema is not None and not isinstance(schema, str):
        raise UdfFileFailed(str(path), f"what @outputSchema says of {name} is no text.", position)
    made = UserFunction(name, function, schema, schema_function, identity)
    _ = made.result_name  # a schema that is none is said at once
    return made


class _Loader(SourceFileLoader):
    """Python's own, but that the decorators are there without being imported. So the module is not Python's own to
    workers: what is used of it travels by value.
    """

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path)
        return compile(source, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        for name in _DECORATORS:
            setattr(module, name, getattr(pig_util, name))
        super().exec_module(module)


def _run(path: Path, position: Position | None) -> ModuleType:
    name = module_name(path)
    loader = _Loader(name, str(path.absolute()))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path.absolute())
    folder = str(path.parent.absolute())
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)
    _offer_pig_util()
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        with redirect_stdout(sys.stderr):
            loader.exec_module(module)
    except SyntaxError as error:
        where = f"line {error.lineno}: {error.msg}"
        python2 = "print" in (error.text or "") or "except" in (error.text or "")
        remedy = " That is Python 2: this is Python 3, where print is a function." if python2 else ""
        raise _failed(name, before, path, where + remedy, position) from error
    except USERS_ERRORS as error:
        trace = "".join(traceback.format_exception(error, limit=-5))
        raise _failed(name, before, path, f"it raised {type(error).__name__}: {error}\n{trace}", position) from error
    return module


def _failed(name: str, before: ModuleType | None, path: Path, why: str, position: Position | None) -> UdfFileFailed:
    """The module is as if it had never been run."""
    if before is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = before
    return UdfFileFailed(str(path), why, position)


def _offer_pig_util() -> None:
    """From then on `pig_util` can be imported, here and in workers; the user's own comes first, if there is one."""
    folder = str(Path(python_path.__file__).parent)
    if folder not in sys.path:
        sys.path.append(folder)
