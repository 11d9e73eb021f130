"""`debug --custom`: a part of a container, from a file, that is merged over the debug container.

Source of the behaviour: kubectl pkg/cmd/debug/debug.go (CustomProfile, applyCustomProfile), sigs.k8s.io/yaml
(convertToJSONableObject).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.api.decoding import type_error
from engine.api.patch import strategic_merge_patch
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, Object
from engine.kubectl import yaml
from engine.kubectl.errors import CommandError

# What the flags of `debug` say, and what a debug container has no use for.
_NOT_TO_BE_SET = ("name", "command", "image", "lifecycle", "volumeDevices")


def load(path: str) -> Object:
    """The part of a container in a file, {} without one. Raises CommandError."""
    if not path:
        return {}
    try:
        value = yaml.load(Path(path).read_text(errors="replace"))
    except OSError as error:
        what = "read" if isinstance(error, IsADirectoryError) else "open"
        why = f"{what} {path}: {(error.strerror or str(error)).lower()}"
        raise CommandError(f"must pass a container spec json file for custom profile: {why}") from error
    except yaml.YamlError as error:
        raise _unfit(path, f"error converting YAML to JSON: {error}") from error
    value = _typed(_container(), value)
    if value is not None and (problem := type_error(load_definitions(), _container(), value)):
        raise _unfit(path, f"error unmarshaling JSON: while decoding JSON: {problem}")
    return value or {}


def check(custom: Object) -> None:
    """Whether it leaves alone what it may not set. Raises CommandError."""
    if any(custom.get(key, "") != "" for key in _NOT_TO_BE_SET):
        raise CommandError("name, command, image, lifecycle and volume devices are not modifiable via custom profile")


def merged(container: Object, custom: Object) -> Object:
    """The container with what is set besides. Without a name the part does not say which it is of."""
    part = {key: value for key, value in custom.items() if key not in _NOT_TO_BE_SET}
    return strategic_merge_patch(container, part, _container())


def _unfit(path: str, why: str) -> CommandError:
    return CommandError(f"{path} does not contain a valid container spec: {why}")


@lru_cache(maxsize=1)
def _container() -> Schema:
    pod = load_definitions().kind(GVK("", "v1", "Pod"))
    assert pod is not None
    containers = pod.properties["spec"].properties["containers"]
    assert containers.items is not None
    return containers.items


def _typed(schema: Schema | None, value: Any) -> Any:
    """A value of YAML as its Go type gets it: numbers and truths that stand for text become text, and what is null or
    unknown is not set, nor is a list of nothing."""
    if schema is None or schema.int_or_string or schema.quantity:
        return value
    if isinstance(value, bool | int | float) and schema.type == "string":
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, list) and schema.type == "array":
        return [_typed(schema.items, item) for item in value]
    if not isinstance(value, dict) or schema.type != "object":
        return value
    values = {key: _typed(schema.field(key), inner) for key, inner in value.items() if schema.field(key) is not None}
    return {key: inner for key, inner in values.items() if inner is not None and inner != []}
