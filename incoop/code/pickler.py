"""Functions as bytes, and back in a worker.

Contract: what belongs to a module that travels is named, or, where it has no name there (a lambda, a function inside
another), made again with that module's own globals: a function sees the same variables as its neighbours, in the
worker as on the driver. What belongs to `__main__`, or to a module that does not travel, is pickled by value.
Handles on Spark (broadcast variables, accumulators) are left to Spark, which has to see them itself. What goes to
workers that PySpark sends functions to as well is pickled by PySpark's own cloudpickle, which knows there which classes
have come before; anything else by the same code without PySpark (`light_cloudpickle`).
"""

from __future__ import annotations

import functools
import importlib
import io
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType, ModuleType
from typing import Any

from incoop.base.errors import IncoopError
from incoop.code.errors import CannotTravel
from incoop.code.modules import by_value, travels, user_modules

#: What Spark pickles, counts and registers by itself.
_HANDLES = frozenset({"Broadcast", "Accumulator"})


class _Noting:
    """Before a CloudPickler: notes on the way which modules are named."""

    #: Of CloudPickler.
    globals_ref: dict[int, Any]

    def __init__(self, file: io.BytesIO, loaded: Mapping[str, ModuleType]) -> None:
        super().__init__(file)  # type: ignore[call-arg]
        self._loaded = loaded
        #: Names of modules that the pickle refers to.
        self.modules: set[str] = set()
        self.handles: list[Any] = []

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind.__name__ in _HANDLES and kind.__module__.partition(".")[0] == "pyspark":
            self.handles.append(obj)
            return _handle, (len(self.handles) - 1,)
        if kind is _CACHED and self._goes_by_value(obj.__module__):
            return _cached_again, (obj.__wrapped__, obj.cache_parameters())
        if kind is functools.cached_property:
            return _cached_property, (obj.func, obj.attrname)
        if isinstance(obj, ModuleType):
            self.modules.add(obj.__name__)
        elif isinstance(obj, FunctionType | type):
            self.modules.add(str(obj.__module__))
        reduced = super().reducer_override(obj)  # type: ignore[misc]
        return _made_as_defined(obj, reduced) if isinstance(obj, type) and type(reduced) is tuple else reduced

    def _goes_by_value(self, home: str) -> bool:
        return home == "__main__" or (home in self._loaded and by_value(self._loaded[home]))

    def _dynamic_function_reduce(self, func: FunctionType) -> Any:
        home = str(func.__globals__.get("__name__"))
        module = self._loaded.get(home)
        if module is None or vars(module) is not func.__globals__ or not travels(module):
            return super()._dynamic_function_reduce(func)  # type: ignore[misc]
        self.modules.add(home)
        self.globals_ref[id(func.__globals__)] = _GlobalsOf(home)
        reduced = super()._dynamic_function_reduce(func)  # type: ignore[misc]
        make, arguments, (attributes, state), *rest = reduced
        state = {**state, "__globals__": {}, "_cloudpickle_submodules": []}
        return make, arguments, (attributes, state), *rest


def _made_as_defined(cls: type, reduced: tuple[Any, ...]) -> tuple[Any, ...]:
    """A class by value with what it must be made with, which cloudpickle leaves out: its slots, and its whole name.

    Without them an object's attributes would be in a `__dict__` that it does not have, and `Outer.Inner` be `Inner`.
    """
    make, arguments, *rest = reduced
    if make.__name__ != "_make_skeleton_class":
        return reduced
    kind, name, bases, given, *others = arguments
    given = {**given, "__qualname__": cls.__qualname__}
    # What stands in for bases (NamedTuple) may make a class with empty slots that nobody else may name.
    if "__slots__" in vars(cls) and (vars(cls)["__slots__"] or bases == cls.__bases__):
        given["__slots__"] = vars(cls)["__slots__"]
    return make, (kind, name, bases, given, *others), *rest


#: The class of functions under `functools.lru_cache`: pickle knows them by name only, and `__main__` has another one.
_CACHED: Any = type(functools.lru_cache(len))


def _cached_again(function: Any, parameters: dict[str, Any]) -> Any:
    return functools.lru_cache(**parameters)(function)


def _cached_property(function: Any, name: str) -> Any:
    made: Any = functools.cached_property(function)
    made.attrname = name
    return made


class _GlobalsOf:
    """Stands for the variables of a module, wherever it is loaded."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _globals_of, (self._module,)


def _globals_of(module: str) -> dict[str, Any]:
    return vars(importlib.import_module(module))


@functools.cache
def _cloudpickle(beside_pyspark: bool) -> tuple[Any, Any]:
    """A cloudpickle, and its pickler that notes."""
    name = "pyspark.cloudpickle.cloudpickle" if beside_pyspark else "incoop.code.light_cloudpickle"
    cloudpickle: Any = importlib.import_module(name)
    return cloudpickle, type("CodePickler", (_Noting, cloudpickle.CloudPickler), {})


def dumps(obj: Any, beside_pyspark: bool = False) -> tuple[bytes, set[str], tuple[Any, ...]]:
    """The bytes, the names of modules that they refer to, and the handles that have to travel beside them."""
    loaded = user_modules()
    file = io.BytesIO()
    cloudpickle, code_pickler = _cloudpickle(beside_pyspark)
    pickler = code_pickler(file, loaded)
    try:
        with pickled_by_value(cloudpickle, [module for module in loaded.values() if by_value(module)]):
            pickler.dump(obj)
    except Exception as error:
        raise CannotTravel("packed", f"{type(error).__name__}: {error}") from error
    return file.getvalue(), pickler.modules, tuple(pickler.handles)


def loads(data: bytes, handles: Sequence[Any]) -> Any:
    """What `dumps` was given."""
    token = _handles.set(handles)
    try:
        return pickle.loads(data)
    except IncoopError:
        raise
    except Exception as error:
        raise CannotTravel("unpacked in a worker", f"{type(error).__name__}: {error}") from error
    finally:
        _handles.reset(token)


_handles: ContextVar[Sequence[Any]] = ContextVar("handles", default=())


def _handle(number: int) -> Any:
    return _handles.get()[number]


@contextmanager
def pickled_by_value(cloudpickle: Any, modules: Sequence[ModuleType]) -> Iterator[None]:
    """Inside, a cloudpickle pickles what is in these modules by value."""
    registered = cloudpickle.list_registry_pickle_by_value()
    ours = [
        module for module in modules if module.__name__ not in registered and sys.modules.get(module.__name__) is module
    ]
    for module in ours:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in ours:
            cloudpickle.unregister_pickle_by_value(module)
