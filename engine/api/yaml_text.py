"""YAML as sigs.k8s.io/yaml reads it: plain JSON values, keys that come twice, the words for a text that is broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import yaml

CONVERTING = "error converting YAML to JSON: "


class _PlainLoader(yaml.CSafeLoader):
    """YAML as JSON: no dates."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def plain_yaml(text: str | bytes) -> Any:
    """The JSON value of a YAML document; keys are strings. Raises yaml.YAMLError, ValueError, RecursionError."""
    value = yaml.load(text, _PlainLoader)  # a safe loader: it makes plain values only
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))


def go_yaml_error(error: yaml.YAMLError) -> str:
    """`yaml: line 3: ...`: libyaml and its port to Go find the same, and tell the line in different ways."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return f"yaml: {error}"
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    where = f"line {line}: " if line else ""
    return f"yaml: {where}{error.problem or 'unknown problem parsing YAML content'}"


def twice_in_yaml(text: str | bytes) -> list[str]:
    """Where keys of a sound document come again: `line 3: key "a" already set in map`."""
    root = yaml.compose(text, yaml.CSafeLoader)
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
