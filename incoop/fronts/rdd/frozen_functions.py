"""Functions as PySpark would pickle them now: copies that what the program does later cannot change.

Contract: a copy has the content that a worker would have been given at this moment: captured variables, globals that
the code names, attributes. What is found by its name stays itself, as do accumulators, broadcasts and classes. What
PySpark cannot pickle raises what PySpark raises.
"""

from __future__ import annotations

import io
import pickle
import sys
import types
from collections.abc import Sequence
from typing import Any

from pyspark import Broadcast, cloudpickle
from pyspark.accumulators import Accumulator
from pyspark.cloudpickle import cloudpickle as pickling
from pyspark.util import print_exec

from incoop.fingerprint import fingerprint


class NotLoaded(Exception):
    """A copy cannot be made on the driver; in a worker, it might be."""


class Frozen:
    """Functions as they were when this was made."""

    def __init__(self, functions: Sequence[Any]) -> None:
        live = tuple(functions)
        #: Nothing that the program does can change them.
        self.constant = all(map(is_constant, live))
        self._copies = live
        #: Where classes are used: the copies, with the classes as they are now. They use those of the program, so that
        #: records made of them are the program's.
        self._with_classes: _Pickled | None = None
        if self.constant:
            return
        self._pickled = _Pickled(live, classes_too=False)
        self._copies = self._pickled.load()
        if self._pickled.has_classes:
            self._pickled = _Pickled(live, classes_too=True)
            self._with_classes = _Pickled(self._copies, classes_too=True)

    @property
    def functions(self) -> tuple[Any, ...]:
        """The copies; where a class that they use was changed since, they use a copy of the class as it was."""
        if self._with_classes is not None and self._with_classes != _Pickled(self._copies, classes_too=True):
            self._copies, self._with_classes = self._with_classes.load(), None
        return self._copies

    def same(self, functions: Sequence[Any]) -> bool:
        """Whether functions would be pickled now as they were then."""
        if self.constant:
            return True
        was = self._pickled
        try:
            now = _Pickled(tuple(functions), classes_too=was.has_classes)
            # Equal content may have other bytes: text that is one object in two places, or two.
            return was == now or fingerprint(was.load()) == fingerprint(now.load())
        except Exception:
            return False  # of what cannot be told, PySpark's own way is right


class _Pickled:
    """What would travel, and what stays on the driver."""

    def __init__(self, objects: tuple[Any, ...], classes_too: bool) -> None:
        file = io.BytesIO()
        pickler = _Pickler(file, classes_too)
        try:
            pickler.dump(objects)  # type: ignore[no-untyped-call]
        except pickle.PickleError:
            raise
        except Exception as error:  # as PySpark's serializer says it
            print_exec(sys.stderr)
            raise pickle.PicklingError(f"Could not serialize object: {type(error).__name__}: {error}") from error
        self.data, self.kept, self.has_classes = file.getvalue(), pickler.kept, pickler.has_classes

    def load(self) -> tuple[Any, ...]:
        try:
            loaded: tuple[Any, ...] = _Unpickler(self.data, self.kept).load()
        except Exception as error:
            raise NotLoaded(f"a function, or what it captured, cannot be copied: {error}") from error
        return loaded

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Pickled)
            and self.data == other.data
            and [id(kept) for kept in self.kept] == [id(kept) for kept in other.kept]
        )

    __hash__ = None  # type: ignore[assignment]


class _Pickler(cloudpickle.Pickler):
    """Pickles as PySpark does, but keeps what belongs to the driver."""

    def __init__(self, file: io.BytesIO, classes_too: bool) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)  # type: ignore[no-untyped-call]
        self._classes_too = classes_too
        self.kept: list[Any] = []
        self.has_classes = False

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Broadcast | Accumulator):
            return self._keep(obj)
        reduced = super().reducer_override(obj)  # type: ignore[no-untyped-call]
        if isinstance(obj, type) and isinstance(reduced, tuple) and len(reduced) > _BUILTIN:
            self.has_classes = True
            return reduced if self._classes_too else self._keep(obj)
        return reduced

    def _keep(self, obj: Any) -> Any:
        self.kept.append(obj)
        return _kept, (len(self.kept) - 1,)


#: A function and its arguments: so is a builtin class reduced. One that travels by value has a state, too.
_BUILTIN = 2


class _Unpickler(pickle.Unpickler):
    """Loads without touching the classes of the program."""

    def __init__(self, data: bytes, kept: list[Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._kept = kept

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if (module_name, global_name) == (__name__, _kept.__name__):
            return self._kept.__getitem__
        if module_name == pickling.__name__ and global_name in ("_make_skeleton_class", "_make_skeleton_enum"):
            return _SkeletonClass(getattr(pickling, global_name))
        return super().find_class(module_name, global_name)


class _SkeletonClass:
    """Makes a class that is not the program's, but has its number: what workers send back is of the program's."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def __call__(self, *arguments: Any) -> Any:
        *before, number, extra = arguments
        made = self._make(*before, None, extra)
        pickling._DYNAMIC_CLASS_TRACKER_BY_CLASS[made] = number
        return made


def _kept(number: int) -> Any:
    raise AssertionError("only for the unpickler of this file")


def is_constant(function: Any) -> bool:
    """Whether nothing that a program does can change what a worker is given for this function.

    Example:
        >>> is_constant(lambda a, b: a + b), is_constant(len), is_constant(lambda a: len(a)), is_constant([].append)
        (True, True, False, False)
    """
    if function is None:
        return True
    if isinstance(function, types.BuiltinFunctionType):
        return isinstance(function.__self__, types.ModuleType) or function.__self__ is None
    if isinstance(function, types.MethodDescriptorType | types.WrapperDescriptorType):
        return True
    if isinstance(function, type | types.FunctionType) and pickling._should_pickle_by_reference(function):  # type: ignore[no-untyped-call]
        return True
    if not isinstance(function, types.FunctionType):
        return False
    bare = not (function.__closure__ or function.__defaults__ or function.__kwdefaults__ or function.__dict__)
    return bare and _names_nothing(function.__code__)


def _names_nothing(code: types.CodeType) -> bool:
    """A name may become a global of the program at any time, also that of a builtin."""
    return not code.co_names and all(
        _names_nothing(const) for const in code.co_consts if isinstance(const, types.CodeType)
    )
