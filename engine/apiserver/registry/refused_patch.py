"""Why a patch does not make an object of its kind: 422, and in other words than a whole object gets.

The patched object of a JSON or merge patch is decoded as JSON; that of a strategic merge patch is restored from its
fields, whose errors name Go's kinds instead of fields. Sources: apiserver pkg/endpoints/handlers/patch.go
(jsonPatcher, applyPatchToObject), apimachinery pkg/runtime/converter.go (fromUnstructured).
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from engine.api.apply import named
from engine.api.decoders import Mismatch, json_type
from engine.api.errors import ApiError, KindMissing, OtherVersion, field_invalid, invalid
from engine.api.golang.fields import named_strings
from engine.api.golang.json import escaped
from engine.api.patch.merge_patch import json_kind
from engine.api.patch.strategic_common import go_text
from engine.api.types import GVK, Object

_NOBODY = GVK("", "", "")
_MISMATCH = re.compile(r"json: cannot unmarshal (\w+)(?: (\S+))? into Go (?:value|struct field \S+) of type (\S+)")
_KINDS = {"object": "map", "array": "slice", "number": "int64"}
_PLAIN = ("int32", "int64", "float64", "bool", "string")


def refused_patch(error: ApiError, gvk: GVK, shown: Any, *, restored: bool) -> ApiError:
    """The answer to a patch whose result could not be decoded. `restored`: by a strategic merge patch.

    `shown` is the part that the answer repeats: of a strategic patch the patch, else what it made of the object.
    """
    if isinstance(error, OtherVersion):
        name = (shown.get("metadata") or {}).get("name", "")
        return invalid(gvk, name, [field_invalid("apiVersion", error.found, f"must be {gvk.api_version}")])
    reason = _reason(error, gvk)
    if reason is None:
        return error
    text = go_text(shown) if restored else escaped(orjson.dumps(shown)).decode()
    return _refused(text, _restoring(error, reason) if restored else reason)


def refused_value(patched: Any) -> ApiError:
    """The answer to a patch that leaves no object at all."""
    return _refused(
        escaped(orjson.dumps(patched)).decode(),
        f"couldn't get version/kind; json parse error: json: cannot unmarshal {json_kind(patched)} into Go value of "
        r"""type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }""",
    )


def _refused(shown: str, reason: str) -> ApiError:
    cause = field_invalid("patch", shown, reason)
    answer = invalid(_NOBODY, "", [cause])
    return ApiError(answer.code, answer.reason, answer.message, details={"causes": [cause._asdict()]})


def refused_apply(error: ApiError, gvk: GVK, applied: Object) -> ApiError:
    """The answer to a configuration that fits its schema, but makes no object of the Go type (structuredmerge.go)."""
    reason = _reason(error, gvk)
    if reason is None:
        return error
    return ApiError(
        500,
        "",
        f"failed to convert new object ({named(applied)}) to proper version: unable to convert unstructured object to "
        f"{gvk.group}/{gvk.version}, Kind={gvk.kind}: {_restoring(error, reason)}",
    )


def _reason(error: ApiError, gvk: GVK) -> str | None:
    if isinstance(error, KindMissing):
        return error.why
    _, found, reason = error.message.partition(f" cannot be handled as a {gvk.kind}: ")
    return reason if found else None


def _restoring(error: ApiError, reason: str) -> str:
    """The words of the converter for what the JSON decoder says of a value."""
    cause = error.__cause__
    if isinstance(cause, Mismatch) and cause.by_type:  # the type is asked itself, and does not know of any field
        value = json_type(cause.value, cause.type_name)
        return f"json: cannot unmarshal {value} into Go value of type {cause.type_name}"
    mismatch = _MISMATCH.fullmatch(reason)
    if mismatch is None:
        return f"error decoding from json: {reason}" if reason.startswith("illegal base64") else reason
    source, number, target = mismatch.groups()
    is_float = isinstance(cause, Mismatch) and isinstance(cause.value, float)
    kind = "float64" if is_float or (number and not number.lstrip("-").isdecimal()) else _KINDS.get(source, source)
    if target.startswith("[]"):
        return f"cannot restore slice from {kind}"
    if target.startswith("map["):
        return f"cannot restore map from {kind}"
    plain = "string" if target in named_strings() else target
    if plain not in _PLAIN:
        return f"cannot restore struct from: {kind}"
    # Go turns an integer into a text, though not here, but a float never.
    if (kind == "int64" and plain != "bool") or (kind == "float64" and plain not in ("bool", "string")):
        return f"cannot convert {kind} to {target}"
    return f"unrecognized type: {plain}"
