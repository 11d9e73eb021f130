"""The body of a patch: what it says, and what is wrong with it that need not stop it.

Source of the texts: apiserver pkg/endpoints/handlers/patch.go, whose decoders are those of sigs.k8s.io/json (strict)
and encoding/json (`fieldValidation=Ignore`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.api.decoders import DuplicatesDict
from engine.api.errors import ApiError, bad_request
from engine.api.patch.merge_patch import json_kind
from engine.api.wire import JSON_PATCH, MERGE_PATCH
from engine.apiserver.registry.body import read_json

_OPERATION = {"op": str, "path": str, "from": str}


class PatchBody(NamedTuple):
    """`strict` are the strict-decoding errors of the patch itself, such as `duplicate field "spec.foo"`."""

    value: Any
    strict: list[str]


def read_patch(kind: str, body: Any, *, validation: str) -> PatchBody:
    """A JSON, merge or strategic merge patch. Raises ApiError 400."""
    lenient = validation == "Ignore"
    try:
        value = read_json(body, strict=not lenient) if isinstance(body, bytes) else body
    except ApiError as error:
        raise bad_request(_named(kind, error.message, lenient=lenient)) from None
    if lenient:
        return PatchBody(value, [])
    if kind == JSON_PATCH:
        return PatchBody(value, [f"json patch {text}" for text in _checked_operations(value)])
    return PatchBody(value, _duplicates(value))


def _named(kind: str, message: str, *, lenient: bool) -> str:
    """Only the strict decoding of JSON and merge patches says what it is that it decodes."""
    if kind == MERGE_PATCH and lenient:
        return "Invalid JSON Patch"
    return f"error decoding patch: {message}" if kind in (JSON_PATCH, MERGE_PATCH) and not lenient else message


def _checked_operations(operations: Any) -> list[str]:
    """What is unknown or there twice in the operations of a JSON patch. Raises ApiError 400 for what is none."""
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise _mismatch(operations, "value of type []handlers.jsonPatchOp")
    found: list[str] = []
    for index, operation in enumerate(operations):
        if not isinstance(operation, dict | None):
            raise _mismatch(operation, "value of type handlers.jsonPatchOp")
        for name, value in (operation or {}).items():
            if name in _OPERATION and value is not None and not isinstance(value, str):
                raise _mismatch(value, f"struct field jsonPatchOp.{name} of type string")
            if name not in _OPERATION and name != "value":
                found.append(f'unknown field "[{index}].{name}"')
        found += _duplicates(operation, (index,))
    return found


def _mismatch(value: Any, where: str) -> ApiError:
    return bad_request(f"error decoding patch: json: cannot unmarshal {json_kind(value)} into Go {where}")


def _duplicates(value: Any, path: tuple[str | int, ...] = ()) -> list[str]:
    if isinstance(value, list):
        return [text for index, item in enumerate(value) for text in _duplicates(item, (*path, index))]
    if not isinstance(value, dict):
        return []
    twice = value.duplicates if isinstance(value, DuplicatesDict) else ()
    own = [f'duplicate field "{_shown((*path, key))}"' for key in twice]
    return own + [text for key, item in value.items() for text in _duplicates(item, (*path, key))]


def _shown(path: tuple[str | int, ...]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
