"""Choose how an object is read, by its type.

Contract: the first rule that fits decides; `RULES_BY_TYPE` is asked for the exact type, then `RULES_BY_TEST` in order,
and `expand_object` reads whatever is left.
"""

from __future__ import annotations

import functools
import re
import types
from collections import OrderedDict
from collections.abc import Callable, KeysView
from enum import Enum
from typing import Any

from incoop.fingerprint import c_objects, classes, frames, functions, namespaces, values
from incoop.fingerprint.bytecode import code_digest
from incoop.fingerprint.graph import Node
from incoop.fingerprint.tokens import reference
from incoop.fingerprint.walk import DOCSTRINGS, Walk

Rule = Callable[[Walk, Node, Any], None]


def _refuse(reason: str) -> Rule:
    def rule(walk: Walk, node: Node, obj: Any) -> None:
        raise walk.fail(node, obj, reason)

    return rule


def _expand_code(walk: Walk, node: Node, obj: types.CodeType) -> None:
    node.tag = b"code object"
    node.tokens = [reference(code_digest(obj, DOCSTRINGS in walk.readable))]


def _expand_cell(walk: Walk, node: Node, obj: types.CellType) -> None:
    node.tag = b"cell"
    try:
        node.tokens = [walk.token(obj.cell_contents, node, ("content", None))]
    except ValueError:
        node.tokens = [namespaces.MISSING]


_SUSPENDED = _refuse("code that stopped in the middle, whose position cannot be hashed")

RULES_BY_TYPE: dict[type, Rule] = {
    list: values.expand_container,
    tuple: values.expand_container,
    dict: values.expand_container,
    set: values.expand_container,
    frozenset: values.expand_container,
    OrderedDict: values.expand_ordered_dict,
    types.MappingProxyType: values.expand_mapping_proxy,
    memoryview: values.expand_memoryview,
    range: values.expand_slots("start", "stop", "step"),
    slice: values.expand_slots("start", "stop", "step"),
    re.Pattern: values.expand_slots("pattern", "flags"),
    types.FunctionType: functions.expand_function,
    types.MethodType: functions.expand_method,
    types.BuiltinFunctionType: functions.expand_builtin,
    types.MethodWrapperType: functions.expand_builtin,
    types.WrapperDescriptorType: functions.expand_descriptor,
    types.MethodDescriptorType: functions.expand_descriptor,
    types.ClassMethodDescriptorType: functions.expand_descriptor,
    types.GetSetDescriptorType: functions.expand_descriptor,
    types.MemberDescriptorType: functions.expand_descriptor,
    types.CodeType: _expand_code,
    types.CellType: _expand_cell,
    types.GeneratorType: _SUSPENDED,
    types.CoroutineType: _SUSPENDED,
    types.AsyncGeneratorType: _SUSPENDED,
    types.FrameType: _SUSPENDED,
    functools._lru_cache_wrapper: classes.expand_cached_function,
    functools.cached_property: classes.expand_cached_property,
    functools.singledispatchmethod: classes.expand_single_dispatch_method,
    **c_objects.RULES,
    **{kind: _refuse(reason) for kind, reason in c_objects.REFUSED.items()},
}

RULES_BY_TEST: tuple[tuple[Callable[[Any], bool], Rule], ...] = (
    (lambda obj: isinstance(obj, type), classes.expand_class),
    (lambda obj: isinstance(obj, types.ModuleType), namespaces.expand_module),
    (lambda obj: isinstance(obj, Enum), values.expand_enum_member),
    (lambda obj: isinstance(obj, property), classes.expand_property),
    (c_objects.is_compiled_function, c_objects.expand_compiled_function),
    (c_objects.is_hash, c_objects.expand_hash),
    (lambda obj: isinstance(obj, staticmethod | classmethod), classes.expand_wrapper("__func__")),
    (lambda obj: type(obj) is functools.partial, classes.expand_wrapper("func", "args", "keywords", "__dict__")),
    (lambda obj: isinstance(obj, set | frozenset | KeysView), values.expand_set),
    (values.is_numpy_array, values.expand_array),
    (values.is_numpy_scalar, values.expand_numpy_scalar),
    (lambda obj: frames.is_pandas(obj, "DataFrame"), frames.expand_frame),
    (lambda obj: frames.is_pandas(obj, "Series"), frames.expand_series),
    (lambda obj: frames.is_pandas(obj, "Index"), frames.expand_index),
    (frames.is_arrow, frames.expand_arrow),
    (lambda obj: values.is_spark(obj, "Broadcast"), values.expand_broadcast),
    (lambda obj: values.is_spark(obj, "Accumulator"), values.expand_accumulator),
    (lambda obj: isinstance(obj, functions.PROCESS_TYPES), functions.expand_process_object),
    (lambda obj: hasattr(type(obj), "__incoop_identity__"), values.expand_stated),
)


def expand(walk: Walk, node: Node, obj: Any) -> None:
    """Set the node's tag and tokens from the object."""
    kind = type(obj)
    rule = RULES_BY_TYPE.get(kind) or walk.rules.get(id(kind))
    if rule is None:
        # Every test asks for the type alone, so one object of a type decides for all. The walk keeps the object alive.
        rule = next((rule for test, rule in RULES_BY_TEST if test(obj)), values.expand_object)
        walk.rules[id(kind)] = rule
    rule(walk, node, obj)
