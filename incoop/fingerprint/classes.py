"""Read classes: bases, metaclass, attributes and methods, fields of dataclasses, members of enums.

Contract: a class of the user's counts by everything its instances can do; a class of an installed package or of the
standard library by its name there. What Python or a decorator writes into a class about its place in a file, and
caches that fill as the program runs, do not count.
"""

from __future__ import annotations

import functools
from abc import ABCMeta
from enum import Enum, EnumMeta
from types import MemberDescriptorType
from typing import Any

from incoop.fingerprint.functions import compiled_token, is_importable
from incoop.fingerprint.graph import Node
from incoop.fingerprint.owners import module_of, owner
from incoop.fingerprint.registries import class_tokens
from incoop.fingerprint.tokens import PAIRS, UNORDERED, str_token
from incoop.fingerprint.values import fill_pairs
from incoop.fingerprint.walk import ANNOTATIONS, DOCSTRINGS, MODULE_NAMES, QUALIFIED_NAMES, SUBCLASSES, Walk

# Set for classes made by `class` or `type()`, not for those written in C (Py_TPFLAGS_HEAPTYPE).
HEAP_TYPE = 1 << 9

# Bookkeeping of Python itself. `__slotnames__` is a cache that copying or pickling an instance leaves behind.
BOOKKEEPING = frozenset(
    {
        "__dict__",
        "__weakref__",
        "__module__",
        "__qualname__",
        "__doc__",
        "__annotations__",
        "__annotate__",
        "__annotate_func__",
        "__annotations_cache__",
        "__abstractmethods__",
        "_abc_impl",
        "__slotnames__",
        "__firstlineno__",
        "__static_attributes__",
        "__dataclass_fields__",
    }
)

# What `EnumMeta` derives from the members.
ENUM_BOOKKEEPING = frozenset(
    {
        "_member_map_",
        "_member_names_",
        "_value2member_map_",
        "_hashable_values_",
        "_unhashable_values_",
        "_unhashable_values_map_",
        "_flag_mask_",
        "_all_bits_",
        "_singles_mask_",
        "_inverted_",
    }
)

PLAIN_METACLASSES = (type, ABCMeta, EnumMeta)


def expand_class(walk: Walk, node: Node, cls: type) -> None:
    """Read a class."""
    module, name = module_of(cls), cls.__qualname__
    who = owner(module)
    in_c = not cls.__flags__ & HEAP_TYPE
    if not module:
        node.tag, node.tokens = b"by name", [str_token(name)]
        return
    if who.kind != "user" and (in_c or is_importable(module, name, cls)):
        node.tag = b"by name"
        node.tokens = [walk.foreign_token(module, name)]
        walk.foreign.append((node, cls))
        if not in_c:
            walk.unpatched.append(cls)
        return
    node.tag = b"class"
    walk.label(node, f"class {module}:{name}")
    walk.classes.append(node)
    walk.homes.add(module)
    node.tokens = [str_token(cls.__name__)]
    if in_c:
        node.tokens.append(compiled_token(walk, node, cls, module))
        return
    node.tokens.append(walk.token(type(cls), node, ("metaclass", type(cls).__qualname__)))
    node.tokens += [walk.token(base, node, ("base class", base.__qualname__)) for base in cls.__bases__]
    node.tokens += [b"attributes", *_attributes(walk, node, cls)]
    if fields := vars(cls).get("__dataclass_fields__"):
        node.tokens.append(b"fields")  # in order: it is the order of the constructor's parameters
        node.tokens += [walk.token(field, node, ("field", key)) for key, field in fields.items()]
    node.tokens += class_tokens(walk, node, cls)
    if isinstance(cls, EnumMeta):
        node.tokens.append(b"members")
        members: dict[str, Any] = dict(cls.__members__)
        for key, member in members.items():
            node.tokens += [str_token(key), *_member(walk, node, member)]
    if _annotations_count(walk, cls):
        annotations = vars(cls).get("__annotations__") or None  # who asks for them leaves an empty dict behind
        node.tokens += [b"annotations", walk.token(annotations, node, ("annotations", None), optional=True)]
    if DOCSTRINGS in walk.readable:
        node.tokens.append(walk.token(vars(cls).get("__doc__"), node, ("docstring", None), optional=True))
    if QUALIFIED_NAMES in walk.readable:
        node.tokens.append(str_token(name))
    if MODULE_NAMES in walk.readable:
        node.tokens.append(str_token(module))
    if SUBCLASSES in walk.readable:
        below = Node(node)
        below.tag, below.mode = b"subclasses", UNORDERED
        subclasses: list[type] = type.__subclasses__(cls)
        below.tokens = [walk.token(sub, node, ("subclass", sub.__qualname__)) for sub in subclasses]
        node.tokens.append(below)


def _attributes(walk: Walk, node: Node, cls: type) -> list[Any]:
    skipped = set(BOOKKEEPING)
    if isinstance(cls, EnumMeta):
        skipped |= ENUM_BOOKKEEPING | set(cls.__members__)
    tokens: list[Any] = []
    if getattr(cls, "_is_protocol", None) is not None and _is_inherited_init(cls):
        skipped.add("__init__")
    for name, value in sorted(vars(cls).items()):
        if name not in skipped and not _is_inherited(cls, name, value) and not _is_slot(cls, name, value):
            tokens += [str_token(name), walk.token(value, node, ("attribute", name))]
    return tokens


def _is_slot(cls: type, name: str, value: Any) -> bool:
    """Say whether an attribute is what Python makes of `__slots__`, which counts itself."""
    slots = vars(cls).get("__slots__", ())
    return isinstance(value, MemberDescriptorType) and name in ((slots,) if isinstance(slots, str) else tuple(slots))


def _is_inherited(cls: type, name: str, value: Any) -> bool:
    """Say whether a class has an attribute from its bases in any case; a copy that was pickled leaves it out."""
    return next((vars(base)[name] is value for base in cls.__mro__[1:] if name in vars(base)), False)


def _is_inherited_init(cls: type) -> bool:
    """Say whether a subclass of a Protocol has no `__init__` of its own: the first instance copies one into it."""
    init = vars(cls).get("__init__")
    if getattr(init, "__module__", None) == "typing":
        return True
    return any(init is vars(base).get("__init__") for base in cls.__mro__[1:])


def _member(walk: Walk, node: Node, member: Any) -> list[Any]:
    """Return what an enum's class says of a member: its value and further attributes."""
    own = {key: value for key, value in vars(member).items() if key not in ("_value_", "_name_", "__objclass__")}
    own.pop("_sort_order_", None)
    walk.keep(own)
    return [walk.token(member._value_, node, ("member", member.name)), walk.token(own, node, ("member", member.name))]


def _annotations_count(walk: Walk, cls: type) -> bool:
    """Say whether annotations may shape the class: dataclasses, named tuples, models of installed packages."""
    if ANNOTATIONS in walk.readable or "__dataclass_fields__" in vars(cls) or type(cls) not in PLAIN_METACLASSES:
        return True
    return any(owner(module_of(base)).kind != "user" for base in cls.__mro__ if base not in (object, Enum))


def expand_property(walk: Walk, node: Node, obj: property) -> None:
    """Read a property by its functions."""
    node.tag = b"property"
    node.tokens = [walk.token(type(obj), node, None)]
    node.tokens += [walk.token(fn, node, (what, None)) for what, fn in _accessors(obj)]


def _accessors(obj: property) -> list[tuple[str, Any]]:
    return [("getter", obj.fget), ("setter", obj.fset), ("deleter", obj.fdel)]


def expand_wrapper(*names: str) -> Any:
    """Return a reader for an object that stands around a function: the values of these attributes, and no caches."""

    def expand(walk: Walk, node: Node, obj: Any) -> None:
        node.tag = b"wrapper"
        node.tokens = [walk.token(type(obj), node, None)]
        node.tokens += [walk.token(getattr(obj, name, None), node, ("attribute", name)) for name in names]

    return expand


def expand_cached_function(walk: Walk, node: Node, obj: Any) -> None:
    """Read a function under `functools.lru_cache`: the function and the cache's settings, not its content."""
    node.tag = b"lru_cache"
    walk.caches = True
    settings = dict(obj.cache_parameters())
    walk.keep(settings)
    node.tokens = [walk.token(obj.__wrapped__, node, ("wrapped function", None)), walk.token(settings, node, None)]


def expand_cached_property(walk: Walk, node: Node, obj: functools.cached_property[Any]) -> None:
    """Read a property under `functools.cached_property` by its function."""
    walk.caches = True
    expand_wrapper("func", "attrname")(walk, node, obj)


def expand_single_dispatch_method(walk: Walk, node: Node, obj: functools.singledispatchmethod[Any]) -> None:
    """Read a method under `functools.singledispatchmethod` by its implementations."""
    node.tag = b"singledispatchmethod"
    fill_pairs(walk, node, obj.dispatcher.registry, "implementation", PAIRS)
