"""`--overrides` of `run` and `expose`: a patch over the object that the flags make, read back into Go's struct.

Source of the behaviour: kubectl pkg/cmd/util/override_options.go and helpers.go (Merge, JSONPatch, StrategicMerge).
"""

from __future__ import annotations

import json
from typing import Any

from engine.api.decoding import decode_as
from engine.api.errors import ApiError
from engine.api.golang.json import syntax_error
from engine.api.patch import json_patch, merge_patch, strategic_merge_patch
from engine.api.patch.merge_patch import json_kind
from engine.api.schema import load_definitions
from engine.api.types import GVK, Object
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag
from engine.kubectl.printers.zeros import with_zeros
from engine.kubectl.scheme import SCHEME, UnregisteredError
from engine.kubectl.session import Session

TYPES = ("json", "merge", "strategic")
FLAGS = (
    Flag("override-type", default="merge", help="How overrides are applied: json, merge or strategic."),
    Flag("overrides", help="JSON that is put over the object."),
)


def overridden(session: Session, obj: Object) -> Object:
    """The object with what `--overrides` says; itself where that says nothing. Raises CommandError."""
    text, kind = session.flags.text("overrides"), session.flags.text("override-type")
    if not text:
        return obj
    if kind not in TYPES:
        raise CommandError(f"invalid override type: {kind}")
    try:
        return _decoded(_patched(kind, obj, text))
    except ApiError as error:
        raise CommandError(str(error.__cause__ or error.message)) from error


def _patched(kind: str, obj: Object, text: str) -> Any:
    problem = syntax_error(text)
    if kind == "json":
        if problem:
            raise CommandError(problem)
        return json_patch(obj, json.loads(text))
    if problem:
        raise CommandError("Invalid JSON Patch" if kind == "merge" else "invalid JSON document")
    patch = json.loads(text)
    if kind == "merge":
        if not isinstance(patch, dict | list):
            raise CommandError("Invalid JSON Patch")
        return merge_patch(obj, patch) if isinstance(patch, dict) else patch
    if patch is None:
        return obj
    if not isinstance(patch, dict):
        raise CommandError("invalid JSON document")
    return strategic_merge_patch(obj, patch, load_definitions().kind(_gvk(obj)))


def _decoded(value: Any) -> Object:
    if not isinstance(value, dict):
        raise CommandError(
            f"couldn't get version/kind; json parse error: json: cannot unmarshal {json_kind(value)} into Go value of "
            'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
            '"json:\\"kind,omitempty\\"" }'
        )
    gvk, definitions = _gvk(value), load_definitions()
    schema = definitions.kind(gvk)
    if schema is None:
        raise UnregisteredError(gvk, scheme=SCHEME, of_list=False)
    try:
        return with_zeros(decode_as(definitions, schema, value, gvk=gvk).object)
    except ApiError as error:
        raise CommandError(error.message.partition(": ")[2]) from error


def _gvk(obj: Object) -> GVK:
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    return GVK(group, version, str(obj.get("kind")))
