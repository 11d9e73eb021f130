"""JSON Patch, RFC 6902, with the failures that the API server has for it (apiserver handlers/patch.go).

As in evanphx/json-patch, which upstream uses, a field that an object lacks reads as null and may be replaced, an
operation without a value has null for one, what stands before the first slash of a path counts for nothing, and numbers
are the same if they are written so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson

from engine.api.errors import ApiError, bad_request, too_large
from engine.api.golang.integer import parse_int
from engine.api.patch.merge_patch import json_kind
from engine.api.types import Object

MAX_OPERATIONS = 10_000
# What all copies of a patch may add to an object (JSONPatchMaxCopyBytes).
MAX_COPIED = 3 * 1024 * 1024
_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


class _Failed(Exception):
    """An operation that cannot be applied, in the words of evanphx/json-patch.

    The client of a server is not told why: upstream keeps it to itself. kubectl, patching locally, tells it.
    """


_NOWHERE = "missing value"


def json_patch(obj: Object, patch: Any) -> Object:
    """The object with all operations applied. Raises ApiError as `json_patched`, and 422 for what is none any more."""
    document = json_patched(obj, patch)
    if not isinstance(document, dict):
        raise unprocessable()
    return document


def json_patched(obj: Object, patch: Any) -> Any:
    """What all operations, in order, make of the object; none of them if one fails. It may be a list in its place.

    Raises ApiError: 400 for what is no patch, 413 for too many operations, 422 for one that cannot be applied.
    """
    if patch is None:
        patch = []
    if not isinstance(patch, list):
        raise bad_request(f"json: cannot unmarshal {json_kind(patch)} into Go value of type jsonpatch.Patch")
    for operation in patch:
        if not isinstance(operation, dict | None):
            raise bad_request(
                f"json: cannot unmarshal {json_kind(operation)} into Go value of type jsonpatch.Operation"
            )
    if len(patch) > MAX_OPERATIONS:
        raise too_large(f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}")
    document: Any = orjson.loads(orjson.dumps(obj))
    copied = 0
    try:
        for operation in patch:
            operation = operation or {}  # null is one that says nothing
            if operation.get("op") == "copy":
                copied += len(orjson.dumps(_taken(document, operation)[1]))
                if copied > MAX_COPIED:
                    raise _Failed(_too_much(copied))
            document = _apply(document, operation)
    except _Failed as failure:
        raise unprocessable() from failure
    return _in_order(document, patch)


def _in_order(document: Any, patch: list[Any]) -> Any:
    """What the operations went through has its fields in order, as upstream writes them anew; all else is as it was."""
    if not isinstance(document, dict):
        return document
    paths = [operation.get(name) for operation in patch if operation for name in ("path", "from")]
    for path in paths:
        document = _ordered(document, _parts(path)[:-1] if isinstance(path, str) else [])
    return document if paths else {key: document[key] for key in sorted(document)}


def _ordered(value: Any, parts: list[str]) -> Any:
    """A value with the fields of what is on a path in order."""
    if isinstance(value, list):
        if parts and parts[0].lstrip("-").isdigit() and -len(value) <= (place := int(parts[0])) < len(value):
            value[place] = _ordered(value[place], parts[1:])
        return value
    if not isinstance(value, dict):
        return value
    found = {key: value[key] for key in sorted(value)}
    if parts and parts[0] in found:
        found[parts[0]] = _ordered(found[parts[0]], parts[1:])
    return found


def unprocessable() -> ApiError:
    """422 as the server words it for a patch that does not fit the object."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", details={})


def _too_much(copied: int) -> str:
    return (
        f"Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit "
        f"{MAX_COPIED}"
    )


def _apply(document: Any, operation: Mapping[str, Any]) -> Any:
    """The document after one operation. The whole of it can be tested and replaced, and nothing else."""
    kind = operation.get("op")
    if not isinstance(kind, str) or kind not in _OPERATIONS:
        raise _Failed(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
    if kind in ("move", "copy"):
        return _from_elsewhere(document, operation, kind)
    path = _text(operation, "path", kind)
    value = orjson.loads(orjson.dumps(operation.get("value")))
    if kind == "test":
        return _test(document, path, value)
    if kind == "replace":
        return _replace(document, path, value)
    holder, key = _place(document, path, f'{kind} operation does not apply: doc is missing path: "{path}"')
    with _saying(f"error in {kind} for path: '{path}'"):
        if kind == "add":
            _put(holder, key, value)
        else:
            _remove(holder, key)
    return document


def _test(document: Any, path: str, value: Any) -> Any:
    found = document
    if path:
        holder, key = _place(document, path, f"test operation does not apply: is missing path: {path}")
        with _saying(f"error in test for path: '{path}'"):
            found = _get(holder, key)
    if not _written_alike(found, value):
        raise _Failed(f"testing value {path} failed: test failed")
    return document


def _replace(document: Any, path: str, value: Any) -> Any:
    if not path:
        if not isinstance(value, dict | list):
            raise _Failed("replace operation value must be object or array: %!w(<nil>)")
        return value
    holder, key = _place(document, path, f"replace operation does not apply: doc is missing path: {path}")
    try:
        _get(holder, key)
    except _Failed:
        raise _Failed(f"replace operation does not apply: doc is missing key: {path}: {_NOWHERE}") from None
    holder[_index(holder, key) if isinstance(holder, list) else key] = value
    return document


def _from_elsewhere(document: Any, operation: Mapping[str, Any], kind: str) -> Any:
    (holder, key), value = _taken(document, operation)
    if kind == "move":
        with _saying(f"error in move for path: '{key}'"):
            _remove(holder, key)
    path = _text(operation, "path", kind)
    target, name = _place(document, path, f"{kind} operation does not apply: doc is missing destination path: {path}")
    with _saying(f"error in move for path: '{path}'" if kind == "move" else "error while adding value during copy"):
        _put(target, name, orjson.loads(orjson.dumps(value)))
    return document


def _taken(document: Any, operation: Mapping[str, Any]) -> tuple[tuple[Any, str], Any]:
    """Where what a move or copy takes is, and what it is; it cannot be the whole document."""
    kind, source = operation["op"], _text(operation, "from", operation["op"])
    holder, key = _place(document, source, f"{kind} operation does not apply: doc is missing from path: {source}")
    with _saying(f"error in move for path: '{key}'" if kind == "move" else f"error in copy for from: '{source}'"):
        return (holder, key), _get(holder, key)


@contextmanager
def _saying(where: str) -> Iterator[None]:
    try:
        yield
    except _Failed as failure:
        raise _Failed(f"{where}: {failure}") from None


def _text(operation: Mapping[str, Any], name: str, kind: str) -> str:
    value = operation.get(name)
    if isinstance(value, str):
        return value
    why = _NOWHERE
    if name == "from" and value is not None:
        why = f"json: cannot unmarshal {json_kind(value)} into Go value of type string"
    elif name == "from":
        why = f"operation, missing from field: {_NOWHERE}"
    elif kind in ("replace", "move", "test"):
        why = f"operation missing path field: {_NOWHERE}"
    raise _Failed(f"{kind} operation failed to decode {name}: {why}")


def _place(document: Any, path: str, missing: str) -> tuple[Any, str]:
    """The object or list that a JSON pointer (RFC 6901) ends in, and its last part."""
    parts = _parts(path)
    if not parts:
        raise _Failed(f"{missing}: {_NOWHERE}")
    try:
        for part in parts[:-1]:
            document = _get(document, part)
    except _Failed:
        document = None
    if not isinstance(document, dict | list):
        raise _Failed(f"{missing}: {_NOWHERE}")
    return document, parts[-1]


def _parts(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _index(items: list[Any], part: str) -> int:
    return _position(items, _number(part))


def _number(part: str) -> int:
    try:
        return parse_int(part)
    except ValueError as error:
        raise _Failed(str(error).replace("ParseInt", "Atoi", 1)) from None


def _position(items: list[Any], index: int, *, more: int = 0) -> int:
    """A position in a list, or behind it. Negative ones count from the end, as evanphx/json-patch has it."""
    length = len(items) + more
    if not -length <= index < length:
        raise _Failed(f"Unable to access invalid index: {index}: invalid index referenced")
    return index if index >= 0 else index + length


def _get(holder: Any, key: str) -> Any:
    """What is there; None for a field that an object lacks."""
    if isinstance(holder, list):
        return holder[_index(holder, key)]
    if isinstance(holder, dict):
        return holder.get(key)
    raise _Failed(_NOWHERE)


def _written_alike(left: Any, right: Any) -> bool:
    """JSON equality in which 1 is not 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_written_alike(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_written_alike, left, right))
    return type(left) is type(right) and bool(left == right)


def _put(holder: Any, key: str, value: Any) -> None:
    if not isinstance(holder, list):
        holder[key] = value
    elif key == "-":
        holder.append(value)
    else:
        with _saying(f"value was not a proper array index: '{key}'"):
            index = _number(key)
        holder.insert(_position(holder, index, more=1), value)


def _remove(holder: Any, key: str) -> None:
    if isinstance(holder, list):
        del holder[_index(holder, key)]
    elif key in holder:
        del holder[key]
    else:
        raise _Failed(f"Unable to remove nonexistent key: {key}: {_NOWHERE}")
