"""How much of a YAML document its aliases may make up, as go-yaml has it (decode.go: allowedAliasRatio).

A document of a few lines can stand for billions of values. What a decoder would do for it is counted, and refused once
nearly all of that is done for aliases; of large documents a smaller share is let through.
"""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, SequenceNode

FEW_ALIASED, FEW_DECODED = 100, 1_000  # up to here nobody minds
LOW, HIGH = 400_000, 4_000_000  # decoded values between which the share goes down
MOST_SHARE, LEAST_SHARE = 0.99, 0.10

Edge = tuple[int, int]  # from which node, as its how manieth


def has_excessive_aliases(root: Node) -> bool:
    """Raises RecursionError where an alias stands within what it stands for, or a document is too deep."""
    try:
        _Count().walk(root, (0, 0))
    except _TooManyError:
        return True
    return False


class _TooManyError(Exception):
    pass


class _Count:
    """PyYAML gives an alias as the node itself: what is come to by another way than at first is one."""

    def __init__(self) -> None:
        self._decoded, self._aliased, self._depth = 1, 0, 0  # the document is the first
        self._first: dict[int, Edge] = {}
        self._inside: set[int] = set()

    def walk(self, node: Node, edge: Edge) -> None:
        is_alias = self._first.setdefault(id(node), edge) != edge
        if is_alias:
            self._count()
            self._depth += 1
        self._count()
        if isinstance(node, SequenceNode | MappingNode):
            self._collection(node)
        if is_alias:
            self._depth -= 1

    def _collection(self, node: SequenceNode | MappingNode) -> None:
        here = id(node)
        if here in self._inside:
            raise RecursionError
        self._inside.add(here)
        inner = node.value if isinstance(node, SequenceNode) else [each for pair in node.value for each in pair]
        for place, each in enumerate(inner):
            self.walk(each, (here, place))
        self._inside.discard(here)

    def _count(self) -> None:
        self._decoded += 1
        self._aliased += self._depth > 0
        is_much = self._aliased > FEW_ALIASED and self._decoded > FEW_DECODED
        if is_much and self._aliased / self._decoded > _allowed_share(self._decoded):
            raise _TooManyError


def _allowed_share(decoded: int) -> float:
    if decoded <= LOW:
        return MOST_SHARE
    if decoded >= HIGH:
        return LEAST_SHARE
    return MOST_SHARE - (MOST_SHARE - LEAST_SHARE) * (decoded - LOW) / (HIGH - LOW)
