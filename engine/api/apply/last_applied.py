"""The annotation of kubectl's client-side apply, and how an object moves from it to server-side apply.

Source of the behaviour: apimachinery pkg/util/managedfields/internal (lastappliedmanager.go, lastappliedupdater.go).
"""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.apply.checking import misfits
from engine.api.apply.field_sets import FieldSet, difference
from engine.api.apply.field_types import FieldType
from engine.api.types import Object

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Only kubectl's own manager takes over from the annotation and keeps it up to date.
KUBECTL = "kubectl"
_ANNOTATIONS_LIMIT = 256 * 1024


def agreed_fields(kind: FieldType, live: Object) -> FieldSet:
    """What client-side apply set last and the live object still has: kubectl may take these over without conflict."""
    text = _annotations(live).get(LAST_APPLIED)
    if not text:
        return {}
    try:
        applied = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(applied, dict) or applied.get("apiVersion") != live.get("apiVersion"):
        return {}
    if not applied.get("kind") or misfits(kind, applied):
        return {}
    changed, removed = kind.changes(applied, live)
    return difference(difference(kind.applied(applied), changed), removed)


def _annotations(obj: Object) -> dict[str, Any]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def synced(result: Object, applied: Object) -> Object:
    """The object with the annotation saying what was applied now, if it has one and there is room for it."""
    annotations = _annotations(result)
    if not annotations.get(LAST_APPLIED):
        return result
    text = _without_annotation(applied)
    kept = {**annotations, LAST_APPLIED: text}
    if text == annotations[LAST_APPLIED]:
        return result
    if sum(len(key.encode()) + len(value.encode()) for key, value in kept.items()) > _ANNOTATIONS_LIMIT:
        del kept[LAST_APPLIED]
    return {**result, "metadata": {**result["metadata"], "annotations": kept}}


def _without_annotation(applied: Object) -> str:
    """The configuration as Go's encoder writes it, without the annotation in itself."""
    metadata = applied.get("metadata") or {}
    if "annotations" in metadata:
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
        if (said := applied["metadata"]["annotations"]) is not None:
            metadata["annotations"] = {key: value for key, value in said.items() if key != LAST_APPLIED}
        applied = {**applied, "metadata": metadata}
    text = orjson.dumps(applied, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode()
    for character in "&<>\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
