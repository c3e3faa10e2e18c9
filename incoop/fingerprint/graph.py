"""Hash a graph of nodes by content, cycles included.

Contract: two nodes with the same digest cannot be told apart by any walk along edges (they are bisimilar). A digest
does not depend on which node of a cycle is met first, on what was hashed before, or on whether equal parts are shared
or copied. (Only a cycle that leads into an equal copy of itself gets another digest than the copy.)
Acyclic nodes are hashed bottom up; a cycle is hashed by refinement:

(1) every node of the cycle starts with the same colour;
(2) a round gives each node the hash of its old colour, its own tokens and its neighbours' old colours;
(3) when a round separates no further nodes, colours are final, and the set of all colours joins each digest. Two
    cycles with the same set of colours have a common stable colouring, so equal colours mean bisimilar nodes;
    A node outside that has the tokens of a node in the cycle (a shallow copy of it) gets that node's digest;
(4) a cycle that is still unsettled after `MAX_ROUNDS` (a long chain of equal nodes) is written out from each of its
    nodes instead: exact too, only slower per node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from incoop.fingerprint.tokens import ORDERED, PAIRS, UNORDERED, Token, combine, digest, reference

# Mutually recursive code settles in fewer than ten rounds, trees with parent pointers in as many as they have levels.
MAX_ROUNDS = 64


class Node:
    """One object of the walk: a kind, and tokens that are bytes or other nodes.

    Example:
        >>> a, b = Node(), Node()
        >>> a.tag, a.tokens, b.tag, b.tokens = b"f", [b"1", b], b"g", [b"2", a]
        >>> digests([a])[a] == digests([b, a])[a]
        True
    """

    __slots__ = ("edge", "label", "mode", "optional", "parent", "tag", "tokens")

    def __init__(self, parent: Node | None = None, edge: tuple[str, object] | None = None) -> None:
        self.tag = b""
        self.tokens: list[Token | Node] = []
        #: How tokens combine; see `incoop.fingerprint.tokens`.
        self.mode = ORDERED
        #: The name of the part that this node is, for nodes that a user would name: a function, a class, a global.
        self.label: str | None = None
        #: Whether the node may stand for its type alone when its content cannot be hashed.
        self.optional = False
        #: The node and the edge by which the walk came here first; for error messages, never hashed.
        self.parent = parent
        self.edge = edge


Cut = Callable[[Node], Token | None]


def _no_cut(_: Node) -> Token | None:
    return None


def digests(roots: Iterable[Node], cut: Cut = _no_cut) -> dict[Node, bytes]:
    """Return the digests of `roots` (and of other nodes met on the way).

    Where `cut` gives a token for a node, that token stands for the node in its parents and the edge is not followed.
    """
    roots = list(roots)
    done = _Digests()

    def token(child: Token | Node) -> Token:
        if isinstance(child, bytes):
            return child
        return cut(child) or reference(done[child])

    def children(node: Node) -> Iterator[Node]:
        return (child for child in node.tokens if type(child) is Node and cut(child) is None)

    for component in _components(roots, children):
        node = component[0]
        if len(component) > 1 or any(child is node for child in children(node)):
            _hash_cycle(component, cut, done)
        else:
            plain = combine(node.tag, node.mode, [token(child) for child in node.tokens])
            done[node] = done.copies.get(plain, plain)  # step (3)
    return {root: done[root] for root in roots}


class _Digests(dict[Node, bytes]):
    """Digests by node; those of step (4) are made when they are asked for, since most never are."""

    def __init__(self) -> None:
        super().__init__()
        self.unwritten: dict[Node, _Colouring] = {}
        #: The digest that a shallow copy of a cycle's node would have, and the digest of that node.
        self.copies: dict[bytes, bytes] = {}

    def __missing__(self, node: Node) -> bytes:
        self[node] = result = digest(b"chain" + _written_out(node, self.unwritten[node]))
        return result


def _components(roots: list[Node], children: Callable[[Node], Iterator[Node]]) -> Iterator[list[Node]]:
    """Yield strongly connected components, each after all it reaches (Tarjan, without recursion)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_nodes: list[Node] = []
    is_open: set[Node] = set()
    for root in roots:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        is_open.add(root)
        work = [(root, children(root))]
        while work:
            node, rest = work[-1]
            for child in rest:
                if child not in index:
                    index[child] = low[child] = len(index)
                    open_nodes.append(child)
                    is_open.add(child)
                    work.append((child, children(child)))
                    break
                if child in is_open:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = [open_nodes.pop()]
                    while component[-1] is not node:
                        component.append(open_nodes.pop())
                    is_open.difference_update(component)
                    yield component


class _Colouring:
    """The nodes of one cycle: tokens with everything outside the cycle hashed, and their colours."""

    def __init__(self, component: list[Node], cut: Cut, done: _Digests) -> None:
        members = set(component)
        self.tokens = {node: [_freeze(child, members, cut, done) for child in node.tokens] for node in component}
        self.colour = dict.fromkeys(component, b"")  # step (1)

    def round(self) -> None:  # step (2)
        old = self.colour
        self.colour = {
            node: digest(
                old[node]
                + combine(node.tag, node.mode, [t if isinstance(t, bytes) else reference(old[t]) for t in tokens])
            )
            for node, tokens in self.tokens.items()
        }


def _hash_cycle(component: list[Node], cut: Cut, done: _Digests) -> None:
    colouring = _Colouring(component, cut, done)
    classes = 1
    for _ in range(MAX_ROUNDS):
        colouring.round()
        palette = set(colouring.colour.values())
        if len(palette) == classes:  # step (3)
            shape = digest(b"".join(sorted(palette)))
            final = {node: digest(b"cycle" + shape + colour) for node, colour in colouring.colour.items()}
            done.update(final)
            for node, tokens in colouring.tokens.items():
                hashed = [t if isinstance(t, bytes) else reference(final[t]) for t in tokens]
                done.copies[combine(node.tag, node.mode, hashed)] = final[node]
            return
        classes = len(palette)
    done.unwritten.update(dict.fromkeys(component, colouring))  # step (4)


def _freeze(child: Token | Node, members: set[Node], cut: Cut, done: _Digests) -> Token | Node:
    if isinstance(child, bytes):
        return child
    replaced = cut(child)
    if replaced is not None:
        return replaced
    return child if child in members else reference(done[child])


def _written_out(start: Node, cycle: _Colouring) -> bytes:
    """Return the hash of the cycle as seen from `start`: its nodes breadth first, edges as positions in that order."""
    frozen, colour = cycle.tokens, cycle.colour
    position = {start: 0}
    order = [start]
    written: list[bytes] = []
    for node in order:  # grows while it is read
        entries: list[tuple[Token | Node, ...]]
        if node.mode == PAIRS:
            entries = list(zip(frozen[node][::2], frozen[node][1::2], strict=True))
        else:
            entries = [(token,) for token in frozen[node]]
        if node.mode in (PAIRS, UNORDERED):
            entries.sort(key=lambda entry: b"".join(t if isinstance(t, bytes) else colour[t] for t in entry))
        written.append(b"%d:%s%d:" % (len(node.tag), node.tag, len(entries)))
        for token in (token for entry in entries for token in entry):
            if isinstance(token, bytes):
                written.append(token)
                continue
            if token not in position:
                position[token] = len(position)
                order.append(token)
            written.append(b"@%d;" % position[token])
    return digest(b"".join(written))
