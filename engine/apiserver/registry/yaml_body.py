"""YAML in requests: as JSON, and the keys that come twice in it.

Source of the texts: sigs.k8s.io/yaml and the yaml.v2 decoder in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import yaml

from engine.api.errors import bad_request

CONVERTING = "error converting YAML to JSON: "
_TOO_DEEP = "exceeded max depth"  # in the words of Go's encoding/json, whose limit is 10000


class _YamlLoader(yaml.CSafeLoader):
    """YAML as JSON: no dates, and keys are strings."""


_YamlLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(text: bytes, *, what: str = "") -> Any:
    """The JSON value of a YAML document; `what` is said before it of one that is broken. Raises ApiError 400."""
    try:
        value = yaml.load(text, _YamlLoader)  # a safe loader: it makes plain values only
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))
    except RecursionError:
        raise bad_request(f"{what}{CONVERTING}yaml: {_TOO_DEEP}") from None
    except (yaml.YAMLError, orjson.JSONEncodeError, ValueError) as error:
        raise bad_request(f"{what}{CONVERTING}yaml: {error}") from None


def twice_in_yaml(text: bytes) -> list[str]:
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
