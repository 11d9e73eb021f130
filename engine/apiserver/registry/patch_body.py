"""The body of a patch: what it says, and what is wrong with it that need not stop it.

Source of the texts: apiserver pkg/endpoints/handlers/patch.go, whose decoders are those of sigs.k8s.io/json (strict)
and encoding/json (`fieldValidation=Ignore`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.api.errors import ApiError, bad_request
from engine.api.json_objects import duplicates, read_in_turn
from engine.api.patch.merge_patch import json_kind
from engine.api.wire import JSON_PATCH, MERGE_PATCH
from engine.apiserver.registry.body import read_json

_OPERATION = dict.fromkeys(("op", "path", "from", "value"))


class PatchBody(NamedTuple):
    """`strict` are the strict-decoding errors of the patch itself, such as `duplicate field "spec.foo"`."""

    value: Any
    strict: list[str]


def read_patch(kind: str, body: Any, *, validation: str) -> PatchBody:
    """A JSON, merge or strategic merge patch. Raises ApiError 400."""
    lenient = validation == "Ignore"
    try:
        value = read_json(body or b"", strict=not lenient) if isinstance(body, bytes | None) else body
    except ApiError as error:
        raise bad_request(_named(kind, error.message, lenient=lenient)) from None
    if lenient:
        return PatchBody(value, [])
    if kind == JSON_PATCH:
        return PatchBody(value, [f"json patch {text}" for text in _checked_operations(value)])
    twice: list[str] = []
    duplicates(value, (), twice)
    return PatchBody(value, [*dict.fromkeys(twice)])


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
        for name, value in read_in_turn(operation or {}, ((), index), found, _OPERATION):
            if name not in _OPERATION:
                found.append(f'unknown field "[{index}].{name}"')
            elif name != "value" and value is not None and not isinstance(value, str):
                raise _mismatch(value, f"struct field jsonPatchOp.{name} of type string")
            if name == "value":
                duplicates(value, (((), index), name), found)
    return [*dict.fromkeys(found)]


def _mismatch(value: Any, where: str) -> ApiError:
    return bad_request(f"error decoding patch: json: cannot unmarshal {json_kind(value)} into Go {where}")
