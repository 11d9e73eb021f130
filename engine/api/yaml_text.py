"""What is told of YAML besides its value (engine.api.golang.yaml): keys that come twice."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import yaml

CONVERTING = "error converting YAML to JSON: "


def twice_in_yaml(text: str | bytes) -> list[str]:
    """Where keys of a sound document (the first one of several) come again: `line 3: key "a" already set in map`."""
    root = next(yaml.compose_all(text, yaml.CSafeLoader), None)
    return list(_twice(root)) if root is not None else []


def unmarshal_errors(found: list[str]) -> str:
    """These as one error of the strict decoder."""
    return "yaml: unmarshal errors:\n" + "\n".join(f"  {line}" for line in found)


def _twice(node: yaml.Node) -> Iterator[str]:
    """The inner ones first, as they are met; the line is that of the value."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _twice(item)
    if not isinstance(node, yaml.MappingNode):
        return
    seen = set()
    for key, value in node.value:
        yield from _twice(value)
        if key.value in seen:
            yield f"line {value.start_mark.line + 1}: key {orjson.dumps(str(key.value)).decode()} already set in map"
        seen.add(key.value)
