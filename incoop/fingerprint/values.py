"""Read captured data: containers, numbers of numpy, patterns, dates, enum members, broadcasts, objects of any class.

Contract: equal content gives equal nodes, whatever the order of sets, the memory layout of arrays, or the sharing of
references. The order of dicts, of attributes and of keywords is content: code that iterates over them sees it. An
object of a class that has no rule here is read through `__reduce_ex__`, the protocol by which it would travel to an
executor; its pickle bytes are never used, since pickle's memo makes equal values differ.
"""

from __future__ import annotations

import copyreg
import sys
from collections import OrderedDict
from enum import Enum
from functools import cached_property
from typing import Any

from incoop.base.content_ids import content_id
from incoop.fingerprint.graph import Node
from incoop.fingerprint.owners import module_of
from incoop.fingerprint.tokens import ITEMS, PLAIN, UNORDERED, bytes_token, combine, reference, str_token
from incoop.fingerprint.walk import Walk

# The newest protocol whose reduction has no out-of-band buffers: all content is in the result.
REDUCE_PROTOCOL = 4

# Handles on a cluster: they cannot travel to a worker, and what they stand for is not in them.
SPARK_HANDLES = frozenset(
    {"SparkContext", "SparkSession", "RDD", "DataFrame", "Column", "StreamingContext", "SQLContext"}
)


def expand_container(walk: Walk, node: Node, obj: Any) -> None:
    """Read a list, tuple, dict, set or frozenset that holds more than plain values."""
    tag, mode = PLAIN[type(obj)]
    node.tag, node.mode = tag, mode
    if mode == ITEMS:
        fill_pairs(walk, node, obj, "item")
    else:
        node.tokens = [walk.token(item, node, ("item", index)) for index, item in enumerate(obj)]


def fill_pairs(walk: Walk, node: Node, mapping: Any, edge: str, mode: int = ITEMS) -> None:
    """Read a mapping into a node; with the mode `PAIRS` the order of the pairs does not count."""
    node.mode = mode
    for key, value in mapping.items():
        node.tokens.append(walk.token(key, node, ("key", repr(key) if isinstance(key, str | int) else type(key))))
        node.tokens.append(walk.token(value, node, (edge, key if isinstance(key, str | int) else type(key).__name__)))


def expand_mapping_proxy(walk: Walk, node: Node, obj: Any) -> None:
    """Read a read-only view of a dict by content."""
    node.tag = b"mappingproxy"
    fill_pairs(walk, node, obj, "item")


def expand_ordered_dict(walk: Walk, node: Node, obj: OrderedDict[Any, Any]) -> None:
    """Read an OrderedDict, whose order is part of its value."""
    node.tag = b"ordereddict"
    for key, value in obj.items():
        node.tokens += [walk.token(key, node, ("key", None)), walk.token(value, node, ("item", key))]


def expand_set(walk: Walk, node: Node, obj: Any) -> None:
    """Read a set of a class of its own, or a view of a dict's keys: pickling either would keep an arbitrary order."""
    node.tag = b"anyset"
    elements = Node(node)
    elements.tag, elements.mode = b"elements", UNORDERED
    elements.tokens = [walk.token(item, node, ("element", None)) for item in obj]
    node.tokens = [walk.token(type(obj), node, ("class", type(obj).__qualname__)), elements]
    if state := getattr(obj, "__dict__", None):
        node.tokens.append(_state(walk, node, state))


def expand_memoryview(walk: Walk, node: Node, obj: memoryview) -> None:
    """Read a view of memory by its bytes."""
    node.tag = b"memoryview"
    node.tokens = [str_token(obj.format), str_token(repr(obj.shape)), bytes_token(obj.tobytes())]


def expand_slots(*names: str) -> Any:
    """Return a reader for a simple immutable type: the values of these attributes."""

    def expand(walk: Walk, node: Node, obj: Any) -> None:
        node.tag = type(obj).__qualname__.encode()
        node.tokens = [walk.token(getattr(obj, name), node, ("attribute", name)) for name in names]

    return expand


def expand_enum_member(walk: Walk, node: Node, obj: Enum) -> None:
    """Read an enum member: its class (which holds all values), its name and its value."""
    node.tag = b"enum"
    node.tokens = [walk.token(type(obj), node, ("class", type(obj).__qualname__)), walk.token(obj.name, node, None)]
    node.tokens.append(walk.token(obj._value_, node, ("attribute", "value")))


def expand_array(walk: Walk, node: Node, obj: Any) -> None:
    """Read a numpy array: data type, shape and bytes; an array of objects element by element."""
    import numpy as np

    node.tag = b"ndarray"
    kind = obj.dtype.str if obj.dtype.names is None else repr(obj.dtype.descr)
    node.tokens = [str_token(kind), str_token(repr(obj.shape))]
    if obj.dtype.hasobject or obj.dtype.kind == "T":  # T: texts of any length, stored outside the array
        node.tokens += [walk.token(item, node, ("element", None)) for item in obj.ravel().tolist()]
    else:
        data: Any = np.ascontiguousarray(obj).reshape(-1).view(np.uint8) if obj.size else b""
        node.tokens.append(reference(content_id(data)))


def expand_numpy_scalar(walk: Walk, node: Node, obj: Any) -> None:
    """Read one numpy number."""
    node.tag = b"npscalar"
    if obj.dtype.hasobject:
        raise walk.fail(node, obj, "a numpy record that holds objects")
    kind = obj.dtype.str if obj.dtype.names is None else repr(obj.dtype.descr)
    node.tokens = [str_token(kind), bytes_token(obj.tobytes())]


def expand_broadcast(walk: Walk, node: Node, obj: Any) -> None:
    """Read a Spark broadcast variable by its value; its number says only how many were made before it."""
    node.tag = b"broadcast"
    try:
        value = obj.value
    except Exception as error:
        raise walk.fail(node, obj, f"its value cannot be read: {error}") from error
    walk.keep(value)
    node.tokens = [walk.token(value, node, ("value", None))]


def expand_accumulator(walk: Walk, node: Node, obj: Any) -> None:
    """Read a Spark accumulator: tasks can only add to it, so its class and its zero are all they see."""
    node.tag = b"accumulator"
    node.tokens = [
        walk.token(obj.accum_param, node, ("attribute", "accum_param")),
        walk.token(obj.accum_param.zero(obj._value), node, ("attribute", "zero")),
    ]


def expand_stated(walk: Walk, node: Node, obj: Any) -> None:
    """Read an object that says itself what counts of it: its class, and what `__incoop_identity__` gives.

    The rest, such as the path of a temporary folder, travels to the workers and does not change what they compute.
    """
    node.tag = b"stated"
    content = obj.__incoop_identity__()
    walk.keep(content)
    node.tokens = [
        walk.token(type(obj), node, ("class", type(obj).__qualname__)),
        walk.token(content, node, ("content", None)),
    ]


def expand_object(walk: Walk, node: Node, obj: Any) -> None:
    """Read an object by its class and what `__reduce_ex__` says it is made of."""
    kind = type(obj)
    for base in kind.__mro__:
        if base.__name__ in SPARK_HANDLES and module_of(base).partition(".")[0] == "pyspark":
            raise walk.fail(node, obj, "a handle on Spark, which exists on the driver only")
    try:
        reducer = copyreg.dispatch_table.get(kind)
        reduced: Any = reducer(obj) if reducer is not None else obj.__reduce_ex__(REDUCE_PROTOCOL)
    except Exception as error:
        raise walk.fail(node, obj, str(error) or type(error).__name__) from error
    node.tag = b"object"
    node.tokens = [walk.token(kind, node, ("class", kind.__qualname__))]
    if isinstance(reduced, str):  # a name in a module
        node.tokens.append(str_token(reduced))
        return
    walk.keep(reduced)
    make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    if make is copyreg.__newobj__ and len(arguments) == 1 and arguments[0] is kind:  # type: ignore[attr-defined]
        node.tokens.append(b"new")  # the way of most objects; a graph of many is smaller by a node for each
    else:
        node.tokens += [walk.token(make, node, None), walk.token(arguments, node, None)]
    node.tokens.append(_state(walk, node, _without_caches(walk, kind, state)))
    if items is not None:
        items = list(items)
        walk.keep(items)
        node.tokens.append(walk.token(items, node, None))
    if pairs is not None:
        pairs = list(pairs) if isinstance(obj, OrderedDict) else dict(pairs)
        walk.keep(pairs)
        node.tokens.append(walk.token(pairs, node, None))


def _without_caches(walk: Walk, kind: type, state: Any) -> Any:
    """Leave out what `functools.cached_property` keeps in an object: it follows from the rest."""
    if type(state) is not dict:
        return state
    names = walk.cached_properties.get(id(kind))
    if names is None:
        found = (name for base in kind.__mro__ for name, each in vars(base).items() if type(each) is cached_property)
        names = walk.cached_properties[id(kind)] = frozenset(found)
    if not names:
        return state
    return {name: value for name, value in state.items() if name not in names} or None  # as of an object without any


def _state(walk: Walk, node: Node, state: Any) -> Node | bytes:
    """Read the attributes of an object, so that an error can name the attribute."""
    if type(state) is tuple and len(state) == 2 and all(part is None or type(part) is dict for part in state):
        both = Node(node)  # __dict__ and __slots__
        both.tag = b"state"
        both.tokens = [_state(walk, both, part) for part in state]
        return both
    if type(state) is not dict:
        return walk.token(state, node, ("state", None))
    attributes = Node(node)
    attributes.tag = b"attributes"
    fill_pairs(walk, attributes, state, "attribute")
    tokens = [token for token in attributes.tokens if isinstance(token, bytes)]
    if len(tokens) == len(attributes.tokens):  # plain values only: no node is needed
        return reference(combine(attributes.tag, attributes.mode, tokens))
    return attributes


def is_numpy_array(obj: Any) -> bool:
    """Say whether `obj` is an array without additions of a subclass (numpy is not imported for this)."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(obj) in (numpy.ndarray, numpy.memmap)


def is_numpy_scalar(obj: Any) -> bool:
    """Say whether `obj` is one number (or date, or text) of numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(obj, numpy.generic)


def is_spark(obj: Any, name: str) -> bool:
    """Say whether `obj` is of Spark's class of that name, or one made of it (pyspark is not imported for this)."""
    kind = type(obj)
    return kind.__name__ == name and any(
        each.__name__ == name and module_of(each).partition(".")[0] == "pyspark" for each in kind.__mro__
    )
