"""A guard against YAML that is small on disk and endless in use: aliases in aliases, or in themselves."""

from __future__ import annotations

from .errors import Place, StateError
from .yaml_text import MappingNode, Node, SequenceNode

MAXIMUM_NODES = 200_000


def require_finite(root: Node | None, path: str, limit: int = MAXIMUM_NODES) -> None:
    """Raise StateError where the data, every alias followed, has more than `limit` nodes or holds itself."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack: list[tuple[Node, bool]] = [] if root is None else [(root, False)]
    while stack:
        node, done = stack.pop()
        children = _children(node)
        if done:
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in children)
            if sizes[id(node)] > limit:
                raise _refused(node, path, f"its aliases unfold to more than {limit} values")
        elif id(node) not in sizes:
            open_nodes.add(id(node))
            stack.append((node, True))
            for child in children:
                if id(child) in open_nodes:
                    raise _refused(node, path, "an alias holds itself")
                stack.append((child, False))


def _children(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def _refused(node: Node, path: str, what: str) -> StateError:
    return StateError(what, where=Place(path, node.start_mark.line + 1, node.start_mark.column + 1))
