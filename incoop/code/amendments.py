"""Values that a worker does not get by importing the user's modules: what the program set after they were loaded.

Contract: amended are only parts that a worker was found to have otherwise: replacing an object that is the same would
make two of one, and `is` would tell them apart.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any

from incoop.code.functions import Functions
from incoop.code.modules import by_value
from incoop.fingerprint import ambient, ambient_reached


@dataclass(frozen=True, slots=True)
class Amendments:
    """Values that workers are given, since importing the modules does not give them."""

    #: By module and name.
    variables: dict[tuple[str, str], Any] = field(default_factory=dict)
    #: By module and qualified name: attributes of classes.
    attributes: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    #: Settings of the process (`incoop.fingerprint.ambient`), if they are to be as on the driver.
    ambient: dict[str, Any] | None = None


def amendable(part: str) -> bool:
    """Whether a part can be amended: a variable of a module, a class's attributes, a setting of the process.

    Example:
        >>> amendable("global settings:LIMIT"), amendable("function rules:clean")
        (True, False)
    """
    kind, _, rest = part.partition(" ")
    return kind in ("ambient", "variable") or (kind in ("global", "class") and not rest.startswith("__main__:"))


def amendments_of(functions: Functions, amended: Iterable[str]) -> Amendments:
    found = Amendments()
    for part in sorted(amended):
        kind, _, rest = part.partition(" ")
        module, _, name = rest.partition(":")
        if kind == "ambient":
            found = replace(
                found, ambient=ambient_reached(*(each for _, each in functions.roles() if each is not None))
            )
        elif kind == "global" and name in vars(sys.modules.get(module, ModuleType(""))) and _is_imported(module):
            found.variables[module, name] = vars(sys.modules[module])[name]
        elif kind == "class" and isinstance(owner := _at(module, name), type) and _is_imported(module):
            found.attributes[module, name] = {key: value for key, value in vars(owner).items() if _is_data(key, value)}
    return found


def amend(amendments: Amendments) -> None:
    """Give this process the values that the driver has."""
    for (module, name), value in amendments.variables.items():
        setattr(sys.modules[module], name, value)
    for (module, name), attributes in amendments.attributes.items():
        for key, value in attributes.items():
            setattr(_at(module, name), key, value)
    if amendments.ambient is not None:
        ambient.restore(amendments.ambient)


def _is_imported(module: str) -> bool:
    """Whether workers have the module; what is pickled by value has its values."""
    return not by_value(sys.modules[module])


def _at(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def _is_data(name: str, value: Any) -> bool:
    """Whether a class attribute is a setting rather than something that Python made of the class."""
    if name.startswith("__") or isinstance(value, FunctionType | type):
        return False
    return not any(hasattr(type(value), method) for method in ("__get__", "__set__"))


def amended_variables(amended: Iterable[str]) -> set[str]:
    """The environment variables among amended parts."""
    return {part.removeprefix("variable ") for part in amended if part.startswith("variable ")}


def amend_variables(variables: Mapping[str, str | None]) -> None:
    """Give this process the environment variables that the driver has."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
