"""Walk from an object to everything its behaviour depends on, and build the graph that is hashed.

Contract: the graph depends on content alone. The walk keeps no state between calls, so what was fingerprinted before
cannot matter, and it runs on a list instead of the call stack, so nesting depth is no limit. How one object is read is
not decided here: `expand` sets a node's tag and tokens and asks the walk for the tokens of what the object holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any

from incoop.base.errors import IncoopError
from incoop.fingerprint.errors import CannotFingerprint
from incoop.fingerprint.graph import Node
from incoop.fingerprint.owners import Owner, module_of, owner
from incoop.fingerprint.tokens import LEAF, PLAIN, UNORDERED, NotPlain, Token, large_token, str_token

#: Things that count only when some reached code can read them.
DOCSTRINGS, ANNOTATIONS, SUBCLASSES = "docstrings", "annotations", "subclasses"
QUALIFIED_NAMES, MODULE_NAMES, SIGNALS = "qualified names", "module names", "signals"

#: Installed packages that run the job and are not the user's to change.
RUNNERS = frozenset({"incoop", "pyspark", "py4j"})

#: Global variables that say where a module lies, or what it is called there.
PLACES = frozenset(
    {"__builtins__", "__loader__", "__spec__", "__file__", "__cached__", "__path__", "__package__", "__name__"}
)


class Reached:
    """A function whose code the walk went through, with what its names mean; impurity is looked for in these."""

    __slots__ = ("code", "function", "node")

    def __init__(self, node: Node, function: Any, code: CodeType) -> None:
        self.node, self.function, self.code = node, function, code


class Walk:
    """One walk: nodes by object, and a list of nodes still to be read."""

    def __init__(
        self,
        expand: Callable[[Walk, Node, Any], None],
        readable: frozenset[str] = frozenset(),
        lenient: bool = False,
        surround: Callable[[Walk], bool] | None = None,
    ) -> None:
        self._expand = expand
        #: Adds what counts without being named, once all that is named was read; says whether it added anything.
        self._surround = surround
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
        #: Whether a cache of Python's own (`functools.cache`, `cached_property`) was reached.
        self.caches = False
        #: Modules of the standard library and of packages that the code reaches, with the packages that hold them.
        self.modules: set[str] = set()
        #: Installed packages that the code reaches.
        self.packages: set[str] = set()
        #: Modules of the user's that the code reaches, and those whose top level was read.
        self.homes: set[str] = set()
        self.homes_read: set[str] = set()
        #: Foreign modules and classes in which nobody looked for replacements yet.
        self.unpatched: list[str | type] = []
        #: State of the process that counts for the code, by the names of `incoop.fingerprint.ambient`.
        self.ambient: dict[str, dict[str, Any]] = {}
        #: Nodes of what counts without being named.
        self.around: list[Node] = []
        #: Global variables that tell of places; `effects` leaves them out.
        self.places: frozenset[str] = frozenset()
        self.root = Node()
        self.labelled: list[Node] = []
        #: How objects of a type are read, by the type's identity; `expand` fills it.
        self.rules: dict[int, Callable[[Walk, Node, Any], None]] = {}
        self._noted: set[str] = set()
        #: Names of cached properties of classes, by the class's identity.
        self.cached_properties: dict[int, frozenset[str]] = {}
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
        while self._drain() and self._surround is not None and self._surround(self):
            pass
        return root

    def _drain(self) -> bool:
        """Read all that waits; say whether the walk may go on."""
        while self._pending:
            if not (self.lenient or self.found_readable <= self.readable):
                return False  # the caller has to walk again, so the rest of this walk would be for nothing
            node, pending = self._pending.pop()
            try:
                self._expand(self, node, pending)
            except CannotFingerprint as error:
                self._give_up(node, error)
            except IncoopError:
                raise
            except Exception as error:  # of the object's own code: a property, a __reduce__, a __len__
                reason = f"{type(error).__name__} while it was read: {error}"
                self._give_up(node, self.fail(node, pending, reason), error)
        return True

    def add_around(self, node: Node) -> None:
        """Add something that counts without being named; the order in which such things are found does not."""
        if not self.around:
            holder = Node(self.root)
            holder.tag, holder.mode = b"around", UNORDERED
            self.root.tokens.append(holder)
            self._holder = holder
        self._holder.tokens.append(node)
        self.around.append(node)

    def lenient_copy(self, readable: frozenset[str]) -> Walk:
        """Return a walk for code that ran already: what cannot be hashed counts by its type, places not at all."""
        walk = Walk(self._expand, readable, lenient=True)
        walk.places = PLACES
        return walk

    def _give_up(self, node: Node, error: CannotFingerprint, cause: Exception | None = None) -> None:
        """Raise the error, or let the object count by its type where that is allowed."""
        if not (self.lenient or node.optional):
            raise error from cause or error.__cause__
        node.tag, node.tokens, node.mode = b"opaque", [str_token(error.what)], 0
        if not self.lenient:
            self._excused[node] = error

    def token(self, obj: Any, parent: Node, edge: tuple[str, object] | None, optional: bool = False) -> Token | Node:
        """Return what stands for `obj` inside `parent`: bytes for plain values, a node for everything else."""
        kind = type(obj)
        encode = LEAF.get(kind)
        if encode is not None:
            return encode(obj)
        if kind in PLAIN:
            self._alive.append(obj)
            try:
                return large_token(obj, self._plain)
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
        if module not in self._noted:
            self._note(module, who)
        if who.kind == "python":
            return b"p" + text
        node, new = self.named_node(("foreign", module, name), Node(), None)
        if new:
            node.tag = b"foreign"
            node.tokens = [text, self.package_node(who)]
        return node

    def _note(self, module: str, who: Owner) -> None:
        self._noted.add(module)
        parts = module.lstrip("_").split(".")  # `_decimal` is decimal's
        self.modules.update(".".join(parts[:length]) for length in range(1, len(parts) + 1))
        if who.kind == "package":
            self.packages.add(who.name)
        if who.name not in RUNNERS:
            self.unpatched.append(module)

    def package_node(self, who: Owner) -> Node:
        """Return the node of an installed package."""
        node, new = self.named_node(("package", who), Node(), None)
        if new:
            node.tag = b"package"
            node.tokens = [str_token(who.name), str_token(who.version), str_token(who.content)]
            self.label(node, f"package {who.name}")
        return node

    def fail(self, node: Node, obj: Any, reason: str) -> CannotFingerprint:
        """Return the error for an object that cannot be hashed."""
        kind = type(obj)
        return CannotFingerprint(f"{module_of(kind)}.{kind.__qualname__}", self.path(node), reason)

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
