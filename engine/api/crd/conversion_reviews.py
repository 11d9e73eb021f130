"""What is sent to a conversion webhook, and whether its answer will do (apiextensions-apiserver
pkg/apiserver/conversion/webhook_converter.go)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from engine.api.crd.values import json_type
from engine.api.patch.merge_patch import not_a_map
from engine.api.types import GVK, Object
from engine.api.validation import labels
from engine.api.validation.problems import Problems

GROUP = "apiextensions.k8s.io"
_GO_TYPES: Final = {
    "null": "<nil>",
    "boolean": "bool",
    "integer": "int64",
    "number": "float64",
    "string": "string",
    "array": "[]interface {}",
    "object": "map[string]interface {}",
}


class ConversionError(Exception):
    """The webhook did not convert; the message says why, beginning with what it did."""


def review(version: str, uid: str, objects: Sequence[Object], target: GVK) -> Object:
    return {
        "kind": "ConversionReview",
        "apiVersion": f"{GROUP}/{version}",
        "request": {"uid": uid, "desiredAPIVersion": target.api_version, "objects": list(objects)},
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }


def answered(answer: Object, version: str, uid: str, wanted: int) -> list[Any]:
    """The objects of an answer, as many as were `wanted`. Of v1beta1 neither the kind nor the uid is looked at.
    Raises ConversionError."""
    if version == "v1":
        _check_kind(answer)
    response = answer.get("response")
    if response is None:
        raise ConversionError("failed: no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise ConversionError(f'failed: expected response.uid="{uid}", got "{response.get("uid", "")}"')
    result = response.get("result") or {}
    if result.get("status") != "Success":
        status = result.get("status", "")
        why = result.get("message") or f"response.result.status was '{status}', not 'Success'"
        raise ConversionError(f"failed: {why}")
    converted = response.get("convertedObjects") or []
    if len(converted) != wanted:
        raise ConversionError(f"returned {len(converted)} objects, expected {wanted}")
    return list(converted)


def _check_kind(answer: Object) -> None:
    api_version, kind = answer.get("apiVersion", ""), answer.get("kind", "")
    if (api_version, kind) != (f"{GROUP}/v1", "ConversionReview"):
        group_version = api_version if "/" in api_version else f"/{api_version}"
        raise ConversionError(
            f"failed: expected webhook response of {GROUP}/v1, Kind=ConversionReview, got {group_version}, Kind={kind}"
        )


def accepted(before: Object, after: Any, target: GVK) -> Object:
    """A converted object with the metadata that it had: of that a webhook changes labels and annotations only.
    Raises ConversionError."""
    if not isinstance(after, dict):
        why = "Object 'Kind' is missing in 'null'" if after is None else not_a_map(after)
        raise ConversionError(f"failed: {why}")
    if after.get("apiVersion", "") != target.api_version:
        received = after.get("apiVersion", "")
        raise ConversionError(
            f"returned invalid object at index 0: invalid groupVersion (expected {target.api_version}, "
            f"received {received})"
        )
    if after.get("kind", "") != before["kind"]:
        raise ConversionError(
            f"returned invalid object at index 0: invalid kind (expected {before['kind']}, "
            f"received {after.get('kind', '')})"
        )
    found = after.get("metadata")
    old, new = before["metadata"], found if isinstance(found, dict) else {}
    for field, shown in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if new.get(field, "") != old.get(field, ""):
            raise ConversionError(
                f"returned invalid object: must have the same {shown}: {old.get(field, '')} != {new.get(field, '')}"
            )
    return {**after, "metadata": _metadata(old, new)}


def _metadata(old: Object, new: Object) -> Object:
    metadata = {key: value for key, value in old.items() if key not in ("labels", "annotations")}
    for field in ("labels", "annotations"):
        given = new.get(field)
        if given is None:
            continue
        _check_texts(field, given)
        if given != old.get(field):
            _check_map(field, given)
        metadata[field] = given
    return metadata


def _check_texts(field: str, given: Any) -> None:
    if not isinstance(given, dict):
        raise ConversionError(
            f"returned invalid metadata: invalid metadata.{field} of type {_go_type(given)} in converted object"
        )
    for key, value in given.items():
        if not isinstance(value, str):
            raise ConversionError(
                f"returned invalid metadata: metadata.{field}[{key}] must be a string, but is {_go_type(value)} in "
                "converted object"
            )


def _check_map(field: str, given: Object) -> None:
    problems = Problems()
    if field == "labels":
        labels.label_map(given, "metadata.labels", problems)
    else:
        labels.annotation_map(given, "metadata.annotation", problems)
    if problems:
        told = ", ".join(dict.fromkeys(map(str, problems)))
        raise ConversionError(f"returned invalid metadata: {told if len(problems) == 1 else f'[{told}]'}")


def _go_type(value: Any) -> str:
    return _GO_TYPES[json_type(value)]
