"""Paths of `replacements`: `spec.containers.[name=web].env.0.value`, with `*` for all items of a list.

Source of the behaviour: kyaml utils (pathsplitter.go) and kyaml/yaml (PathMatcher, Lookup).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.kubectl import yaml
from engine.kubectl.kustomize.errors import BuildError

_FILTER = re.compile(r"\[(?P<key>[^=\]]*)=(?P<value>.*)\]", re.DOTALL)


class Place(NamedTuple):
    """Where a value is: in a map under a key, or in a list at an index."""

    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.holder[self.key]


def split(path: str) -> list[str]:
    """The steps of a path. A dot in brackets or after a backslash parts nothing."""
    steps, step, depth, index = [], "", 0, 0
    while index < len(path):
        character = path[index]
        if character == "\\" and path[index + 1 : index + 2] == ".":
            step += "."
            index += 2
            continue
        depth += (character == "[") - (character == "]")
        if character == "." and depth <= 0:
            steps.append(step)
            step = ""
        else:
            step += character
        index += 1
    return [text for text in (*steps, step) if text]


def lookup(obj: Any, steps: list[str]) -> Any:
    """The one value at a path, None if there is none."""
    node = obj
    for step in steps:
        if isinstance(node, dict):
            node = node.get(step)
        elif isinstance(node, list):
            node = _item(node, step)
        else:
            return None
    return node


def _item(node: list[Any], step: str) -> Any:
    if step == "-" and node:
        return node[-1]
    if step.isdigit():
        if int(step) >= len(node):
            return None
        return node[int(step)]
    if (match := _FILTER.fullmatch(step)) is not None:
        return next((item for item in node if _fits(item, match)), None)
    raise _no_map(node, "SequenceNode")


def _no_map(node: Any, kind: str) -> BuildError:
    shown = yaml.dump(node).rstrip("\n")
    return BuildError(f"wrong node kind: expected MappingNode but was {kind}: node contents:\n{shown}")


def _fits(item: Any, match: re.Match[str]) -> bool:
    if not match["key"]:
        return not isinstance(item, dict | list) and text_of(item) == match["value"]
    return isinstance(item, dict) and match["key"] in item and text_of(item[match["key"]]) == match["value"]


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def places(obj: dict[str, Any] | list[Any], steps: list[str], *, create: Any = None) -> Iterator[Place]:
    """All places that a path leads to. `create` is the kind of value to make where there is none: dict, list or str."""
    yield from _places(obj, steps, create)


def _places(node: Any, steps: list[str], create: Any) -> Iterator[Place]:
    step, rest = steps[0], steps[1:]
    if isinstance(node, dict):
        if step == "*":
            shown = yaml.dump(node).rstrip("\n")
            raise BuildError(f"wrong node kind: expected SequenceNode but got MappingNode: node contents:\n{shown}")
        keys: list[Any] = [step]
        if step not in node:
            if create is None:
                return
            node[step] = _fresh(rest, create)
    elif isinstance(node, list):
        keys = _indices(node, step, rest, create)
    else:
        if node is None:
            return
        raise _no_map(node, "ScalarNode")
    for key in keys:
        if rest and node[key] is None and create is not None:
            node[key] = _fresh(rest, create)
        if rest:
            yield from _places(node[key], rest, create)
        else:
            yield Place(node, key)


def _fresh(rest: list[str], create: Any) -> Any:
    if not rest:
        return create()
    return [] if rest[0].isdigit() or rest[0] == "-" or rest[0].startswith("[") else {}


def _indices(node: list[Any], step: str, rest: list[str], create: Any) -> list[int]:
    if step == "*":
        return list(range(len(node)))
    if step == "-":
        if create is not None:
            node.append(_fresh(rest, create))
        return [len(node) - 1] if node else []
    if step.isdigit():
        index = int(step)
        if index == len(node) and create is not None:
            node.append(_fresh(rest, create))
        if index >= len(node):
            raise BuildError(f"index {index} specified but only {len(node)} elements found")
        return [index]
    if (match := _FILTER.fullmatch(step)) is None:
        raise _no_map(node, "SequenceNode")
    found = [index for index, item in enumerate(node) if _matches(item, match)]
    if not found and create is not None:
        node.append({match["key"]: match["value"]} if match["key"] else match["value"])
        return [len(node) - 1]
    return found


def _matches(item: Any, match: re.Match[str]) -> bool:
    """Of a path to targets, whose filters are regular expressions."""
    value = item if not match["key"] else item.get(match["key"]) if isinstance(item, dict) else None
    return value is not None and re.search(match["value"], text_of(value)) is not None
