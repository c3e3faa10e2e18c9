"""Read functions: what they do, what they were made with, and everything their names lead to.

Contract: a function of the user's counts by its code, name, defaults, captured variables, attributes and, through
`incoop.fingerprint.namespaces`, all globals and imports its code can load. A function of an installed package or of
the standard library counts by its name there; if it has no name there (a wrapper that a decorator made), by what it
captured as well, since the user's function is in that.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from incoop.fingerprint.bytecode import code_digest, constant_token
from incoop.fingerprint.files import folder_digest
from incoop.fingerprint.graph import Node
from incoop.fingerprint.instructions import all_names
from incoop.fingerprint.namespaces import captured_token, outside_tokens
from incoop.fingerprint.owners import owner
from incoop.fingerprint.registries import codec_tokens
from incoop.fingerprint.tokens import PAIRS, Token, reference, str_token
from incoop.fingerprint.values import expand_object, fill_pairs
from incoop.fingerprint.walk import (
    ANNOTATIONS,
    DOCSTRINGS,
    MODULE_NAMES,
    QUALIFIED_NAMES,
    SIGNALS,
    SUBCLASSES,
    Reached,
    Walk,
)

#: The types that `process_objects` can have; notebooks and test runners replace the streams.
PROCESS_TYPES = (io.IOBase, type(os.environ))

# Names that let code read more of a function or class than calling it shows.
READERS = {
    DOCSTRINGS: frozenset({"__doc__", "getdoc", "__code__", "getsource"}),
    ANNOTATIONS: frozenset(
        {"__annotations__", "get_type_hints", "get_annotations", "signature", "getfullargspec", "__annotate__"}
    ),
    # Read by the __repr__ of every dataclass, so kept apart from the module's name.
    QUALIFIED_NAMES: frozenset({"__qualname__", "co_qualname", "__code__", "getsource"}),
    MODULE_NAMES: frozenset({"__module__", "getmodule", "__code__", "getsource"}),
    SUBCLASSES: frozenset({"__subclasses__"}),
    SIGNALS: frozenset({"flags"}),
}


def expand_function(walk: Walk, node: Node, fn: FunctionType) -> None:
    """Read a Python function."""
    module = fn.__globals__.get("__name__")
    if _is_single_dispatch(fn, module):
        node.tag = b"singledispatch"
        fill_pairs(walk, node, fn.registry, "implementation", PAIRS)  # type: ignore[attr-defined]
        return
    who = owner(module)
    if who.kind != "user" and is_importable(module, fn.__qualname__, fn):
        foreign_by_name(walk, node, fn, str(module), fn.__qualname__)
        return
    node.tag = b"function"
    docstrings = DOCSTRINGS in walk.readable
    node.tokens = [str_token(fn.__name__), reference(code_digest(fn.__code__, docstrings))]
    if who.kind == "user":
        walk.homes.add(str(module))
        walk.label(node, f"function {fn.__module__ or module or '?'}:{fn.__qualname__}")
        walk.functions.append(Reached(node, fn, fn.__code__))
        names = all_names(fn.__code__)
        walk.found_readable.update(what for what, readers in READERS.items() if names & readers)
        node.tokens += outside_tokens(walk, node, fn)
        node.tokens += codec_tokens(walk, node, fn.__code__)
    else:
        node.tokens.append(walk.foreign_token(str(module), fn.__qualname__))
        if who.kind == "package":  # its decorator may have read them
            walk.found_readable.add(ANNOTATIONS)
    _made_with(walk, node, fn)
    if docstrings:
        node.tokens.append(constant_token(fn.__doc__))
    if ANNOTATIONS in walk.readable:
        node.tokens.append(walk.token(fn.__annotations__, node, ("annotations", None), optional=True))
    if QUALIFIED_NAMES in walk.readable:
        node.tokens.append(str_token(fn.__qualname__))
    if MODULE_NAMES in walk.readable:
        node.tokens.append(walk.token(fn.__module__, node, None))


def _made_with(walk: Walk, node: Node, fn: FunctionType) -> None:
    """Add the values a function object carries besides its code: defaults, captured variables, attributes."""
    parameters = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    defaults = fn.__defaults__ or ()
    names = parameters[len(parameters) - len(defaults) :]
    node.tokens.append(b"%d defaults" % len(defaults))
    node.tokens += [walk.token(v, node, ("default of", n)) for n, v in zip(names, defaults, strict=True)]
    keywords = Node(node)
    keywords.tag = b"keywords"
    fill_pairs(walk, keywords, fn.__kwdefaults__ or {}, "default of")
    node.tokens.append(keywords)
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        node.tokens.append(captured_token(walk, node, fn, name, cell))
    if fn.__dict__:
        attributes = Node(node)
        attributes.tag = b"attributes"
        fill_pairs(walk, attributes, fn.__dict__, "attribute")
        node.tokens.append(attributes)


def _is_single_dispatch(fn: FunctionType, module: Any) -> bool:
    # Its closure holds a cache of dispatches that fills as it runs; its registry is what it does.
    return module == "functools" and hasattr(fn, "registry") and hasattr(fn, "dispatch")


def expand_method(walk: Walk, node: Node, method: MethodType) -> None:
    """Read a bound method: the function and the object it is bound to."""
    fn = method.__func__
    module, name = getattr(fn, "__module__", None), getattr(fn, "__name__", "")
    if owner(module).kind != "user" and getattr(sys.modules.get(str(module)), name, None) == method:
        # `random.choice` is a method of a hidden generator, whose state is not ours to hash.
        foreign_by_name(walk, node, method, str(module), name)
        return
    node.tag = b"method"
    node.tokens = [walk.token(fn, node, ("method", name)), walk.token(method.__self__, node, ("bound object", None))]


def expand_builtin(walk: Walk, node: Node, fn: BuiltinFunctionType) -> None:
    """Read a function written in C: by name, and by its object when it is bound to one."""
    holder = getattr(fn, "__self__", None)
    if holder is None or isinstance(holder, ModuleType):
        module = str(getattr(fn, "__module__", None) or getattr(holder, "__name__", ""))
        if owner(module).kind != "user":
            foreign_by_name(walk, node, fn, module, fn.__qualname__)
            return
        node.tag = b"compiled"
        node.tokens = [str_token(fn.__qualname__), compiled_token(walk, node, fn, module)]
        return
    node.tag = b"builtin method"
    node.tokens = [str_token(fn.__name__), walk.token(holder, node, ("bound object", None))]
    walk.foreign.append((node, fn))


def expand_descriptor(walk: Walk, node: Node, obj: Any) -> None:
    """Read a method or attribute that a class written in C defines, or a slot: by class and name."""
    node.tag = b"descriptor"
    owner_class = obj.__objclass__
    node.tokens = [
        str_token(type(obj).__name__),
        str_token(obj.__name__),
        walk.token(owner_class, node, ("class", None)),
    ]


def compiled_token(walk: Walk, node: Node, obj: Any, module: str) -> Token:
    """Return the token of a compiled module of the user's: its file is all there is to hash."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if not isinstance(file, str) or not Path(file).is_file():
        raise walk.fail(node, obj, f"compiled code of module {module}, whose file cannot be found")
    return reference(folder_digest(Path(file)))


def expand_process_object(walk: Walk, node: Node, obj: Any) -> None:
    """Read an object of the running process that code may import by name, e.g. `os.environ`, by that name."""
    for name, known in process_objects():
        if obj is known:
            foreign_by_name(walk, node, obj, *name.rsplit(".", 1))
            return
    expand_object(walk, node, obj)  # a file or a copy of the environment


def process_objects() -> list[tuple[str, Any]]:
    """Return objects whose content belongs to the process; that code reads them is an impurity, not a value."""
    streams = [(f"sys.{name}", getattr(sys, name, None)) for name in ("stdin", "stdout", "stderr")]
    return [("os.environ", os.environ), ("os.environb", getattr(os, "environb", None)), *streams]


def is_importable(module: Any, qualname: str, obj: Any) -> bool:
    """Say whether an object is what its module has under its name."""
    value: Any = sys.modules.get(str(module))
    for part in qualname.split("."):
        value = getattr(value, part, None)
    return value is obj


def foreign_by_name(walk: Walk, node: Node, obj: Any, module: str, name: str) -> None:
    """Read a thing of the standard library or of an installed package by its name there."""
    node.tag = b"by name"
    node.tokens = [walk.foreign_token(module, name)]
    walk.foreign.append((node, obj))
