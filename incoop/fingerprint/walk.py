"""Walk from an object to everything its behaviour depends on, and build the graph that is hashed.

Contract: the graph depends on content alone. The walk keeps no state between calls, so what was fingerprinted before
cannot matter, and it runs on a list instead of the call stack, so nesting depth is no limit. How one object is read is
not decided here: `expand` sets a node's tag and tokens and asks the walk for the tokens of what the object holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any

from incoop.fingerprint.errors import CannotFingerprint
from incoop.fingerprint.graph import Node
from incoop.fingerprint.owners import Owner, owner
from incoop.fingerprint.tokens import LEAF, PLAIN, NotPlain, Token, plain_token, str_token

#: Things that count only when some reached code can read them.
DOCSTRINGS, ANNOTATIONS, SUBCLASSES = "docstrings", "annotations", "subclasses"
QUALIFIED_NAMES, MODULE_NAMES = "qualified names", "module names"


class Reached:
    """A function whose code the walk went through, with what its names mean; impurity is looked for in these."""

    __slots__ = ("code", "function", "node")

    def __init__(self, node: Node, function: Any, code: CodeType) -> None:
        self.node, self.function, self.code = node, function, code


class Walk:
    """One walk: nodes by object, and a list of nodes still to be read."""

    def __init__(
        self, expand: Callable[[Walk, Node, Any], None], readable: frozenset[str] = frozenset(), lenient: bool = False
    ) -> None:
        self._expand = expand
        #: What reached code can read of functions and classes besides running them.
        self.readable = readable
        #: What this walk found readable; the caller walks again when it found more than it was told.
        self.found_readable: set[str] = set()
        #: Whether what cannot be hashed counts by its type instead of being an error.
        self.lenient = lenient
        self.functions: list[Reached] = []
        #: Foreign callables that were reached as values, e.g. as a default argument, with their nodes.
        self.foreign: list[tuple[Node, Any]] = []
        self.classes: list[Node] = []
        self.root = Node()
        self.labelled: list[Node] = []
        #: How objects of a type are read, by the type's identity; `expand` fills it.
        self.rules: dict[int, Callable[[Walk, Node, Any], None]] = {}
        self._nodes: dict[Hashable, Node] = {}
        self._plain: dict[int, Token] = {}
        #: Optional nodes that could not be hashed; reaching one by name as well makes that an error.
        self._excused: dict[Node, CannotFingerprint] = {}
        # Identities are keys, so whatever the walk saw must live as long as the walk.
        self._alive: list[Any] = []
        self._pending: list[tuple[Node, Any]] = []

    def run(self, obj: Any, edge: tuple[str, object]) -> Node:
        """Return the root node of the finished graph of `obj`."""
        self.root = root = Node(edge=edge)
        root.tag = b"root"
        root.tokens.append(self.token(obj, root, None))
        while self._pending:
            if not (self.lenient or self.found_readable <= self.readable):
                break  # the caller has to walk again, so the rest of this walk would be for nothing
            node, pending = self._pending.pop()
            try:
                self._expand(self, node, pending)
            except CannotFingerprint as error:
                if not (self.lenient or node.optional):
                    raise
                node.tag, node.tokens, node.mode = b"opaque", [str_token(error.what)], 0
                if not self.lenient:
                    self._excused[node] = error
        return root

    def token(self, obj: Any, parent: Node, edge: tuple[str, object] | None, optional: bool = False) -> Token | Node:
        """Return what stands for `obj` inside `parent`: bytes for plain values, a node for everything else."""
        kind = type(obj)
        encode = LEAF.get(kind)
        if encode is not None:
            return encode(obj)
        if kind in PLAIN:
            self._alive.append(obj)
            try:
                return plain_token(obj, self._plain)
            except NotPlain:
                pass
        node = self._nodes.get(id(obj))
        if node is not None and not optional:
            node.optional = False
            if node in self._excused:
                raise self._excused[node]
        if node is None:
            node = self._nodes[id(obj)] = Node(parent, edge)
            node.optional = optional
            self._alive.append(obj)
            self._pending.append((node, obj))
        return node

    def named_node(self, key: Hashable, parent: Node, edge: tuple[str, object] | None) -> tuple[Node, bool]:
        """Return the node for something that is no object of its own, e.g. a global variable, and whether it is new."""
        node = self._nodes.get(key)
        if node is not None:
            return node, False
        node = self._nodes[key] = Node(parent, edge)
        return node, True

    def keep(self, obj: Any) -> None:
        """Keep a temporary object alive until the walk ends."""
        self._alive.append(obj)

    def label(self, node: Node, label: str) -> None:
        """Make the node a part that is reported by name."""
        node.label = label
        self.labelled.append(node)

    def foreign_token(self, module: str, name: str) -> Token | Node:
        """Return what stands for a named thing of the standard library or of an installed package."""
        who = owner(module)
        text = str_token(f"{module}:{name}")
        if who.kind == "python":
            return b"p" + text
        node, new = self.named_node(("foreign", module, name), Node(), None)
        if new:
            node.tag = b"foreign"
            node.tokens = [text, self.package_node(who)]
        return node

    def package_node(self, who: Owner) -> Node:
        """Return the node of an installed package."""
        node, new = self.named_node(("package", who), Node(), None)
        if new:
            node.tag = b"package"
            node.tokens = [str_token(who.name), str_token(who.version)]
            self.label(node, f"package {who.name}")
        return node

    def fail(self, node: Node, obj: Any, reason: str) -> CannotFingerprint:
        """Return the error for an object that cannot be hashed."""
        kind = type(obj)
        return CannotFingerprint(f"{kind.__module__}.{kind.__qualname__}", self.path(node), reason)

    def path(self, node: Node) -> tuple[str, ...]:
        """Return how the walk reached a node, from the root."""
        steps: list[str] = []
        current: Node | None = node
        while current is not None:
            if current.edge is not None:
                kind, name = current.edge
                steps.append(kind if name is None else f"{kind} `{name}`")
            current = current.parent
        return tuple(reversed(steps))
