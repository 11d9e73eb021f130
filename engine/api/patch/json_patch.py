"""JSON Patch, RFC 6902, with the failures that the API server has for it (apiserver handlers/patch.go).

As in evanphx/json-patch, which upstream uses, a field that an object lacks reads as null and may be replaced, and an
operation without a value has null for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.errors import ApiError, bad_request, too_large
from engine.api.patch.merge_patch import json_kind, same
from engine.api.types import Object

MAX_OPERATIONS = 10_000
_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


class _Failed(Exception):
    """An operation that cannot be applied. The client is not told why: upstream keeps it to itself."""


def json_patch(obj: Object, patch: Any) -> Object:
    """The object with all operations applied, in order; none of them if one fails.

    Raises ApiError: 400 for what is no patch, 413 for too many operations, 422 for one that cannot be applied.
    """
    if not isinstance(patch, list):
        raise bad_request(f"json: cannot unmarshal {json_kind(patch)} into Go value of type jsonpatch.Patch")
    for operation in patch:
        if not isinstance(operation, dict):
            raise bad_request(
                f"json: cannot unmarshal {json_kind(operation)} into Go value of type jsonpatch.Operation"
            )
    if len(patch) > MAX_OPERATIONS:
        raise too_large(f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}")
    document: Any = orjson.loads(orjson.dumps(obj))
    try:
        for operation in patch:
            document = _apply(document, operation)
        if not isinstance(document, dict):
            raise _Failed
    except _Failed:
        raise unprocessable() from None
    return document


def unprocessable() -> ApiError:
    """422 as the server words it for a patch that does not fit the object."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", details={})


def _apply(document: Any, operation: Mapping[str, Any]) -> Any:
    """The document after one operation. The whole of it can be tested and replaced, and nothing else."""
    kind = operation.get("op")
    if not isinstance(kind, str) or kind not in _OPERATIONS:
        raise _Failed
    path = _pointer(operation.get("path"))
    if kind == "remove":
        _remove(document, path)
        return document
    if kind == "test":
        if not same(_get(document, path), operation.get("value")):
            raise _Failed
        return document
    if kind in ("move", "copy") and not operation.get("from"):
        raise _Failed
    if kind == "move":
        source = _pointer(operation.get("from"))
        value = _get(document, source)
        _remove(document, source)
        return _add(document, path, value)
    if kind == "copy":
        value = orjson.loads(orjson.dumps(_get(document, _pointer(operation.get("from")))))
        return _add(document, path, value)
    value = orjson.loads(orjson.dumps(operation.get("value")))
    return _replace(document, path, value) if kind == "replace" else _add(document, path, value)


def _pointer(text: Any) -> list[str]:
    """The unescaped parts of a JSON pointer (RFC 6901)."""
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise _Failed
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _index(items: list[Any], part: str, *, end: bool = False) -> int:
    """A position in a list; `-` is behind the last. Negative ones count from the end, as evanphx/json-patch has it."""
    if part == "-" and end:
        return len(items)
    try:
        index = int(part)
    except ValueError:
        raise _Failed from None
    length = len(items) + end
    if not -length <= index < length:
        raise _Failed
    return index if index >= 0 else index + length


def _parent(document: Any, path: list[str]) -> Any:
    for part in path[:-1]:
        document = _child(document, part)
    if not isinstance(document, dict | list):
        raise _Failed
    return document


def _child(container: Any, part: str) -> Any:
    if isinstance(container, list):
        return container[_index(container, part)]
    if isinstance(container, dict) and part in container:
        return container[part]
    raise _Failed


def _get(document: Any, path: list[str]) -> Any:
    """The value at a path; None for a last part that is not there."""
    if not path:
        return document
    parent = _parent(document, path)
    return parent.get(path[-1]) if isinstance(parent, dict) else _child(parent, path[-1])


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        raise _Failed
    parent = _parent(document, path)
    if isinstance(parent, list):
        parent.insert(_index(parent, path[-1], end=True), value)
    else:
        parent[path[-1]] = value
    return document


def _replace(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _parent(document, path)
    if isinstance(parent, list):
        parent[_index(parent, path[-1])] = value
    else:
        parent[path[-1]] = value
    return document


def _remove(document: Any, path: list[str]) -> None:
    if not path:
        raise _Failed
    parent = _parent(document, path)
    _child(parent, path[-1])
    if isinstance(parent, list):
        del parent[_index(parent, path[-1])]
    else:
        del parent[path[-1]]
