"""Where in a YAML text the field is that an error of the API server names."""

from __future__ import annotations

import re

import yaml

_PART = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
_LINE = re.compile(r"\bline (\d+)\b")
_UNKNOWN = re.compile(r'(?:unknown|duplicate) field "([^"]+)"')


def field_in(message: str) -> str:
    """The field that a strict-decoding message names; "" for none."""
    found = _UNKNOWN.search(message)
    return found.group(1) if found else ""


def line_in(message: str) -> int | None:
    """The line (from 0) that a YAML library's message names; None for none."""
    found = _LINE.search(message)
    return int(found.group(1)) - 1 if found else None


def line_of(text: str, field: str) -> int | None:
    """The line (from 0) of a field such as `spec.containers[0].image`, or of the deepest part of it that is there."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    line: int | None = None
    for name, index in _PART.findall(field):
        step = _child(node, name, index)
        if step is None:
            break
        line, node = step
    return line


def _child(node: yaml.Node | None, name: str, index: str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == (name or index):
                return key.start_mark.line, value
    if isinstance(node, yaml.SequenceNode) and index.isdigit() and int(index) < len(node.value):
        item = node.value[int(index)]
        return item.start_mark.line, item
    return None
