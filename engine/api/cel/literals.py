"""What is wrong with literals of an expression whose types are right: times, patterns, mixed lists and maps, formats.

Source: cel-go cel/validator.go, and ext/formatting.go for formats; apiserver pkg/cel/environment/base.go turns them on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.api.cel.checker import Checked
from engine.api.cel.library.formatting import Clause, interpolated
from engine.api.cel.operators import timestamp
from engine.api.cel.syntax import Issue, Node
from engine.api.cel.times import parse_duration, parse_timestamp
from engine.api.cel.types import Type
from engine.api.cel.values import EvaluationError
from engine.api.crd import patterns


def wrong_literals(checked: Checked) -> Iterator[Issue]:
    for node in checked.root.walk():
        yield from _argument(node)
    yield from _mixed(checked, checked.root)
    for node in checked.root.walk():
        yield from _format(checked, node)


def wrong_pattern(checked: Checked) -> str:
    """Of a regular expression that stands in the source."""
    for node in checked.root.walk():
        if node.kind == "call" and node.name in ("find", "findAll") and node.args and node.args[0].kind == "const":
            why = patterns.what_is_wrong(str(node.args[0].value))
            if why:
                return why
    return ""


# -- arguments


def _argument(node: Node) -> Iterator[Issue]:
    if node.kind != "call" or not node.args:
        return
    check_ = _VALIDATED.get(node.name)
    argument = node.args[-1] if node.name == "matches" else node.args[0]
    if check_ is not None and argument.kind == "const" and not check_(argument.value):
        yield Issue(argument.offset, f"invalid {node.name} argument")


def _succeeds(parse_: Callable[[str], Any]) -> Callable[[Any], bool]:
    def check_(value: Any) -> bool:
        try:
            timestamp(value * 10**9) if isinstance(value, int) else parse_(value)
        except (ValueError, EvaluationError):
            return False
        return True

    return check_


_VALIDATED: Mapping[str, Callable[[Any], bool]] = {
    "duration": _succeeds(parse_duration),
    "timestamp": _succeeds(parse_timestamp),
    "matches": lambda pattern: not patterns.what_is_wrong(pattern),
}


# -- lists and maps of several types: all but those that are formatted


def _mixed(checked: Checked, root: Node) -> Iterator[Issue]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.kind == "call" and node.name == "format":
            continue
        if node.kind == "list":
            yield from list(_differing(checked, node.args, node.optional))[:1]
        elif node.kind == "map":
            yield from _differing(checked, node.keys, frozenset())
            yield from _differing(checked, node.args, node.optional)
        waiting.extend(node.children())


def _differing(checked: Checked, nodes: list[Node], optional: frozenset[int]) -> Iterator[Issue]:
    found = [_held(checked.types[node], optional=index in optional) for index, node in enumerate(nodes)]
    for node, type_ in zip(nodes, found, strict=True):
        if type_ != found[0]:
            yield Issue(node.offset, f"expected type '{found[0]}' but found '{type_}'")


def _held(type_: Type, *, optional: bool) -> Type:
    return type_.params[0] if optional and type_.is_optional else type_


# -- formats


def _format(checked: Checked, call: Node) -> Iterator[Issue]:
    target = call.target
    if call.kind != "call" or call.name != "format" or target is None or not isinstance(target.value, str):
        return
    if len(call.args) != 1 or call.args[0].kind != "list":
        return
    args = call.args[0].args
    seen, wrong = [0], [call]

    def show(clause: Clause, index: int) -> str:
        seen[0] += 1
        refused = _refused(checked, clause, args[index])
        if refused is not None:
            wrong[0] = refused
            raise clause.refusal(checked.types[refused])
        return ""

    try:
        interpolated(target.value, len(args), show, checking=True)
    except EvaluationError as error:
        yield Issue(wrong[0].offset, str(error))
        return
    if len(args) > seen[0]:
        yield Issue(call.offset, f"too many arguments supplied to string.format (expected {seen[0]}, got {len(args)})")


def _refused(checked: Checked, clause: Clause, node: Node) -> Node | None:
    """What the clause does not take: the argument, or for %s what stands in it."""
    type_ = checked.types[node]
    if not type_.is_dyn and not clause.takes(type_):
        return node
    if clause.letter != "s" or node.kind not in ("list", "map"):
        return None
    pairs = zip(node.keys, node.args, strict=True)
    inner = node.args if node.kind == "list" else [each for pair in pairs for each in pair]
    return next((found for each in inner if (found := _refused(checked, clause, each)) is not None), None)
