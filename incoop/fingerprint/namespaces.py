"""Follow names out of code: globals, modules, imports and captured variables.

Contract: a name of the user's leads to its value; through a module of the user's, to the attributes the code takes
from it. Where the code can reach names that are not written in it (`eval`, `globals()`, a module handed to `getattr`
or to another function), the whole namespace counts.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from incoop.fingerprint.files import folder_digest
from incoop.fingerprint.graph import Node
from incoop.fingerprint.instructions import all_names, nested_codes
from incoop.fingerprint.owners import owner
from incoop.fingerprint.references import CAPTURED, GLOBAL, IMPORT, Use, uses
from incoop.fingerprint.tokens import Token, reference, str_token
from incoop.fingerprint.walk import DOCSTRINGS, MODULE_NAMES, PLACES, Walk

# These reach every global of the function that calls them.
NAMESPACE_READERS = (eval, exec, globals)

# With one of these in sight, a text constant may be the name of a module that is loaded at run time.
IMPORTERS = frozenset({"import_module", "__import__", "modules", "run_module", "run_path", "resolve_name"})

# What the import system writes into a module; it tells of places, not of behaviour.
# What warnings were shown is noted there, too.
MACHINERY = PLACES - {"__name__"} | {"__warningregistry__"}

# A notebook keeps its history among the globals; it grows with every cell that runs.
NOTEBOOK_HISTORY = frozenset({"In", "Out", "get_ipython", "exit", "quit", "open"})

#: Values that are parts by themselves; a variable that holds one is not a part of its own.
CODE_TYPES = (FunctionType, MethodType, ModuleType, type)

MISSING: Token = b"missing"


def outside_tokens(walk: Walk, node: Node, fn: FunctionType) -> list[Token | Node]:
    """Return the tokens of all that a function's code loads from outside, in the order of the names."""
    code = fn.__code__
    tokens: list[Token | Node] = []
    wanted = {(use.scope, use.root, use.attributes, use.level) for use in uses(code) if use.scope != CAPTURED}
    whole = False
    for scope, root, attributes, level in sorted(wanted):
        tokens.append(str_token(".".join((scope, "." * level, root, *attributes))))
        if scope == GLOBAL and root in walk.places:
            continue
        if scope == GLOBAL:
            value = _global_value(fn, root)
            whole = whole or any(value is reader for reader in NAMESPACE_READERS)
            tokens.append(_global_token(walk, node, fn, root, attributes))
        else:
            tokens.append(_import_token(walk, node, fn, Use(scope, root, attributes, level)))
    names = all_names(code)
    if names & IMPORTERS:
        tokens += [_module_by_name(walk, node, name) for name in sorted(set(_text_constants(code)))]
        whole = whole or "__name__" in names  # sys.modules[__name__]
    if whole:
        tokens.append(namespace_node(walk, node, fn.__globals__))
    return tokens


def captured_token(walk: Walk, node: Node, fn: FunctionType, name: str, cell: CellType) -> Token | Node:
    """Return the token of a captured variable; a part of its own, unless it holds a function or a class."""
    try:
        value = cell.cell_contents
    except ValueError:
        return MISSING
    if isinstance(value, ModuleType):
        chains = {use.attributes for use in uses(fn.__code__) if use.scope == CAPTURED and use.root == name} or {()}
        modules, new = walk.named_node(("chains", id(cell), id(fn)), node, ("captured variable", name))
        if new:
            modules.tag = b"captured module"
            modules.tokens = [_follow(walk, modules, value, chain) for chain in sorted(chains)]
        return modules
    if isinstance(value, CODE_TYPES):
        return walk.token(value, node, ("captured variable", name))
    return _variable(walk, node, ("cell", id(cell)), value, f"captured {_home(fn)}:{fn.__qualname__}.{name}", name)


def _variable(walk: Walk, parent: Node, key: Any, value: Any, label: str, name: str, optional: bool = False) -> Node:
    kind = label.partition(" ")[0]
    edge = ("captured variable" if kind == "captured" else kind, name)
    node, new = walk.named_node(key, parent, edge)
    if new:
        node.tag = b"variable"
        node.tokens = [walk.token(value, node, None, optional)]
        walk.label(node, label)
    elif not optional:
        walk.token(value, node, None)  # now it is reached by name: what could be excused before is an error
    return node


def _home(fn: FunctionType) -> str:
    return str(fn.__globals__.get("__name__", "?"))


def _global_value(fn: FunctionType, name: str) -> Any:
    if name in fn.__globals__:
        return fn.__globals__[name]
    return _builtins(fn).get(name)


def _builtins(fn: FunctionType) -> dict[str, Any]:
    known: Any = fn  # mypy's stubs have the attribute in some versions only
    found: dict[str, Any] = known.__builtins__
    return found


def _global_token(walk: Walk, node: Node, fn: FunctionType, name: str, attributes: tuple[str, ...]) -> Token | Node:
    if name not in fn.__globals__ and name not in _builtins(fn):
        return MISSING
    value = _global_value(fn, name)
    if isinstance(value, ModuleType):
        return _follow(walk, node, value, attributes)
    return _member(walk, node, fn.__globals__, name, value)


def _member(
    walk: Walk, parent: Node, namespace: Mapping[str, Any], name: str, value: Any, optional: bool = False
) -> Token | Node:
    """Return the token of one global variable."""
    if isinstance(value, CODE_TYPES):
        return walk.token(value, parent, ("global", name))
    if name not in namespace:  # a builtin
        return walk.token(value, parent, ("builtin", name))
    home = namespace.get("__name__", "?")
    return _variable(walk, parent, ("global", id(namespace), name), value, f"global {home}:{name}", name, optional)


def _follow(walk: Walk, parent: Node, module: ModuleType, attributes: tuple[str, ...]) -> Token | Node:
    """Return the token of what a chain of attributes finds, starting at a module."""
    for position, name in enumerate(attributes):
        if module is sys and name == "argv":
            return _arguments(walk, parent)
        if owner(module.__name__).kind != "user":
            return _foreign_chain(walk, module, attributes[position:])
        walk.homes.add(module.__name__)
        namespace = vars(module)
        value = namespace[name] if name in namespace else sys.modules.get(f"{module.__name__}.{name}", MISSING)
        if value is MISSING:  # perhaps the module's own __getattr__ knows
            return namespace_node(walk, parent, namespace)
        if not isinstance(value, ModuleType):
            return _member(walk, parent, namespace, name, value)
        module = value
    if owner(module.__name__).kind != "user":
        return walk.foreign_token(module.__name__, "")
    return walk.token(module, parent, ("module", module.__name__))


def _arguments(walk: Walk, parent: Node) -> Node:
    """Return the node of the program's arguments, which are its own, wherever they are kept."""
    return _variable(walk, parent, ("global", id(vars(sys)), "argv"), sys.argv, "global sys:argv", "argv")


def _foreign_chain(walk: Walk, module: ModuleType, attributes: tuple[str, ...]) -> Token | Node:
    """Return the token of a chain through a foreign module, and note what may have been replaced there."""
    token = walk.foreign_token(module.__name__, "")
    value: Any = module
    for name in attributes:
        value = vars(value).get(name) if isinstance(value, ModuleType) else None
        if isinstance(value, ModuleType):
            walk.foreign_token(value.__name__, "")
        elif isinstance(value, type):
            walk.unpatched.append(value)
    return token


def _import_token(walk: Walk, node: Node, fn: FunctionType, use: Use) -> Token | Node:
    name = use.root
    if use.level:
        try:
            name = importlib.util.resolve_name("." * use.level + use.root, fn.__globals__.get("__package__"))
        except ImportError:
            return MISSING
    if name == "sys" and use.attributes[:1] == ("argv",):
        return _arguments(walk, node)
    if owner(name).kind != "user":
        return walk.foreign_token(name, "")
    module = _imported(name)
    if module is None:
        return MISSING
    walk.homes.add(name)
    if use.scope != IMPORT:
        return b"present"
    if use.attributes and use.attributes[0] not in vars(module) and hasattr(module, "__path__"):
        _imported(f"{name}.{use.attributes[0]}")
    return _follow(walk, node, module, use.attributes)


def _imported(name: str) -> ModuleType | None:
    """Return the module, imported now if it was not: the function would do so when it runs."""
    try:
        return importlib.import_module(name)
    except Exception:  # the function fails in the same way when it runs, and failures are never memoized
        return None


def _module_by_name(walk: Walk, node: Node, name: str) -> Token | Node:
    if name.endswith("."):  # the beginning of a name that is put together: any module of the package
        package = _imported(name[:-1]) if name[:-1].isidentifier() and owner(name[:-1]).kind == "user" else None
        folders = sorted(getattr(package, "__path__", ()))
        return b"".join([str_token(name), *(reference(folder_digest(Path(folder))) for folder in folders)])
    if not all(part.isidentifier() for part in name.split(".")) or owner(name).kind != "user":
        return str_token(name)
    known = name in sys.modules or (importlib.util.find_spec(name.partition(".")[0]) is not None)
    module = _imported(name) if known and name != "__main__" else sys.modules.get(name)
    return MISSING if module is None else walk.token(module, node, ("module", name))


def _text_constants(code: CodeType) -> Iterator[str]:
    yield from (constant for constant in code.co_consts if isinstance(constant, str))
    for inner in nested_codes(code):
        yield from _text_constants(inner)


def expand_module(walk: Walk, node: Node, module: ModuleType) -> None:
    """Read a module that is used as a whole."""
    node.tag = b"module"
    if owner(module.__name__).kind != "user":
        node.tokens = [walk.foreign_token(module.__name__, "")]
    else:
        node.tokens = [namespace_node(walk, node, vars(module))]


def namespace_node(walk: Walk, parent: Node, namespace: Mapping[str, Any]) -> Node:
    """Return the node of all names of a module, functions and classes included."""
    home = namespace.get("__name__", "?")
    node, new = walk.named_node(("namespace", id(namespace)), parent, ("module", home))
    if new:
        node.tag = b"namespace"
        walk.homes.add(str(home))
        walk.label(node, f"module {home}")
        for name in sorted(namespace, key=str):
            if _counts(walk, namespace, name):
                # Among names that nobody wrote down, a lock or a Spark session counts by its type.
                node.tokens += [str_token(name), _member(walk, node, namespace, name, namespace[name], optional=True)]
    return node


def _counts(walk: Walk, namespace: Mapping[str, Any], name: str) -> bool:
    if name in MACHINERY:
        return False
    if name == "__doc__":
        return DOCSTRINGS in walk.readable
    if name == "__name__":
        return MODULE_NAMES in walk.readable
    if "get_ipython" in namespace:
        return name not in NOTEBOOK_HISTORY and not name.startswith("_")
    return True
