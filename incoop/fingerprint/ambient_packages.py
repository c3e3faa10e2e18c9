"""Read and set the ambient state of installed packages; `incoop.fingerprint.ambient` has the table.

Contract: as in `incoop.fingerprint.ambient_python`. A package is imported only to set its state.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

State = dict[str, Any]

_NUMPY_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_NUMPY_PRINT: State = {
    "edgeitems": 3,
    "threshold": 1000,
    "floatmode": "maxprec",
    "precision": 8,
    "suppress": False,
    "linewidth": 75,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "formatter": None,
    "legacy": False,
    "override_repr": None,
}

# Options of pandas whose default is taken from the environment when pandas is loaded, with what it is without.
_PANDAS_FROM_ENVIRONMENT: State = {"mode.copy_on_write": False, "future.infer_string": False}


def read_numpy() -> State:
    """Read what numpy does about overflow and division by zero, and how it prints."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "geterr"):  # in the middle of its import
        return {}
    errors = {name: what for name, what in numpy.geterr().items() if what != _NUMPY_ERRORS.get(name)}
    prints = numpy.get_printoptions()
    prints = {name: value for name, value in prints.items() if value != _NUMPY_PRINT.get(name)}
    return ({"errors": errors} if errors else {}) | ({"print": prints} if prints else {})


def restore_numpy(state: State) -> None:
    if not state and "numpy" not in sys.modules:
        return
    numpy: Any = importlib.import_module("numpy")

    numpy.seterr(**{**_NUMPY_ERRORS, **state.get("errors", {})})
    known = numpy.get_printoptions()
    wanted = {**_NUMPY_PRINT, **state.get("print", {})}
    numpy.set_printoptions(**{name: value for name, value in wanted.items() if name in known})


def read_pandas() -> State:
    """Read the options of pandas that are not at their defaults."""
    pandas: Any = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "options"):
        return {}
    defaults = _pandas_defaults()
    found = dict(_flat(pandas.options.d))
    return {key: value for key, value in sorted(found.items()) if key not in defaults or value != defaults[key]}


def restore_pandas(state: State) -> None:
    if not state and "pandas" not in sys.modules:
        return
    pandas: Any = importlib.import_module("pandas")
    defaults = _pandas_defaults()
    changed = read_pandas().keys() - state.keys()
    for key, value in (*state.items(), *((key, defaults[key]) for key in changed if key in defaults)):
        pandas.set_option(key, value)


def _pandas_defaults() -> State:
    config: Any = sys.modules.get("pandas._config.config")
    registered = getattr(config, "_registered_options", {})
    return {key: option.defval for key, option in registered.items()} | _PANDAS_FROM_ENVIRONMENT


def _flat(options: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in options.items():
        found += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return found
