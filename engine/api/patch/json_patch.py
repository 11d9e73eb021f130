"""JSON Patch, RFC 6902, with the failures that the API server has for it (apiserver handlers/patch.go).

As in evanphx/json-patch, which upstream uses, a field that an object lacks reads as null and may be replaced, an
operation without a value has null for one, what stands before the first slash of a path counts for nothing, and numbers
are the same if they are written so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.errors import ApiError, bad_request, too_large
from engine.api.patch.merge_patch import json_kind
from engine.api.types import Object

MAX_OPERATIONS = 10_000
# What all copies of a patch may add to an object (JSONPatchMaxCopyBytes).
MAX_COPIED = 3 * 1024 * 1024
_INDEX = re.compile(r"[+-]?[0-9]{1,18}")
_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


class _Failed(Exception):
    """An operation that cannot be applied, in the words of evanphx/json-patch where it has any of its own.

    The client of a server is not told why: upstream keeps it to itself. kubectl, patching locally, tells it.
    """


class _Missing(_Failed):
    """The value that holds what the path ends in is not there."""


class PatchTestFailed(_Failed):
    """An operation `test` has found something else."""


def json_patch(obj: Object, patch: Any) -> Object:
    """The object with all operations applied, in order; none of them if one fails.

    Raises ApiError: 400 for what is no patch, 413 for too many operations, 422 for one that cannot be applied.
    """
    if patch is None:
        patch = []
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
    copied = 0
    try:
        for operation in patch:
            if operation.get("op") == "copy":
                copied += len(orjson.dumps(_source(document, operation)))
                if copied > MAX_COPIED:
                    raise _Failed
            document = _worded(document, operation)
        if not isinstance(document, dict):
            raise _Failed
    except _Failed as failure:
        raise unprocessable() from (failure if str(failure) else None)
    return document


def unprocessable() -> ApiError:
    """422 as the server words it for a patch that does not fit the object."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", details={})


def _source(document: Any, operation: Mapping[str, Any]) -> Any:
    """What a move or copy takes; it cannot be the whole document."""
    path = _pointer(operation.get("from"))
    if not path:
        raise _Failed
    return _get(document, path)


def _worded(document: Any, operation: Mapping[str, Any]) -> Any:
    """The document after one operation. Raises _Failed, which says where."""
    kind, path = operation.get("op"), operation.get("path")
    try:
        return _apply(document, operation)
    except _Missing:
        shown = f'"{path}"' if kind == "add" else path
        raise _Failed(f"{kind} operation does not apply: doc is missing path: {shown}: missing value") from None
    except _Failed as failure:
        if kind == "replace":
            raise _Failed(f"Object to be patched is missing field ({path}: missing value)") from None
        if kind in ("add", "remove") and str(failure):
            raise _Failed(f"error in {kind} for path: '{path}': {failure}") from None
        raise


def _apply(document: Any, operation: Mapping[str, Any]) -> Any:
    """The document after one operation. The whole of it can be tested and replaced, and nothing else."""
    kind = operation.get("op")
    if not isinstance(kind, str) or kind not in _OPERATIONS:
        raise _Failed(f"Unexpected kind: {'unknown' if kind is None else kind}")
    path = _pointer(operation.get("path"))
    if kind == "remove":
        _remove(document, path)
        return document
    if kind == "test":
        if not _written_alike(_get(document, path), operation.get("value")):
            raise PatchTestFailed(f"testing value {operation['path']} failed: test failed")
        return document
    if kind == "move":
        value = _source(document, operation)
        _remove(document, _pointer(operation.get("from")))
        return _add(document, path, value)
    if kind == "copy":
        value = orjson.loads(orjson.dumps(_source(document, operation)))
        return _add(document, path, value)
    value = orjson.loads(orjson.dumps(operation.get("value")))
    return _replace(document, path, value) if kind == "replace" else _add(document, path, value)


def _pointer(text: Any) -> list[str]:
    """The unescaped parts of a JSON pointer (RFC 6901)."""
    if not isinstance(text, str) or (text and "/" not in text):
        raise _Failed
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _index(items: list[Any], part: str, *, end: bool = False) -> int:
    """A position in a list; `-` is behind the last. Negative ones count from the end, as evanphx/json-patch has it."""
    if part == "-" and end:
        return len(items)
    if not _INDEX.fullmatch(part):
        raise _Failed
    index = int(part)
    length = len(items) + end
    if not -length <= index < length:
        raise _Failed(f"Unable to access invalid index: {index}: invalid index referenced")
    return index if index >= 0 else index + length


def _parent(document: Any, path: list[str]) -> Any:
    for part in path[:-1]:
        try:
            document = _child(document, part)
        except _Failed:
            raise _Missing from None
    if not isinstance(document, dict | list):
        raise _Missing
    return document


def _child(container: Any, part: str) -> Any:
    if isinstance(container, list):
        return container[_index(container, part)]
    if isinstance(container, dict) and part in container:
        return container[part]
    raise _Failed(f"Unable to remove nonexistent key: {part}: missing value")


def _get(document: Any, path: list[str]) -> Any:
    """The value at a path; None for a last part that is not there."""
    if not path:
        return document
    parent = _parent(document, path)
    return parent.get(path[-1]) if isinstance(parent, dict) else _child(parent, path[-1])


def _written_alike(left: Any, right: Any) -> bool:
    """JSON equality in which 1 is not 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_written_alike(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_written_alike, left, right))
    return type(left) is type(right) and bool(left == right)


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
